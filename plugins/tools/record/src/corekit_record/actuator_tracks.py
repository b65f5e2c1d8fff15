"""Actuators shown: bodies as thin lines without their surfaces, and every cable and chamber as a line of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from corekit.errors import ResultsError
from corekit.roles.viewer import BodyTrack, Replay

if TYPE_CHECKING:
    from corekit_record.results import Results

__all__ = ["with_actuators"]

_BODY, _LINE = 0.15, 0.1
"""Radii of what is drawn of bodies with actuators, and of the actuators, relative to that of the body."""


def with_actuators(replay: Replay, results: Results) -> Replay:
    """Return a replay with the actuators that were recorded; bodies without any stay as they are.

    Raises:
        ResultsError: there are none, or outlines were left out.
    """
    names = results.labels("actuator")
    if not names:
        raise ResultsError(
            f"{results.path} has no actuators to show: `gvs` has cables and chambers that are drawn, `pcc` as well"
        )
    lines = results["actuator_line"].astype(float)
    bounds = [*results["actuator_first_point"].tolist(), lines.shape[1]]
    bodies: list[BodyTrack] = []
    for body in replay.bodies:
        own = [i for i, name in enumerate(names) if name.partition(".")[0] == body.name]
        if not own:
            bodies.append(body)
            continue
        nothing = body.shape_position[:, :0], body.shape_rotation[:, :0]
        bodies.append(
            attrs.evolve(
                body,
                radius=_BODY * body.radius,
                shapes=(),
                shape_position=nothing[0],
                shape_rotation=nothing[1],
            )
        )
        radius = _LINE * float(body.radius.max())
        for name in dict.fromkeys(names[i] for i in own):
            parts = [lines[:, bounds[i] : bounds[i + 1]] for i in own if names[i] == name]
            counts = [part.shape[1] for part in parts]
            bodies.append(
                BodyTrack(
                    name=name,
                    outline=np.concatenate(parts, axis=1),
                    radius=np.full(sum(counts), radius),
                    starts=np.cumsum([0, *counts[:-1]], dtype=np.int64),
                    shapes=(), shape_position=nothing[0], shape_rotation=nothing[1],
                )
            )  # fmt: skip
    return attrs.evolve(replay, bodies=tuple(bodies))
