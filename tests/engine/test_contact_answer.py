"""A contact solver that reports less than its answer is off by is found out at the step, whatever it says."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from corekit.data.status import Residuals, SolveInfo, Status
from corekit.engine.contact.contact_answer import is_gross, solution_residuals
from corekit.errors import StepFailed
from corekit.roles.component import BuildContext
from corekit.roles.contact import ImpulseSolver
from corekit.roles.contact_laws import law_residuals
from corekit.roles.integrator import Integrator
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world

H, G, MU, MASS = 1e-3, 9.81, 0.5, 0.7
FREE = SolveInfo(residuals=Residuals(), answered_by="spoiled")


class Spoiled(ImpulseSolver):
    """Solves as it should, changes the impulse, and reports as it is told."""

    def __init__(self, change, info=FREE):
        self._change, self._info = change, info

    def solve(self, problem, impulse):
        ProjectedGaussSeidel().solve(problem, impulse)
        self._change(impulse)
        return self._info


class Accepting(Integrator):
    """Takes every answer."""

    def __init__(self, config, context):
        self._inner = SemiImplicitEuler(config, context)

    def step(self, system, state, t_stop, out):
        return evolve(self._inner.step(system, state, t_stop, out), accepted=True)


def step_of(solver, integrator=Accepting, mass=MASS):
    """One step of a ball that slides along x at 1 m/s, on the floor."""
    ball = PointChain(
        PointChainConfig(
            masses=(mass,), positions=((0.0, 0.0, 0.1),), velocities=((1.0, 0.0, 0.0),), shape="sphere"
        )
    )
    simulation = small_world(
        {"ball": ball}, integrator(None, BuildContext(step=H)), step=H, solver=solver,
        detector=ReferenceDetector(), obstacles=[floor()], friction=MU,
    )  # fmt: skip
    simulation.step()
    return simulation.report.solve_info


def scaled(*factors):
    def change(impulse):
        impulse *= factors

    return change


CHANGES = {
    # half of the impulse leaves half of the fall: w_n = −g·h/2, and λ_n is less than that
    "too weak": (scaled(0.5, 0.5, 0.5), "normal", lambda mass: G * H / 2),
    # twice the impulse makes it take off with g·h, while λ_n = 2·m·g·h
    "too strong": (scaled(2.0, 1.0, 1.0), "normal", lambda mass: G * H * min(1.0, 2.0 * mass)),
    "outside of the cone": (scaled(1.0, 3.0, 3.0), "cone", lambda mass: 2 * MU * mass * G * H),
    "along the slip": (scaled(1.0, -1.0, -1.0), "friction", lambda mass: MU * mass * G * H),
}


@pytest.mark.parametrize("mass", [MASS, 1e-12])
@pytest.mark.parametrize("case", CHANGES)
def test_a_wrong_answer_is_measured_and_named(case, mass):
    """Of a ball of a nanogram too, whose impulses are 10⁻¹⁴ N·s."""
    change, kind, size = CHANGES[case]
    info = step_of(Spoiled(change), mass=mass)
    assert info.status is Status.MISREPORTED
    assert not info.status.solved
    assert info.answered_by == "spoiled"
    assert getattr(info.residuals, kind) == pytest.approx(size(mass), rel=1e-9)


def test_an_integrator_that_wants_it_solved_fails_with_the_name():
    with pytest.raises(StepFailed, match=r"breaks the contact laws by more than it reported.*spoiled"):
        step_of(Spoiled(scaled(0.5, 0.5, 0.5)), SemiImplicitEuler)


def test_a_component_without_a_name_is_named_by_its_class():
    assert step_of(Spoiled(scaled(0.5, 0.5, 0.5), SolveInfo())).answered_by == "Spoiled"


def test_a_wrong_answer_that_is_reported_is_not_misreported():
    told = SolveInfo(Status.INACCURATE, 3, Residuals(normal=G * H / 2), "honest")
    assert step_of(Spoiled(scaled(0.5, 0.5, 0.5), told)) is told
    # too small a residual is corrected, though nobody said that the step was solved
    info = step_of(Spoiled(scaled(0.5, 0.5, 0.5), SolveInfo(Status.ITERATION_LIMIT, 3, Residuals(), "x")))
    assert info.status is Status.ITERATION_LIMIT
    assert info.residuals.normal == pytest.approx(G * H / 2, rel=1e-9)


def honest(change):
    """A solver that changes the impulse, measures what that leaves, and calls it solved."""

    class Honest(ImpulseSolver):
        def solve(self, problem, impulse):
            ProjectedGaussSeidel().solve(problem, impulse)
            change(impulse)
            w = problem.delassus() @ impulse + problem.free_velocity
            found = [
                law_residuals(impulse[3 * c : 3 * c + 3], w[3 * c : 3 * c + 3], MU)
                for c in range(len(w) // 3)
            ]
            return SolveInfo(Status.CONVERGED, 1, Residuals(*np.max(found, axis=0)), "honest")

    return Honest()


@pytest.mark.parametrize("mass", [MASS, 1e-12])
@pytest.mark.parametrize("case", [*CHANGES, "none at all"])
def test_an_answer_that_leaves_a_tenth_of_its_task_is_not_solved_however_honest(case, mass):
    """Of a nanogram too: the bound is a share of the fall that the impulse is to take away."""
    change = scaled(0.0, 0.0, 0.0) if case == "none at all" else CHANGES[case][0]
    info = step_of(honest(change), mass=mass)
    assert info.status is Status.MISREPORTED
    assert info.answered_by == "honest"


@pytest.mark.parametrize("mass", [MASS, 1e-12])
@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_an_answer_of_a_loose_tolerance_is_taken_as_it_is_told(factor, mass):
    """A twentieth off, at rest too, where v⁺ is nothing but the error."""
    assert step_of(honest(scaled(factor, factor, factor)), mass=mass).status is Status.CONVERGED


def test_a_right_answer_stays_as_reported():
    assert step_of(Spoiled(scaled(1.0, 1.0, 1.0))) is FREE


def test_immovable_contacts_are_left_out_and_numbers_that_are_not_finite_are_infinite():
    velocity, bias = np.array([[-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), np.zeros((2, 3))
    impulse, friction = np.zeros(6), np.zeros(2)
    every = np.zeros(0, dtype=np.bool_)
    found = solution_residuals(velocity, bias, impulse, friction, every)
    assert found == pytest.approx((1.0, 0.0, 0.0, 1.0 - 1e-9), rel=1e-15, abs=0.0)
    assert solution_residuals(velocity, bias, impulse, friction, np.array([False, True]))[0] == 0.0
    impulse[4] = np.nan
    assert solution_residuals(velocity, bias, impulse, friction, every)[0] == np.inf


def sliding(impulse):
    """Whether an answer to a ball of 0.1 kg that slides at 1 m/s free of all loads is gross."""
    none = np.zeros((1, 3))
    velocity = np.array([[0.0, 1.0, 0.0]])
    every = np.zeros(0, dtype=np.bool_)
    return is_gross(velocity, velocity, none, np.array([impulse, 0.0, 0.0]), np.zeros(1), every, 0.0, 0.1)


def test_impulses_of_rounding_are_none_where_nothing_presses():
    """All that w₀ has is ε of the sliding, and λ is that times the mass: its sign means nothing, larger ones do."""
    assert not sliding(-1e-15)
    assert sliding(-1e-3)
