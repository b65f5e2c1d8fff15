"""The estimator role: parameters and inputs from observed motion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.errors import PluginError
from corekit.geometry.frames import Pose
from corekit.geometry.shapes import Shape
from corekit.roles.component import Component
from corekit.roles.model import Model
from corekit.roles.options import ComponentRef

__all__ = [
    "VERDICTS",
    "Estimate",
    "EstimationTask",
    "Estimator",
    "FittedParameter",
    "FrameMisfit",
    "InputTrajectory",
    "KnownObstacle",
    "LikelihoodProfile",
]

VERDICTS = ("identified", "weakly identified", "not identifiable", "model misfit")
"""What may be said of a parameter."""

FrameMisfit = Callable[[Array, Array], tuple[float, Array, Array]]
"""Positions (T, frames, 3) [m] and rotations (T, frames, 3, 3) → number, derivatives by both."""


@frozen(eq=False)
class KnownObstacle:
    """An obstacle of the scenario.

    Args:
        name: as in the scenario.
        shape: its shape; the shape's own offset is ignored.
        pose: its pose at a time [s].
    """

    name: str
    shape: Shape
    pose: Callable[[float], Pose]


def _without_gradients(*_asked: Any, **_settings: Any) -> NoReturn:
    raise PluginError("this task differentiates no runs and searches by no gradients")


@frozen(eq=False, kw_only=True)
class EstimationTask:
    """The body that was observed, as its scenario has it. What was observed is in the estimator's options.

    Args:
        body: its name.
        model: computes it.
        abilities: what the model's spec declares.
        start: the state the scenario begins in; a copy, at time 0.
        step: of the scenario [s].
        duration: of the scenario [s].
        integrator: of the scenario, by name and options: what is found holds for how it steps.
        inputs: the stacked inputs u at a time [s], shape (nu,); the same buffer at every call.
        obstacles: of the world.
        find_equilibrium: where the world comes to rest at a time [s] under other inputs of this body (its stacked u) in
            place of the scenario's, looked for from a state of this body; raises StaticsFailed where there is none.
        options: of the body in the scenario, with all defaults: tables, lists and numbers.
        number_of: a parameter by its name, which is its path among the options, or else that in the scenario,
            `world.friction[0].value`; of a list of one entry that entry, None where there is no number.
        unit_of: the unit of a parameter by its name, empty if it has none.
        simulate: the frames of the body in a run of the scenario: (changes to the scenario as in `--set`, new
            values of parameters by their names, increasing instants [s]) → positions (T, frames, 3) [m] and
            rotations (T, frames, 3, 3), between steps on the straight line between both; raises ConfigError and
            CompositionError where that cannot be composed, StepFailed where it cannot go on.
        differentiate: a misfit of such frames and its derivative by each value, by one run and one sweep back whatever
            their number: (changes, values, instants, misfit) → (number, name → derivative). The misfit takes positions
            and rotations and returns a number and its derivatives by both, of their shapes. Raises as `simulate`,
            GradientError where a step has no derivative, PluginError where nothing installed differentiates runs.
        minimise: the search that comes with gradients and goes on at kinks of contact: (function x → (value, gradient),
            start, low, high, iterations=…, tolerance=…, progress=…) → what has x, value, gradient, iterations, calls,
            converged and reason. Every variable has the size 1. Raises PluginError likewise.
        with_changes: the task of the body in the scenario with changes as in `--set`; raises as `simulate`.
        folder: where pictures may be drawn, or None.
        report: receives sentences for the user before and while the estimator is at work.
    """

    body: str
    model: Model
    abilities: frozenset[str]
    start: State
    step: float
    duration: float
    integrator: ComponentRef
    inputs: Callable[[float], Array]
    obstacles: tuple[KnownObstacle, ...] = ()
    find_equilibrium: Callable[[Array, State, float], State]
    options: Mapping[str, Any] = field(factory=dict)
    number_of: Callable[[str], float | None] = field(default=lambda _name: None)
    unit_of: Callable[[str], str] = field(default=lambda _path: "")
    simulate: Callable[[Sequence[str], Mapping[str, float], Array], tuple[Array, Array]]
    differentiate: Callable[
        [Sequence[str], Mapping[str, float], Array, FrameMisfit], tuple[float, Mapping[str, float]]
    ] = _without_gradients
    minimise: Callable[..., Any] = _without_gradients
    with_changes: Callable[[Sequence[str]], EstimationTask]
    folder: Path | None = None
    report: Callable[[str], None] = field(default=lambda _sentence: None)


@frozen(eq=False)
class LikelihoodProfile:
    """How much worse the best fit is with one parameter held.

    Args:
        values: of the parameter, increasing, shape (k,).
        cost: rise of −log(likelihood · prior) over that of the estimate [-], shape (k,); 1.92 bounds 95 %.
    """

    values: Array
    cost: Array


@frozen(eq=False, kw_only=True)
class FittedParameter:
    """One parameter.

    Args:
        name: path of the option of the model that holds it, or else in the scenario. unit: its unit.
        value: the estimate. start: where the search began.
        low, high: 95 % interval; infinite or nan where there is none.
        verdict: one of `VERDICTS`, `model misfit` where residuals are far above the stated deviation, so that no
            interval holds; what has no finite value and interval is not identified. note: why, in a sentence.
        profile: where one was computed.
    """

    name: str
    unit: str
    value: float
    start: float
    low: float
    high: float
    verdict: str
    note: str = ""
    profile: LikelihoodProfile | None = None


@frozen(eq=False, kw_only=True)
class InputTrajectory:
    """An input over time: its channel, instants [s] of shape (k,), values of shape (k, size)."""

    channel: str
    times: Array
    values: Array


@frozen(eq=False, kw_only=True)
class Estimate:
    """What an estimator found.

    Args:
        fitted: parameters, named so that they can be written back into the scenario.
        schedules: inputs of the body in the place of the scenario's.
        time: when markers were seen [s], shape (T,).
        markers: their names.
        observed, predicted: places of the markers [m], shape (T, m, 3); nan where nothing was seen.
        metrics: further numbers by name, the unit at the name's end: `tip_mean_m`.
        pictures: what was drawn. notes: sentences for the user.
    """

    fitted: tuple[FittedParameter, ...] = ()
    schedules: tuple[InputTrajectory, ...] = ()
    time: Array
    markers: tuple[str, ...]
    observed: Array
    predicted: Array
    metrics: Mapping[str, float] = field(factory=dict)
    pictures: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def distance(self) -> Array:
        """From where a marker was seen to where it is in the fit, in the directions that were seen [m], (T, m)."""
        apart = self.observed - self.predicted
        seen = np.isfinite(apart)
        return np.where(seen.any(axis=2), np.sqrt(np.sum(np.where(seen, apart, 0.0) ** 2, axis=2)), np.nan)


class Estimator(Component, ABC):
    """Fits parameters or input schedules of a model to observations; every fit begins afresh."""

    @abstractmethod
    def estimate(
        self, task: EstimationTask, progress: Callable[[Mapping[str, float | str]], None]
    ) -> tuple[Estimate, SolveInfo]:
        """Solve the fit; returns the estimate and how the solve went.

        `progress` gets numbers by name, for example `iteration` and `objective`, and in words the `phase`.
        """
