"""Intervals, several runs and starts, bounds and misfits of `ipopt-fit` on a spring with closed forms."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest

from corekit.data.status import Status
from corekit.errors import ConfigError
from corekit_fit.config import Experiment, IpoptFitConfig, KnownContact, Markers, Parameter
from corekit_fit.ipopt_fit import IpoptFit

from .spring import OWN, fitted, observed, spring_task
from .test_ipopt_fit import LOOSE, SOFT, STEP

COUNT = 40


def stepped(
    stiffness: float = OWN["stiffness"], damping: float = OWN["damping"], force: float = 0.0
) -> np.ndarray:
    """Return the heights of implicit midpoint steps from 0.1 m at rest, by 2×2 matrices."""
    A = np.array([[0.0, 1.0], [-stiffness / OWN["mass"], -damping / OWN["mass"]]])
    one, load = np.eye(2), np.array([0.0, force / OWN["mass"]])
    state, heights = np.array([0.1, 0.0]), [0.1]
    for _ in range(COUNT):
        state = np.linalg.solve(one - 0.5 * STEP * A, (one + 0.5 * STEP * A) @ state + STEP * load)
        heights.append(float(state[0]))
    return np.array(heights)


TIMES = STEP * np.arange(COUNT + 1)
KNOWN = {"scheme": "implicit-midpoint", "start": "known", "profile": "none"}


def information(force: float = 0.0) -> np.ndarray:
    """Return Sᵀ·S of log k and log c, by central differences of the steps [m²]."""
    columns = []
    for name in ("stiffness", "damping"):
        ends = [stepped(**{name: OWN[name] * math.exp(side * 1e-5)}, force=force) for side in (1.0, -1.0)]
        columns.append((ends[0] - ends[1]) / 2e-5)
    S = np.array(columns).T
    return S.T @ S


def deviations(estimate) -> np.ndarray:
    return np.array([math.log(each.high / each.low) / (2 * 1.96) for each in estimate.fitted])


@pytest.mark.parametrize("hessian", ["exact", "gauss-newton"])
@pytest.mark.parametrize("deviation", [1e-3, 1e-5])
def test_intervals_are_those_of_the_sensitivities(write, hessian, deviation):
    """Markers of any precision: noiseless, so that the residual leaves nothing to the curvature of the motion."""
    estimate, info = fitted(
        spring_task(STEP),
        write(TIMES, stepped()),
        [SOFT, LOOSE],
        deviation=deviation,
        hessian=hessian,
        **KNOWN,
    )
    assert info.status.solved
    expected = deviation * np.sqrt(np.diag(np.linalg.inv(information())))
    np.testing.assert_allclose(deviations(estimate), expected, rtol=1e-5)


def test_information_of_runs_adds_up(write, tmp_path):
    """The second run, under a force, is sampled at other times and loses a third of its markers."""
    kept = np.arange(COUNT + 1) % 3 > 0
    files = [
        write(TIMES, stepped()).rename(tmp_path / "one.csv"),
        write(TIMES[kept], stepped(force=8.0)[kept]),
    ]
    experiments = (
        Experiment(markers=Markers(file=files[0])),
        Experiment(markers=Markers(file=files[1]), changes=("8.0",)),
    )
    estimate, info = observed(spring_task(STEP), [SOFT], experiments=experiments, **KNOWN)
    assert info.status.solved
    assert estimate.markers == ("1/mass", "2/mass")
    assert estimate.fitted[0].value == pytest.approx(OWN["stiffness"], rel=1e-6)
    S = [
        (stepped(OWN["stiffness"] * math.exp(1e-5), force=force) - stepped(force=force)) / 1e-5
        for force in (0.0, 8.0)
    ]
    # damping is known here
    alone = observed(spring_task(STEP), [SOFT], markers=Markers(file=files[0]), **KNOWN)[0]
    assert deviations(alone)[0] == pytest.approx(1e-3 / np.linalg.norm(S[0]), rel=1e-3)
    together = 1e-3 / math.sqrt(S[0] @ S[0] + S[1][kept] @ S[1][kept])
    assert deviations(estimate)[0] == pytest.approx(together, rel=1e-3)


def test_several_starts_find_the_better_of_two_minima(write):
    """The colour adds 20·((s² − 1)² + 0.3·s) to k: least at −1.04, and again near 0.96, where k is too large."""

    def stiffening(s):
        return 20.0 * ((s**2 - 1.0) ** 2 + 0.3 * s)

    least = np.roots([4.0, 0.0, -4.0, 0.3]).real
    best, other = least.min(), least.max()
    file = write(TIMES, stepped(OWN["stiffness"] + stiffening(best)))
    colour = Parameter(name="colour", start=0.97, low=-2.0, high=2.0, scale="linear")
    task = spring_task(STEP, stiffening=stiffening)
    one, _ = fitted(task, file, [colour], **KNOWN)
    several, _ = fitted(task, file, [colour], starts=5, seed=1, **KNOWN)
    assert one.fitted[0].value == pytest.approx(other, abs=0.01)
    assert several.fitted[0].value == pytest.approx(best, abs=0.01)
    assert several.metrics["objective"] < 1e-6 * one.metrics["objective"]
    assert 1 <= several.metrics["starts_that_end_at_the_best"] < 5


def test_a_parameter_at_its_bound_is_said_to_miss_the_markers(write):
    stiff = Parameter(name="stiffness", start=20.0, low=1.0, high=30.0)
    estimate, info = fitted(spring_task(STEP), write(TIMES, stepped()), [stiff], **KNOWN)
    assert info.status.solved
    (found,) = estimate.fitted
    assert found.value == pytest.approx(30.0, rel=1e-5)
    assert found.verdict != "identified"


def test_a_model_that_cannot_explain_the_markers_says_so(write):
    """Nothing in the model makes the mass drift by 20 mm/s."""
    file = write(TIMES, stepped() + 0.02 * TIMES)
    estimate, _ = fitted(spring_task(STEP), file, [SOFT, LOOSE], deviation=1e-4, **KNOWN)
    assert {each.verdict for each in estimate.fitted} == {"model misfit"}
    assert estimate.notes[0].startswith("the model misses the markers: they are ")
    clean, _ = fitted(spring_task(STEP), write(TIMES, stepped()), [SOFT, LOOSE], deviation=1e-4, **KNOWN)
    assert {each.verdict for each in clean.fitted} == {"identified"}
    assert clean.notes == ()


def test_what_is_being_done_is_told(write):
    told: list[dict] = []
    config = IpoptFitConfig(markers=Markers(file=write(TIMES, stepped())), parameters=(SOFT,), **KNOWN)
    _, info = IpoptFit(config).estimate(spring_task(STEP), lambda numbers: told.append(dict(numbers)))
    phases = list(dict.fromkeys(each["phase"] for each in told))
    assert phases == [
        "deriving the equations of a step",
        "assembling the program of all steps",
        "bending shapes through the markers",
        "solving",
        "judging what the markers identify",
    ]
    # IPOPT reports its starting point too
    assert sum("iteration" in each for each in told) == info.iterations + 1


def test_casadi_says_nothing_of_its_own(write, capfd):
    """The root of a negative number: CasADi warns in a line of its own, where the status says the same."""
    colour = Parameter(name="colour", start=-1.0, low=-2.0, high=2.0, scale="linear")
    task = spring_task(STEP, stiffening=ca.sqrt)
    estimate, info = fitted(task, write(TIMES, stepped()), [colour], **KNOWN)
    assert info.status is Status.NON_FINITE
    assert estimate.fitted == ()
    assert capfd.readouterr() == ("", "")


def test_runs_that_make_no_sense_are_refused(write):
    markers = Markers(file=write(TIMES, stepped()))
    with pytest.raises(ConfigError, match="give either `markers` of one run, or `experiments`"):
        IpoptFitConfig(parameters=(SOFT,))
    with pytest.raises(ConfigError, match="give either `markers`"):
        IpoptFitConfig(parameters=(SOFT,), markers=markers, experiments=(Experiment(markers=markers),))
    with pytest.raises(ConfigError, match="must be at most 1"):
        IpoptFitConfig(
            parameters=(SOFT,), markers=markers, contacts=(KnownContact(obstacle="floor", experiment=2),)
        )
