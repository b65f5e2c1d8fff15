"""Certificate of a plan: residuals of every equation and pair, in physical units, from the states of the bodies.

The search has the states of contacts as variables; the certificate ignores them. Gaps, slip and contact forces follow
from coordinates and velocities of bodies and object, through the expressions of the models. A family of pairs has the
natural residual max |min(G, H)|, a group of rows the largest violation; see `complementarity.certificate`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit_mpcc.complementarity.certifier import Certifier
from corekit_mpcc.complementarity.search_input import SearchInput
from corekit_mpcc.cost import AS_PRINTED
from corekit_mpcc.motion import Motion
from corekit_mpcc.resolved_task import ResolvedTask
from corekit_mpcc.transcription.parameters import shared_parameters
from corekit_mpcc.transcription.stage import Stage

__all__ = ["certify_plan"]


def certify_plan(resolved_task: ResolvedTask, motion: Motion, q: Array) -> dict[str, Any]:
    """Return the certificate of a motion as plain data; `certified` means: all residuals within tolerance."""
    dynamic = "tau" in motion.variables
    stage = Stage(resolved_task, dynamic=dynamic, lifted=False)
    start = np.zeros(stage.variables.size)
    x = np.zeros((len(motion.x), stage.variables.size))
    for block in stage.variables:
        start[stage.variables[block.name]] = motion.start[motion.variables[block.name]]
        x[:, stage.variables[block.name]] = motion[block.name]
    program, certifier = stage.program, Certifier(stage.program)

    def input_for(shared: Array) -> SearchInput:
        return SearchInput(program, x, shared, stage.own(), start, None, None)

    point = input_for(shared_parameters(stage, resolved_task, q))
    measured = certifier(point, excluded=stage.rolling_rows)
    as_printed = certifier.summarise(
        input_for(shared_parameters(stage, resolved_task, q, AS_PRINTED)), stage.rolling_rows
    )
    units = {row.name: row.unit for row in stage.rows}
    certificate: dict[str, Any] = {
        "certified": measured.certified,
        "worst": {"share_of_tolerance": measured.worst, "where": measured.culprit},
        "stage": "dynamic" if dynamic else "kinematic",
        "equations": {
            name: {"residual": value, "tolerance": tolerance, "unit": units[name]}
            for name, (value, tolerance) in measured.rows.items()
        },
        "complementarity": {
            family.name: {
                "residual": measured.families[family.name].natural,
                "product": measured.families[family.name].product,
                "first_negative": measured.families[family.name].first_negative,
                "second_negative": measured.families[family.name].second_negative,
                "tolerance": measured.families[family.name].tolerance,
                "units": list(family.units),
            }
            for family in stage.families
        },
        "bounds": {"residual": measured.bounds},
        "cost": measured.cost,
        "cost_as_printed_in_cusp": as_printed.cost if dynamic else None,
    }
    if resolved_task.ball.turns:
        certificate["orientation_error"] = orientation_error(
            motion["quat"][-1], resolved_task.target_quat_wxyz
        )
    if resolved_task.ball.translates:
        distance = motion["centre"][-1] - resolved_task.target_position
        certificate["distance_from_target"] = float(np.linalg.norm(distance))
    return certificate


def orientation_error(a: Array, b: Array) -> float:
    """Return 1 − (aᵀb)² of unit quaternions as sin² of half the angle between them: exact near zero.

    sin² = |vector part of a ⊗ b*|²                                                      (1)
    """
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    vector = b[0] * a[1:] - a[0] * b[1:] - np.cross(a[1:], b[1:])
    return float(vector @ vector)
