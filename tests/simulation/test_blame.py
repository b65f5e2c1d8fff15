"""A number that is not finite is blamed on the component that wrote it, and nothing goes on with it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from attrs import evolve

from corekit.data.status import SolveInfo
from corekit.errors import PluginError, StepFailed
from corekit.scenario.load import from_document
from corekit.simulation import loop, step_parts
from corekit.simulation.step_failure import FailedStep
from corekit_testing.implicit_euler import ImplicitEuler
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world

BAD_STEP = 5
"""Calls of a method after which its numbers are spoilt: a few steps are made before."""


def spoiling(method, at, value, calls=BAD_STEP):
    """Return `method` with one number of its argument `at` (or of an attribute of it) replaced after some calls."""
    count = 0

    def spoilt(self, *arguments):
        nonlocal count
        answer = method(self, *arguments)
        count += 1
        if count > calls:
            place, _, attribute = at.partition(".")
            target = arguments[int(place)]
            (getattr(target, attribute) if attribute else target).flat[0] = value
        return answer

    return spoilt


def answers_nan(self, problem, impulse):
    impulse[:] = np.nan
    return SolveInfo()


MUTANTS = [
    (
        PointChain,
        "compute_frame_poses",
        "1",
        "compute_frame_poses of PointChain (body 'ball') wrote a number",
    ),
    (
        PointChain,
        "compute_point_jacobians",
        "4",
        "compute_point_jacobians of PointChain (body 'ball') wrote a",
    ),
    (PointChain, "compute_mass_and_force", "3", "compute_mass_and_force of PointChain (body 'ball') wrote a"),
    (ReferenceDetector, "compute_contacts", "3.gap", "a contact that the detector ReferenceDetector found"),
    (
        ReferenceDetector,
        "compute_contacts",
        "3.normal",
        "a contact that the detector ReferenceDetector found",
    ),
]


def resting_ball(scheme):
    ball = PointChain(PointChainConfig(positions=((0.0, 0.0, 0.1),), shape="sphere"))
    return small_world(
        {"ball": ball}, scheme(), step=1e-3, solver=ProjectedGaussSeidel(), detector=ReferenceDetector(),
        obstacles=[floor()], friction=0.5,
    )  # fmt: skip


@pytest.mark.filterwarnings(
    "ignore::RuntimeWarning"
)  # the reference integrator multiplies what is not finite
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("scheme", [SemiImplicitEuler, ImplicitEuler])
@pytest.mark.parametrize(("owner", "method", "at", "said"), MUTANTS, ids=[f"{m[1]}.{m[2]}" for m in MUTANTS])
def test_the_component_that_wrote_it_is_named(owner, method, at, said, scheme, value, monkeypatch):
    monkeypatch.setattr(owner, method, spoiling(getattr(owner, method), at, value))
    world = resting_ball(scheme)
    with pytest.raises(StepFailed, match=re.escape(said)):
        world.run(1.0)
    assert world.step_index <= BAD_STEP


@pytest.mark.parametrize("scheme", [SemiImplicitEuler, ImplicitEuler])
def test_a_contact_solver_that_answers_with_it_is_named(scheme, monkeypatch):
    monkeypatch.setattr(ProjectedGaussSeidel, "solve", answers_nan)
    with pytest.raises(StepFailed, match="contact solver ProjectedGaussSeidel answered with it"):
        resting_ball(scheme).run(1.0)


def shifted(method, at, by):
    """Return `method` with a number added to its argument `at`."""

    def shift(self, *arguments):
        answer = method(self, *arguments)
        place, _, attribute = at.partition(".")
        target = arguments[int(place)]
        (getattr(target, attribute) if attribute else target).flat[0] += by
        return answer

    return shift


@pytest.mark.parametrize(
    ("owner", "method", "at", "said"),
    [
        (
            PointChain,
            "compute_point_jacobians",
            "3",
            "PointChain (body 'ball') wrote a velocity index outside of 0 … 2",
        ),
        (
            ReferenceDetector,
            "compute_contacts",
            "3.frame",
            "a contact detector names a frame that no body has",
        ),
    ],
)
def test_an_index_that_leads_outside_is_refused_before_it_is_used(owner, method, at, said, monkeypatch):
    monkeypatch.setattr(owner, method, shifted(getattr(owner, method), at, 5))
    with pytest.raises(PluginError, match=re.escape(said)):
        resting_ball(SemiImplicitEuler).run(1.0)


def reports_milliseconds(step):
    return lambda self, *arguments: evolve(report := step(self, *arguments), step_size=1e3 * report.step_size)


def never_lands(step):
    def half(self, system, state, t_stop, out):
        report = step(self, system, state, t_stop, out)
        out.time = 0.5 * (state.time + t_stop)
        return report

    return half


@pytest.mark.parametrize("spoil", [reports_milliseconds, never_lands])
def test_a_step_as_long_as_it_is_not_is_refused(spoil, monkeypatch):
    monkeypatch.setattr(SemiImplicitEuler, "step", spoil(SemiImplicitEuler.step))
    with pytest.raises(PluginError, match=r"integrator 'SemiImplicitEuler' reported a step of .* moved by"):
        resting_ball(SemiImplicitEuler).run(1.0)


def cut_short(step, length):
    """Return the method `step` of an integrator that never goes farther than `length` [s] at once."""

    def short(self, system, state, t_stop, out):
        return step(self, system, state, min(t_stop, state.time + length), out)

    return short


@pytest.fixture
def few_parts(monkeypatch):
    """A run asks after 200 parts of a step how far they led, not after 10,000."""
    for module in (step_parts, loop):
        monkeypatch.setattr(module, "MOST_PARTS", 200)


@pytest.mark.usefixtures("few_parts")
def test_a_run_that_is_cut_without_end_stops_and_says_where(monkeypatch):
    """200 steps of 1 ns are 2e-7 s of 1 ms: a million would make one step of the grid."""
    monkeypatch.setattr(SemiImplicitEuler, "step", cut_short(SemiImplicitEuler.step, 1e-9))
    world = resting_ball(SemiImplicitEuler)
    said = r"200 steps brought the motion only 2e-07 s on, of a step of 0\.001 s: it is cut without end\. "
    with pytest.raises(StepFailed, match=said + r"The least gap is .* mm, between ball\.0 and floor\."):
        world.step()


@pytest.mark.usefixtures("few_parts")
def test_a_step_that_is_cut_without_end_after_its_first_half_stops_too(monkeypatch):
    """What squeezes may come late in a step of the grid: the first part made half of it."""
    full, short = SemiImplicitEuler.step, cut_short(SemiImplicitEuler.step, 1e-9)

    def late(self, system, state, t_stop, out):
        if state.time > 0.0:
            return short(self, system, state, t_stop, out)
        return full(self, system, state, min(t_stop, 5e-4), out)

    monkeypatch.setattr(SemiImplicitEuler, "step", late)
    with pytest.raises(StepFailed, match=r"200 steps brought the motion only .* it is cut without end\. "):
        resting_ball(SemiImplicitEuler).step()


def test_steps_that_are_cut_a_thousandfold_go_on(monkeypatch):
    """An implicit step that searches how long it may be is cut into 1,024 parts at most."""
    monkeypatch.setattr(SemiImplicitEuler, "step", cut_short(SemiImplicitEuler.step, 1e-3 / 1024))
    world = resting_ball(SemiImplicitEuler)
    world.step()
    assert world.time == pytest.approx(1e-3, rel=1e-12)


@pytest.mark.parametrize(("scheme", "advised"), [("implicit-euler", False), ("verlet", True)])
def test_an_implicit_scheme_is_advised_no_implicit_scheme(scheme, advised, monkeypatch):
    """A force that is not finite ends the first iteration of Newton's method: it iterated no more than one solve."""
    pytest.importorskip("corekit_timestep")
    forces = spoiling(PointChain.compute_mass_and_force, "3", np.nan, calls=0)
    monkeypatch.setattr(PointChain, "compute_mass_and_force", forces)
    monkeypatch.setattr(FailedStep, "_source", lambda *_: "")
    monkeypatch.setattr(FailedStep, "_model_source", lambda *_: "")
    scenario = {
        "format": "corekit-scenario/1", "name": "ball", "time": {"duration": 0.1, "step": 1e-3},
        "bodies": [{"name": "ball", "use": "reference-point-chain"}], "integrator": {"use": scheme},
    }  # fmt: skip
    with pytest.raises(StepFailed) as told:
        from_document(scenario).compose().step()
    assert "Try a" in str(told.value)
    assert ("implicit integrator" in str(told.value)) is advised
