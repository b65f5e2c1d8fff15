"""The vine paper's fits with a stiffness and a damping of every pin, which its equation (7) allows.

The paper fits one K and one C, "the same at each joint", and says that its procedure takes more general ones. Here
every pin has its own, first of a robot that swings freely from a bend with all its modes, and is known because it was
made; then of the robot at the wall. A pin's torque is what the bodies beyond it need: near the tip there are few, and
what the markers see of K and C is little. Where forces of contact are unknown, a free scale of all torques is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.estimator import FittedParameter
from corekit_study.case_run import Row
from corekit_study.fit import FitResult
from corekit_study.reference import OWN, Reference

__all__ = ["identified", "in_deviations", "pin_overrides", "pin_rows", "pins_sought"]

STIFFNESS = (0.22, 0.12, 0.1, 0.13, 0.09)
DAMPING = (3e-3, 1.5e-3, 2e-3, 1e-3, 1.2e-3)
"""K [N·m/rad] and C [N·m·s/rad] of the pins that made the markers, from the base."""
_STARTS = {"joint_stiffness": (0.05, 1e-3, 10.0), "joint_damping": (1e-4, 1e-7, 1.0)}
"""Where the search begins, the same at every pin, and its bounds."""
_BEND = (0.15, -0.1, 0.12, -0.15, 0.15)
"""Angles from which it swings [rad], which stir all five modes."""
_FARTHEST = 3.0
"""Deviations that the farthest of ten independent values exceeds in 3 of 100 fits."""


def pin_overrides(stiffness: Sequence[float], damping: Sequence[float]) -> list[str]:
    """Overrides of `vine/oscillation` with values of pins in place of those of a tube, and another bend."""
    options = (
        'bodies=10, length=0.6, diameter=0.024, collision="none", form="telescope", '
        f"joint_stiffness={list(stiffness)}, joint_damping={list(damping)}"
    )
    return [f"bodies[0].options={{{options}}}", f"bodies[0].initial.bend={list(_BEND)}", "time.duration=0.78"]


def pins_sought(sought: Callable[[str, float, float, float], str], pins: int) -> str:
    """The parameters of a fit of every pin's K and C."""
    return "".join(sought(f"{name}[{j}]", *bounds) for name, bounds in _STARTS.items() for j in range(pins))


def in_deviations(fitted: Sequence[FittedParameter], truth: Sequence[float]) -> Array:
    """How far values are from the true ones, in standard deviations of their logarithms; nan without an interval."""
    return np.array(
        [
            math.log(each.value / true) / (math.log(each.high / each.low) / (2.0 * 1.96))
            if each.low > 0.0 and math.isfinite(each.high)
            else math.nan
            for each, true in zip(fitted, truth, strict=True)
        ]
    )


def identified(fitted: Sequence[FittedParameter]) -> str:
    """Which parameters have which verdict, in words."""
    verdicts: dict[str, list[str]] = {}
    for each in fitted:
        verdicts.setdefault(each.verdict, []).append(
            each.name.replace("joint_stiffness", "K").replace("joint_damping", "C")
        )
    return "; ".join(f"{verdict}: {', '.join(names)}" for verdict, names in verdicts.items())


def pin_rows(made: FitResult, truth: Reference) -> list[Row]:
    """What a fit of every pin's values finds of the known ones."""
    fitted = made.estimate.fitted
    off = in_deviations(fitted, (*STIFFNESS, *DAMPING)) if fitted else np.full(1, math.nan)
    values = ", ".join(f"{each.name} {each.value:.3g} ({each.low:.3g} to {each.high:.3g})" for each in fitted)
    farthest = float(np.abs(off).max())
    return [
        Row(
            quantity="K and C of every pin: farthest from the true one, in its own standard deviations", against=truth,
            expected=0.0, ours=farthest, tolerance=f"≤ {_FARTHEST:g}, and all solved",
            passed=made.info.status.solved and farthest <= _FARTHEST, note=values,
        ),
        Row(quantity="K and C of every pin: what the markers say", against=OWN, ours=identified(fitted) or "none"),
    ]  # fmt: skip


def wall_pin_row(made: FitResult, what: str) -> Row:
    """What markers at the wall say of every pin."""
    return Row(
        quantity=f"{what}, K and C of every pin: what the markers say", against=OWN,
        ours=identified(made.estimate.fitted) or "none",
        note=f"{made.info.status.value.rstrip('.')}; unknown forces of contact leave the scale of all torques free",
    )  # fmt: skip
