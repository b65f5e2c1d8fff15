"""What a plan is worth: every equation and pair measured anew, in physical units, from the bodies' own states.

The contacts' states that the search kept as variables are not looked at: gaps, slip and contact forces follow from
coordinates and velocities of bodies and object, through the models' own expressions. Per family of pairs, the natural
residual max |min(G, H)|; per group of rows, the largest violation; see `complementarity.certificate`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit_mpcc.complementarity.certifier import Certifier
from corekit_mpcc.complementarity.given import Given
from corekit_mpcc.cost import AS_PRINTED
from corekit_mpcc.motion import Motion
from corekit_mpcc.situation import Situation
from corekit_mpcc.transcription.parameters import shared_parameters
from corekit_mpcc.transcription.stage import Stage

__all__ = ["certify"]


def certify(situation: Situation, motion: Motion, q: Array) -> dict[str, Any]:
    """The certificate of a motion as plain data; `certified` says whether everything is within its tolerance."""
    dynamic = "tau" in motion.variables
    stage = Stage(situation, dynamic=dynamic, lifted=False)
    start = np.zeros(stage.variables.size)
    x = np.zeros((len(motion.x), stage.variables.size))
    for block in stage.variables:
        start[stage.variables[block.name]] = motion.start[motion.variables[block.name]]
        x[:, stage.variables[block.name]] = motion[block.name]
    program, certifier = stage.program, Certifier(stage.program)

    def at(shared: Array) -> Given:
        return Given(program, x, shared, stage.own(), start, None, None)

    point = at(shared_parameters(stage, situation, q))
    told = certifier(point, without=stage.rolling_rows)
    printed = certifier.verdict(at(shared_parameters(stage, situation, q, AS_PRINTED)), stage.rolling_rows)
    units = {row.name: row.unit for row in stage.rows}
    certificate: dict[str, Any] = {
        "certified": told.certified,
        "worst": {"share_of_tolerance": told.worst, "where": told.culprit},
        "stage": "dynamic" if dynamic else "kinematic",
        "equations": {
            name: {"residual": value, "tolerance": tolerance, "unit": units[name]}
            for name, (value, tolerance) in told.rows.items()
        },
        "complementarity": {
            family.name: {
                "residual": told.families[family.name].natural,
                "product": told.families[family.name].product,
                "first_negative": told.families[family.name].first_negative,
                "second_negative": told.families[family.name].second_negative,
                "tolerance": told.families[family.name].tolerance,
                "units": list(family.units),
            }
            for family in stage.families
        },
        "bounds": {"residual": told.bounds},
        "cost": told.cost,
        "cost_as_printed_in_cusp": printed.cost if dynamic else None,
    }
    if situation.ball.turns:
        certificate["orientation_error"] = orientation_error(motion["quat"][-1], situation.target_quat_wxyz)
    if situation.ball.translates:
        missing = motion["centre"][-1] - situation.target_position
        certificate["distance_from_target"] = float(np.linalg.norm(missing))
    return certificate


def orientation_error(a: Array, b: Array) -> float:
    """1 − (aᵀb)² of unit quaternions, as sin² of half the angle between them: exact near zero.

    sin² = |vector part of a ⊗ b*|²                                                      (1)
    """
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    vector = b[0] * a[1:] - a[0] * b[1:] - np.cross(a[1:], b[1:])
    return float(vector @ vector)
