"""Tracking of a motion by a linear-quadratic regulator that varies with time.

    u = u*_k − s_k − K_k·e_k,    e = (C_k·(q − q*_k), v − v*_k)                                (1)

at the instants t_k of the motion, held until the next. K_k and s_k are the least of `riccati` (2) for
e_{k+1} = A_k·e_k + B_k·δu_k + c_k. The file of the motion holds A, B, c and the charts C beside it: differences of the
simulator's own steps, contacts among them, of the world that it was planned for. Nothing is added to the body: unlike a
stiff joint control that a model takes over, the law leaves its stiffness and damping alone.

A contact that is closed along the motion is closed in its differences, so that the law knows no way back to it: where
an error of the model opens it, the law is not valid any more.

Weights are per body: `coordinates` on ξ², `rates` on v², `final` times both at the end; `effort` is that of the inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import final

import numpy as np

from corekit.data.array_file import read_arrays
from corekit.data.arrays import Array
from corekit.errors import ConfigError, ControlError, Mistake
from corekit.roles.component import BuildContext
from corekit.roles.controller import ControlledWorld, Controller, Inputs
from corekit_feedback.config import TrackingLqrConfig
from corekit_feedback.riccati import TrackingGains, solve_tracking

__all__ = ["TrackingLqr"]

_DIMENSIONS = {
    "time": 1, "q": 2, "v": 2, "inputs": 2, "chart": 3, "a": 3, "b": 3, "c": 2,
    "bodies": 1, "velocities": 1, "channels": 1, "channel_sizes": 1,
}  # fmt: skip
_TEXTS = ("bodies", "channels")


@final
class TrackingLqr(Controller):
    """Implements (1).

    Raises:
        ConfigError: the file holds no motion with its differences, or the weights name none of its bodies.
    """

    def __init__(self, config: TrackingLqrConfig, context: BuildContext | None = None) -> None:
        self._path = (context or BuildContext()).path or "tracking-lqr"
        self._motion = motion = _read(config.file, self._path)
        self._bodies = [str(name) for name in motion["bodies"]]
        self._channels = [str(name).partition(".")[::2] for name in motion["channels"]]
        self._sizes = [int(size) for size in motion["channel_sizes"]]
        unknown = sorted({*config.coordinates, *config.rates} - set(self._bodies))
        if unknown:
            said = f"bodies of the motion: {', '.join(self._bodies)}"
            raise ConfigError([Mistake(f"{self._path}.coordinates", unknown[0], said)], str(config.file))
        weights = np.concatenate([self._spread(config.coordinates), self._spread(config.rates)])
        q, r = np.diag(weights), config.effort * np.eye(motion["inputs"].shape[1])
        self.gains: TrackingGains = solve_tracking(
            motion["a"], motion["b"], motion["c"], q, r, config.final * q
        )

    def _spread(self, by_body: Mapping[str, float]) -> Array:
        sizes = self._motion["velocities"].astype(int)
        return np.repeat([by_body.get(name, 0.0) for name in self._bodies], sizes)

    def compute_inputs(self, world: ControlledWorld) -> Inputs:
        motion, q, v = self._motion, world.state.q, world.state.v
        names = [body.name for body in world.bodies]
        if names != self._bodies or q.size != motion["q"].shape[1] or v.size != motion["v"].shape[1]:
            raise ControlError(
                f"{self._path}: the motion is of a world of {', '.join(self._bodies)} with {motion['q'].shape[1]} "
                f"coordinates; this one has {', '.join(names)} with {q.size}"
            )
        k = int(np.searchsorted(motion["time"], world.time + 0.5 * world.step_length)) - 1
        k = min(max(k, 0), len(motion["inputs"]) - 1)
        error = np.concatenate([motion["chart"][k] @ (q - motion["q"][k]), v - motion["v"][k]])
        u = motion["inputs"][k] - self.gains.offset[k] - self.gains.feedback[k] @ error
        inputs: dict[str, dict[str, Array]] = {}
        first = 0
        for (body, channel), size in zip(self._channels, self._sizes, strict=True):
            inputs.setdefault(body, {})[channel] = u[first : first + size]
            first += size
        return inputs


def _read(file: Path, path: str) -> dict[str, Array]:
    try:
        arrays = read_arrays(file)
    except (OSError, ValueError) as error:
        raise ConfigError([Mistake(f"{path}.file", str(file), f"cannot be read: {error}")], path) from error
    for name, dimensions in _DIMENSIONS.items():
        kept = arrays.get(name)
        if kept is None or kept.ndim != dimensions:
            found = "nothing" if kept is None else f"shape {kept.shape}"
            raise ConfigError([Mistake(f"{path}.file", found, f"must hold {name!r} of a motion")], str(file))
        if name not in _TEXTS and not np.isfinite(kept).all():
            raise ConfigError([Mistake(f"{path}.file", name, "must be finite")], str(file))
    n, count = 2 * arrays["v"].shape[1], len(arrays["inputs"])
    wanted = {
        "a": (count, n, n), "b": (count, n, arrays["inputs"].shape[1]), "c": (count, n), "time": (count + 1,),
        "chart": (count + 1, arrays["v"].shape[1], arrays["q"].shape[1]),
    }  # fmt: skip
    for name, shape in wanted.items():
        if arrays[name].shape != shape:
            said = f"{name!r} must have shape {shape}"
            raise ConfigError([Mistake(f"{path}.file", f"shape {arrays[name].shape}", said)], str(file))
    return arrays
