"""LCPs in units of the world, and which contacts are in them."""

import numpy as np
import pytest

from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext
from corekit_lcp.config import Equilibration, LCPContactConfig, RankSelection, Regularisation
from corekit_lcp.lcp import LCPContact

MASS, FRICTION = 4.0, 0.3
FREE = np.array([-3.0, 0.5, 0.25])
NO_STAGE = {"equilibration": Equilibration(enabled=False), "regularisation": Regularisation(enabled=False)}
STAGES = {
    "none": NO_STAGE,
    "R": {**NO_STAGE, "equilibration": Equilibration()},
    "R symmetric": {**NO_STAGE, "equilibration": Equilibration(symmetric=True)},
    "QRT": {
        "rank_selection": RankSelection(enabled=True),
        "equilibration": Equilibration(),
        "regularisation": Regularisation(rows="scaled-normals", weight=1e-8, corrections=3),
    },
}


class Recorder:
    """Keeps the first LCP that it is to solve, and solves none."""

    def __init__(self):
        self.problem: dict[str, np.ndarray] = {}

    def solve(self, problem, z):
        if not self.problem:
            names = ("matrix", "vector", "row_scale", "column_scale")
            self.problem = {name: getattr(problem, name).copy() for name in names} | {"z": z.copy()}
        return SolveInfo(Status.RAY, 1, Residuals(normal=1.0))


def posed(problem, guess=None, **options):
    """The first LCP that `lcp` poses of a problem."""
    recorder = Recorder()
    config = LCPContactConfig(fallback=(), warm_start=False, aligned=False, friction_directions=4, **options)
    solver = LCPContact(config, BuildContext(build=lambda _role, _use: recorder))
    solver.solve(problem, np.zeros(len(problem.free_velocity)) if guess is None else guess.copy())
    return recorder.problem


def block_on_a_motor(problem_of):
    """A block of 4 kg that strikes the floor, and a motor that may push by 0 to 2 N·s along the floor."""
    rows = np.vstack([np.eye(3), [[0.0, 1.0, 0.0]]])
    return problem_of(MASS * np.eye(3), rows, FREE, FRICTION, bounds=[(0.0, 2.0)])


def test_an_lcp_in_units_of_the_world_is_that_of_the_paper(problem_of):
    """Equation (11) by hand, with D = (e₁, e₂, −e₁, −e₂); the motor has an impulse and the slack s of its bound."""
    d = np.array([[1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, -1.0]])
    expected = np.zeros((8, 8))
    expected[0, 0] = expected[6, 6] = 1.0 / MASS
    expected[1:5, 1:5] = d.T @ d / MASS
    expected[1:5, 6] = expected[6, 1:5] = d[0] / MASS
    expected[1:5, 5], expected[5, 0], expected[5, 1:5] = 1.0, FRICTION, -1.0
    expected[6, 7], expected[7, 6] = 1.0, -1.0
    problem = posed(block_on_a_motor(problem_of), own_units=False, **NO_STAGE)
    np.testing.assert_allclose(problem["matrix"], expected, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(
        problem["vector"], [FREE[0], *(d.T @ FREE[1:]), 0.0, FREE[1], 2.0], rtol=1e-14, atol=1e-15
    )


def test_an_lcp_in_units_of_its_own_does_not_know_the_mass(problem_of):
    light, heavy = (
        posed(problem_of(mass * np.eye(3), np.eye(3), FREE, FRICTION), **NO_STAGE) for mass in (0.5, 4.0)
    )
    for name in light:
        np.testing.assert_allclose(light[name], heavy[name], rtol=1e-14)
    assert light["matrix"][0, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("stages", ["none", "R", "R symmetric"])
def test_scales_lead_from_units_of_the_world_to_the_same_problem(problem_of, stages):
    """A with its scales taken off, and the variables of a guess, are those in units of its own."""
    guess = np.array([10.0, -2.5, 1.0, 0.5])
    world, own = (
        posed(block_on_a_motor(problem_of), guess, own_units=own_units, **STAGES[stages])
        for own_units in (False, True)
    )
    assert not np.allclose(world["column_scale"], own["column_scale"])
    for each in (world, own):
        each["matrix"] /= each["row_scale"][:, None] * each["column_scale"]
        each["vector"] /= each["row_scale"]
        each["z"] *= each["column_scale"]
    for name in ("matrix", "vector", "z"):
        np.testing.assert_allclose(world[name], own[name], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
def test_answers_are_those_of_the_laws_in_either_units(problem_of, solver_of, stages, mass):
    """A block that is stopped by m·3 and slides: friction is 0.3 of that against the slip, along a direction."""
    rows, free = np.eye(3), np.array([-3.0, 2.0, 0.0])
    expected = mass * np.array([3.0, -0.9, 0.0])
    for own_units in (False, True):
        impulse = np.zeros(3)
        solver = solver_of(own_units=own_units, warm_start=False, aligned=False, **STAGES[stages])
        info = solver.solve(problem_of(mass * np.eye(3), rows, free, FRICTION), impulse)
        assert info.status is Status.CONVERGED
        np.testing.assert_allclose(impulse, expected, rtol=1e-8, atol=1e-8 * mass)


def test_contacts_that_open_are_in_a_conditioned_lcp_only_if_all_are(problem_of):
    """Two points of two bodies, the second of which flies away: six variables a contact."""
    problem = problem_of(np.eye(6), np.eye(6), np.array([-1.0, 0.0, 0.0, 2.0, 0.0, 0.0]), FRICTION)
    sizes = [len(posed(problem, keep=keep, **STAGES["R"])["vector"]) for keep in ("closing", "all")]
    assert sizes == [6, 12]
    assert len(posed(problem, keep="closing", **NO_STAGE)["vector"]) == 12
