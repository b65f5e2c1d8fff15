"""Contacts that nearly repeat each other: the search for slip speeds may go round, and pivots then answer."""

import numpy as np
import pytest

import corekit_qp.programs
from corekit.data.status import Status
from corekit.registry.resolve import load_target, resolve
from corekit.roles.component import BuildContext
from corekit.roles.friction import ANISOTROPIC_COULOMB
from corekit_qp.config import QPContactConfig
from corekit_qp.pivoting import solve_by_pivots
from corekit_qp.qp import QPContact
from corekit_testing.conformance.contact_problems import DenseProblem, crushed

PATIENCE = 25


def new_solver(law="coulomb", **options):
    def build(role, use):
        spec = resolve(role, use.use)
        assert spec.config is not None
        return load_target(spec.target)(load_target(spec.config)())

    return QPContact(QPContactConfig(**options), BuildContext(build=build, friction_law=law))


def copied(seed, difference, contacts=12, friction=0.9, bounds=()):
    """Contacts of a body, and as many that differ from them by so much, in their rows and free velocities."""
    random = np.random.default_rng(seed)
    coordinates = 24
    root = random.normal(size=(coordinates, coordinates))
    mass = root @ root.T / coordinates + np.eye(coordinates)
    rows = random.normal(size=(3 * contacts, coordinates))
    velocity = random.normal(size=coordinates)
    copies = rows * (1.0 + difference * random.normal(size=rows.shape))
    both = np.vstack([rows, copies, random.normal(size=(len(bounds), coordinates))])
    shift = difference * random.normal(size=len(both))
    return DenseProblem(mass, both, velocity, friction, bounds=bounds, stabilisation=shift)


@pytest.mark.parametrize("difference", [0.0, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5])
def test_copies_are_solved_by_few_programs(difference, monkeypatch):
    count, solve = [0], corekit_qp.programs.ReducedProgram.solve_shifted

    def counted(self, solver, shift):
        count[0] += 1
        return solve(self, solver, shift)

    monkeypatch.setattr(corekit_qp.programs.ReducedProgram, "solve_shifted", counted)
    # the first three paths of Lemke's method for the last end on rays
    for seed in (*range(20), 73):
        problem, solver = copied(seed, difference), new_solver()
        impulse, count[0] = np.zeros(len(problem.rows)), 0
        info = solver.solve(problem, impulse)
        assert info.status.solved, seed
        assert count[0] <= PATIENCE + 1
        # relative to the free velocity, whose largest entry is below 20
        assert max(problem.normal_error(impulse), problem.friction_error(impulse)) < 1e-9 * 20.0


def test_who_answered_is_told():
    """Of these, some go round: they were INACCURATE after 201 programs."""
    infos = [new_solver().solve(copied(seed, 1e-7), np.zeros(72)) for seed in range(20)]
    told = {(info.status, info.answered_by) for info in infos}
    assert told == {(Status.CONVERGED, "banded"), (Status.FALLBACK, "lemke")}


def test_pivots_leave_no_friction_where_nothing_pushes():
    """Rounding of it was no friction within the cone, and all there was of impulses: the kernel said MISREPORTED."""
    spec = resolve("lcp_solvers", "lemke")
    assert spec.config is not None
    lemke = load_target(spec.target)(load_target(spec.config)())
    for seed in range(5):
        problem, impulse = copied(seed, 1.0, contacts=3), np.zeros(18)
        free = np.abs(problem.free_velocity)
        directions = np.array([[[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]]])
        info = solve_by_pivots(lemke, problem.delassus(), free, problem.friction, directions, 1e-10, impulse)
        assert info.status.solved
        by_contact = impulse.reshape(-1, 3)
        assert not by_contact[by_contact[:, 0] <= 0.0].any()


def test_contacts_that_contradict_each_other_stay_infeasible():
    impulse = np.zeros(6)
    assert new_solver().solve(crushed(), impulse).status is Status.INFEASIBLE


def test_bounded_rows_are_left_to_the_programs():
    problem = copied(0, 1e-7, contacts=3, bounds=((-1.0, 1.0),))
    impulse = np.zeros(len(problem.rows))
    info = new_solver().solve(problem, impulse)
    assert info.answered_by == "banded"
    assert info.status is Status.CONVERGED


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("friction", [0.3, (0.3, 0.8, 0.5)])
def test_pivots_and_programs_find_the_same_motion(width, friction):
    """Few contacts of enough freedom have one answer: pivots after one program give that of the search."""
    needed = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        rows, velocity = random.normal(size=(4 * width, 16)), random.normal(size=16)
        numbers = friction if isinstance(friction, float) else np.tile(friction, (4, 1))
        problem = DenseProblem(np.eye(16), rows, velocity, numbers, width=width)
        law = "coulomb" if isinstance(friction, float) else ANISOTROPIC_COULOMB.name
        by_programs, by_pivots = np.zeros((2, 4 * width))
        assert new_solver(law).solve(problem, by_programs).status is Status.CONVERGED
        info = new_solver(law, corrections=1).solve(problem, by_pivots)
        assert info.status.solved
        needed += info.status is Status.FALLBACK
        np.testing.assert_allclose(by_pivots, by_programs, atol=1e-7)
    assert needed > 0
