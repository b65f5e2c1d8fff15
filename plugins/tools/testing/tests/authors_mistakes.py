"""What authors get wrong, role by role: a sound component with one small mistake, and the check that is to refuse it.

They are written as such mistakes happen: a sign, a factor, a buffer kept, an index, a unit, a state that is not saved.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from attrs import evolve

from corekit_testing.conformance import Subject, checks_of
from corekit_testing.conformance.check import Outcome, Verdict
from corekit_testing.conformance.claims import Claims, judged, outcome_of
from corekit_testing.conformance.laws import LAW_CLAIMS
from corekit_testing.conformance.observers import OBSERVER_CLAIMS
from corekit_testing.conformance.runner import outcome
from corekit_testing.conformance.shapes import SHAPE_CLAIMS

from . import tori
from .defects import answering, pendulum
from .mistakes_of_detectors import DETECTORS
from .mistakes_of_laws import LAWS, box
from .mistakes_of_lcp_solvers import LCP_SOLVERS
from .mistakes_of_models import MODELS
from .mistakes_of_motion import CONTROLLERS, INTEGRATORS, gives, torque
from .mistakes_of_observers import OBSERVERS
from .mistakes_of_qp_solvers import QP_SOLVERS
from .mistakes_of_shapes import SHAPES
from .mistakes_of_solvers import IMPULSES, POTENTIALS
from .mistakes_of_tasks import ESTIMATORS, PLANNERS, VIEWERS
from .test_wrong_detectors import detector
from .test_wrong_lcp_solvers import lemke
from .test_wrong_potentials import potential
from .test_wrong_qp_solvers import banded
from .test_wrong_solvers import impulses

__all__ = ["MISTAKES", "STATED_SURVIVORS", "SURVIVORS", "Mistake"]


class Mistake(NamedTuple):
    """What the check says that is to refuse it, given an empty folder, and words that the author needs of that."""

    judge: Callable[[Path], Outcome]
    said: str = ""


def judged_by(make: Callable[[], Subject], check: str) -> Outcome:
    subject = make()
    (found,) = (each for each in checks_of(subject.spec.role) if each.name == check)
    return outcome(found, subject)


def made(table: dict[str, Any]) -> dict[str, Mistake]:
    return {
        name: Mistake(lambda _folder, make=make, check=check: judged_by(make, check), *said)
        for name, (make, check, *said) in table.items()
    }


def of(make: Callable[..., Subject], table: dict[str, Any]) -> dict[str, Mistake]:
    """Of components: name → (methods, check, words)."""
    return made(
        {name: (lambda methods=methods: make(**methods), *told) for name, (methods, *told) in table.items()}
    )


def stated(
    claims: Claims, table: dict[str, Any], *arguments: Callable[[Any, Path], Any]
) -> dict[str, Mistake]:
    """Of what is no component: name → (changes, check, words), and what the checks are called with."""
    return {
        name: Mistake(
            lambda folder, changes=changes, check=check: outcome_of(
                claims, check, *(each(changes, folder) for each in arguments)
            ),
            said,
        )
        for name, (changes, check, said) in table.items()
    }


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
    "friction laws": stated(LAW_CLAIMS, LAWS, lambda changes, _: evolve(box, **changes)),
    "shapes": stated(
        SHAPE_CLAIMS, SHAPES, lambda changes, _: evolve(tori.torus, **changes), lambda _, __: (0.12, 0.08)
    ),
    "observers": stated(
        OBSERVER_CLAIMS, OBSERVERS, lambda cls, _: lambda context: [cls(context)], lambda _, folder: folder
    ),
}


def twice_the_masses(right, self, config, context=None):
    right(self, evolve(config, masses=tuple(2.0 * mass for mass in config.masses)), context)


def twice_the_stiffness(right, self, config=None, context=None):
    right(self, config, context)
    self._config = evolve(self._config, stiffness=2.0 * self._config.stiffness)


def passes(claims: Claims, *arguments: Any) -> Callable[[], set[str]]:
    return lambda: {each.check for each in judged(claims, *arguments) if each.verdict is Verdict.FAILED}


STATED_SURVIVORS: dict[str, tuple[Callable[[], set[str]], str]] = {
    "the coefficients of a law in another order than its names": (
        passes(LAW_CLAIMS, evolve(box, coefficients=("across", "along"))),
        "which friction is called by which name is in its text alone",
    ),
    "a law that combines two surfaces by the larger friction": (
        passes(LAW_CLAIMS, evolve(box, combine=lambda one, other: tuple(map(max, one, other)))),
        "how two surfaces make one is an assumption, and geometric means are no more",
    ),
    "a file's diameters taken for radii": (
        passes(
            SHAPE_CLAIMS,
            evolve(tori.torus, file_sizes={"ring_diameter": 1.0, "tube_diameter": 1.0}),
            (0.2, 0.1),
        ),
        "what a file's size is called does not say what it measures",
    ),
    "a bounding radius a tenth too large": (
        passes(
            SHAPE_CLAIMS, evolve(tori.torus, bounding_radius=lambda size, _: 1.1 * sum(size[:2])), (0.2, 0.1)
        ),
        "a bound that is safe costs time alone",
    ),
}
"""The same of friction laws and shapes: name → the checks that fail, and why none does."""


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
