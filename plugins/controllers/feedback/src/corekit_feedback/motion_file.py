"""A motion with its differences and balances, as a plan's folder holds it, read and checked.

`corekit_study.step_differences` and `corekit_study.motion_balance` say what the arrays are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import final

import numpy as np

from corekit.data.array_file import read_arrays
from corekit.data.arrays import Array
from corekit.errors import ConfigError, ControlError, Mistake
from corekit.roles.controller import ControlledWorld

__all__ = ["BALANCE", "DIFFERENCES", "MotionFile"]

DIFFERENCES = {
    "time": "n", "q": "nq", "v": "nv", "inputs": "km", "chart": "nvq", "a": "kxx", "b": "kxm", "c": "kx",
    "bodies": "*", "velocities": "*", "channels": "*", "channel_sizes": "*",
}  # fmt: skip
"""Arrays by name, with a letter for each dimension: k intervals, n instants, x = 2·nv, others as below."""
BALANCE = {
    "mass": "kvv", "force": "kv", "stiffness": "kvv", "damping": "kvv", "drive": "kvm", "terms": "ktv",
    "term_slopes": "ktvv", "term_names": "*", "unknown": "kwv", "normals": "krv", "pressing": "krw", "driven": "v",
    "object": "*", "place": "3", "carried": "nv3",
    "carried_load": "kv3",
}  # fmt: skip
_TEXTS = ("bodies", "channels", "term_names", "object")


@final
class MotionFile:
    """The arrays of a motion by name, and where it is.

    Args:
        file: of arrays. path: of the controller in its scenario. wanted: `DIFFERENCES`, and what else is needed.
    Raises:
        ConfigError: the file holds no such motion.
    """

    def __init__(self, file: Path, path: str, wanted: Mapping[str, str] = DIFFERENCES) -> None:
        self._file, self.path = file, path
        try:
            self.arrays: dict[str, Array] = read_arrays(file)
        except (OSError, ValueError) as error:
            raise ConfigError(
                [Mistake(f"{path}.file", str(file), f"cannot be read: {error}")], path
            ) from error
        self._check(wanted)
        self.bodies = [str(name) for name in self.arrays["bodies"]]
        self.velocities = [int(size) for size in self.arrays["velocities"]]
        self._channels = [str(name).partition(".")[::2] for name in self.arrays["channels"]]
        self._sizes = [int(size) for size in self.arrays["channel_sizes"]]

    def _check(self, wanted: Mapping[str, str]) -> None:
        arrays = self.arrays
        for name, letters in wanted.items():
            kept = arrays.get(name)
            dimensions = 1 if letters == "*" else len(letters)
            if kept is None or kept.ndim != dimensions:
                found = "nothing" if kept is None else f"shape {kept.shape}"
                raise self._mistake(found, f"must hold {name!r} of a motion")
            if name not in _TEXTS and not np.isfinite(kept).all():
                raise self._mistake(name, "must be finite")
        size = {"k": len(arrays["inputs"]), "v": arrays["v"].shape[1], "q": arrays["q"].shape[1], "3": 3}
        size |= {"n": size["k"] + 1, "x": 2 * size["v"], "m": arrays["inputs"].shape[1]}
        if "terms" in wanted:
            size |= {
                "t": arrays["terms"].shape[1],
                "r": arrays["normals"].shape[1],
                "w": arrays["unknown"].shape[1],
            }
        for name, letters in wanted.items():
            shape = tuple(size[each] for each in letters) if letters != "*" else arrays[name].shape
            if arrays[name].shape != shape:
                raise self._mistake(f"shape {arrays[name].shape}", f"{name!r} must have shape {shape}")

    def _mistake(self, found: str, said: str) -> ConfigError:
        return ConfigError([Mistake(f"{self.path}.file", found, said)], str(self._file))

    def weights(self, coordinates: Mapping[str, float], rates: Mapping[str, float]) -> Array:
        """Weights by body as those of x = (ξ, v), shape (2·nv,).

        Raises:
            ConfigError: they name no body of the motion.
        """
        unknown = sorted({*coordinates, *rates} - set(self.bodies))
        if unknown:
            said = f"bodies of the motion: {', '.join(self.bodies)}"
            raise ConfigError([Mistake(f"{self.path}.coordinates", unknown[0], said)], str(self._file))
        spread = [
            np.repeat([by_body.get(name, 0.0) for name in self.bodies], self.velocities)
            for by_body in (coordinates, rates)
        ]
        return np.concatenate(spread)

    def interval(self, world: ControlledWorld) -> int:
        """The interval in which a world is now; beyond the end, the last one.

        Raises:
            ControlError: it is another world.
        """
        names, q, v = [body.name for body in world.bodies], world.state.q, world.state.v
        if names != self.bodies or q.size != self.arrays["q"].shape[1] or v.size != self.arrays["v"].shape[1]:
            raise ControlError(
                f"{self.path}: the motion is of a world of {', '.join(self.bodies)} with "
                f"{self.arrays['q'].shape[1]} coordinates; this one has {', '.join(names)} with {q.size}"
            )
        k = int(np.searchsorted(self.arrays["time"], world.time + 0.5 * world.step_length)) - 1
        return min(max(k, 0), len(self.arrays["inputs"]) - 1)

    def displacement(self, world: ControlledWorld, k: int) -> Array:
        """Displacement ξ of a world from instant k of the motion."""
        found: Array = self.arrays["chart"][k] @ (world.state.q - self.arrays["q"][k])
        return found

    def by_channel(self, u: Array) -> dict[str, dict[str, Array]]:
        """Inputs by body and channel."""
        inputs: dict[str, dict[str, Array]] = {}
        first = 0
        for (body, channel), size in zip(self._channels, self._sizes, strict=True):
            inputs.setdefault(body, {})[channel] = u[first : first + size]
            first += size
        return inputs

    def index(self, names: Iterable[str], among: str, option: str) -> list[int]:
        """Places of names in one of its lists of names.

        Raises:
            ConfigError: it does not hold one of them.
        """
        known = [str(each) for each in self.arrays[among]]
        for name in names:
            if name not in known:
                said = f"must be one of {', '.join(known) or 'none'}"
                raise ConfigError([Mistake(f"{self.path}.{option}", name, said)], str(self._file))
        return [known.index(name) for name in names]
