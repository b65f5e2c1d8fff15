"""What authors get wrong, role by role: a sound component with one small mistake, and the check that is to refuse it.

They are written as such mistakes happen: a sign, a factor, a buffer kept, an index, a unit, a state that is not saved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from attrs import evolve

from corekit_testing.conformance import Subject

from .defects import answering, pendulum
from .mistakes_of_detectors import DETECTORS
from .mistakes_of_lcp_solvers import LCP_SOLVERS
from .mistakes_of_models import MODELS
from .mistakes_of_motion import CONTROLLERS, INTEGRATORS, gives, torque
from .mistakes_of_qp_solvers import QP_SOLVERS
from .mistakes_of_solvers import IMPULSES, POTENTIALS
from .mistakes_of_tasks import ESTIMATORS, PLANNERS, VIEWERS
from .test_wrong_detectors import detector
from .test_wrong_lcp_solvers import lemke
from .test_wrong_potentials import potential
from .test_wrong_qp_solvers import banded
from .test_wrong_solvers import impulses

__all__ = ["MISTAKES", "SURVIVORS", "Mistake"]


class Mistake(NamedTuple):
    """A wrong component, the check that is to refuse it, and what that says."""

    make: Callable[[], Subject]
    check: str
    said: str = ""


def of(make: Callable[..., Subject], table: dict[str, Any]) -> dict[str, Mistake]:
    return {
        name: Mistake(lambda methods=methods: make(**methods), *told)
        for name, (methods, *told) in table.items()
    }


def made(table: dict[str, Any]) -> dict[str, Mistake]:
    return {name: Mistake(make, check) for name, (make, check) in table.items()}


MISTAKES: dict[str, dict[str, Mistake]] = {
    "models": of(pendulum, MODELS),
    "impulse solvers": of(impulses, IMPULSES),
    "potentials": of(potential, POTENTIALS),
    "detectors": of(detector, DETECTORS),
    "integrators": made(INTEGRATORS),
    "controllers": made(CONTROLLERS),
    "viewers": made(VIEWERS),
    "planners": made(PLANNERS),
    "estimators": made(ESTIMATORS),
    "LCP solvers": of(lemke, LCP_SOLVERS),
    "QP solvers": of(banded, QP_SOLVERS),
}


def twice_the_masses(right, self, config, context=None):
    right(self, evolve(config, masses=tuple(2.0 * mass for mass in config.masses)), context)


def twice_the_stiffness(right, self, config=None, context=None):
    right(self, config, context)
    self._config = evolve(self._config, stiffness=2.0 * self._config.stiffness)


SURVIVORS: dict[str, tuple[Callable[[], Subject], str]] = {
    "all masses are twice what the options say": (
        lambda: pendulum(__init__=twice_the_masses),
        "it agrees with itself in every respect: a closed form of its author's knows the number",
    ),
    "a contact twice as stiff as its option says": (
        lambda: potential(__init__=twice_the_stiffness),
        "so is another potential; a ball at rest at a depth on paper tells",
    ),
    "a controller that drives where it should damp": (
        gives(lambda self, world, inputs: torque(inputs, lambda u: -u)),
        "what a controller is to achieve is in no contract",
    ),
    "velocities weighed five times too much": (
        lambda: pendulum(
            description=answering(lambda found: evolve(found, velocity_scale=5.0 * np.array([1.1, 0.8])))
        ),
        "weights are a matter of taste within thirty times: steps iterate once more",
    ),
    "a summary of something else": (
        lambda: pendulum(spec={"summary": "A rod."}),
        "texts are read by people",
    ),
}
"""Mistakes that no kit can know: name → a wrong component, and why."""
