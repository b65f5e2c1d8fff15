"""Solutions of the whole pipeline against analytic mechanics and against other methods."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from corekit.data.status import Status
from corekit_lcp.config import Equilibration, RankSelection, Regularisation
from corekit_testing.rounding import rounding

INF = np.inf
RAW = {
    "rank_selection": RankSelection(enabled=False),
    "equilibration": Equilibration(enabled=False),
    "regularisation": Regularisation(enabled=False),
}
GRAVITY, STEP, MASS = 9.81, 1e-2, 2.0
unhurried = settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def solved(solver, problem, tolerance=1e-8):
    impulse = np.zeros(len(problem.free_velocity))
    info = solver.solve(problem, impulse)
    assert info.status is Status.CONVERGED, info
    assert info.residuals.worst <= tolerance
    return impulse, info


def on_slope(problem_of, slope, friction, heading=0.0, copies=1):
    """A point mass at rest on a slope, one step of gravity; rows are normal, t₁, t₂, pull along `heading`."""
    pull = GRAVITY * STEP * np.sin(slope)
    velocity = [-GRAVITY * STEP * np.cos(slope), pull * np.cos(heading), pull * np.sin(heading)]
    return problem_of(MASS * np.eye(3), np.tile(np.eye(3), (copies, 1)), velocity, friction)


@pytest.mark.parametrize("count", [4, 6, 8, 10])
@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("aligned", [False, True])
def test_point_slides_past_the_friction_angle_of_its_pyramid(count, between, aligned, problem_of, solver_of):
    """Of the inscribed pyramid if that does not turn, of the cone if it does."""
    friction = 0.4
    heading = np.pi / count if between else 0.0
    limit = friction * (np.cos(np.pi / count) if between and not aligned else 1.0)
    solver = solver_of(friction_directions=count, aligned=aligned)
    for factor, slides in [(0.99, False), (1.01, True)]:
        problem = on_slope(problem_of, np.arctan(factor * limit), friction, heading)
        impulse, _ = solved(solver, problem)
        speed = np.linalg.norm(problem.after(impulse)[1:])
        if slides:
            excess = (
                GRAVITY * STEP * (np.sin(np.arctan(1.01 * limit)) - limit * np.cos(np.arctan(1.01 * limit)))
            )
            assert speed == pytest.approx(excess, abs=1e-8)
        else:
            assert speed < 1e-10


@pytest.mark.parametrize("slope", [0.0, 0.2, 0.35])
def test_resting_impulse_is_the_weight_over_the_step(slope, problem_of, solver_of):
    impulse, _ = solved(solver_of(), on_slope(problem_of, slope, 0.5))
    assert impulse[0] == pytest.approx(STEP * MASS * GRAVITY * np.cos(slope), rel=1e-7)
    assert impulse[1] == pytest.approx(-STEP * MASS * GRAVITY * np.sin(slope), rel=1e-7, abs=1e-12)


def test_separating_contact_has_no_impulse(problem_of, solver_of):
    impulse, _ = solved(solver_of(), problem_of(np.eye(3), np.eye(3), [0.1, -1.0, 2.0], 0.7))
    np.testing.assert_allclose(impulse, 0.0, atol=rounding(16))


def test_open_gap_is_closed_and_no_further(problem_of, solver_of):
    # w_n = v_n + gap/h: the body may approach by the gap
    problem = problem_of(np.eye(3), np.eye(3), [-1.0, 0.0, 0.0], 0.5, stabilisation=[0.3, 0.0, 0.0])
    impulse, _ = solved(solver_of(), problem)
    assert problem.after(impulse)[0] == pytest.approx(-0.3)


def test_friction_opposes_sliding_and_never_reverses_it(problem_of, solver_of):
    rng = np.random.default_rng(0)
    for _ in range(30):
        velocity = np.array([-1.0, *rng.normal(size=2)])
        impulse, _ = solved(solver_of(), problem_of(np.eye(3), np.eye(3), velocity, rng.uniform(0.1, 1.0)))
        after = velocity + impulse
        assert impulse[1:] @ after[1:] <= 1e-12
        assert impulse[1:] @ velocity[1:] <= 0.0


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("conditioned", [True, False])
def test_doubling_every_contact_leaves_velocity_unchanged(friction, conditioned, problem_of, solver_of):
    rng = np.random.default_rng(5)
    solver = solver_of(**({} if conditioned else RAW))
    for _ in range(5):
        root = rng.normal(size=(9, 9))
        mass, rows, velocity = root @ root.T + np.eye(9), rng.normal(size=(9, 9)), rng.normal(size=9)
        once = problem_of(mass, rows, velocity, friction)
        twice = problem_of(mass, np.vstack([rows, rows]), velocity, friction)
        first, _ = solved(solver, once)
        second, _ = solved(solver, twice)
        np.testing.assert_allclose(twice.after(second), once.after(first), atol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_frictionless_velocity_is_that_of_the_quadratic_program(seed, problem_of, solver_of):
    # Gauss: v⁺ minimises ½(v − v_f)ᵀM(v − v_f) over J_n·v ≥ 0. With M = L·Lᵀ and Y = L⁻¹·J_nᵀ its dual is
    # the non-negative least squares problem min |Y·p + Lᵀ·v_f|, p ≥ 0, and Lᵀ·v⁺ the residual there.
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(5, 5))
    mass, velocity = root @ root.T + np.eye(5), rng.normal(size=5)
    rows = rng.normal(size=(18, 5))
    inside = rng.normal(size=5)
    rows[0::3] *= np.sign(rows[0::3] @ inside)[:, None]  # some velocity opens every contact
    problem = problem_of(mass, rows, velocity)
    impulse, _ = solved(solver_of(), problem)
    factor = np.linalg.cholesky(mass)
    whitened = np.linalg.solve(factor, rows[0::3].T)
    best, _ = nnls(whitened, -factor.T @ velocity)
    expected = np.linalg.solve(factor.T, whitened @ best + factor.T @ velocity)
    np.testing.assert_allclose(problem.after(impulse), expected, atol=1e-7)


def redundant_contacts(rng, problem_of, friction, contacts=13, coordinates=9):
    """Many points of a smooth body on one plane: rows vary slowly along it, with three modes per direction."""
    along = np.linspace(0.1, 1.0, contacts)
    modes = np.array([along**k for k in (1, 2, 3)]).T
    rows = np.zeros((contacts, 3, coordinates))
    for a in range(3):
        rows[:, a, 3 * a : 3 * a + 3] = modes
    mix = np.eye(coordinates) + 0.2 * rng.normal(size=(coordinates, coordinates))
    root = rng.normal(size=(coordinates, coordinates))
    velocity = np.concatenate([[-0.3, 0.0, 0.0], 0.3 * rng.normal(size=6)]) + 0.05 * rng.normal(size=9)
    return problem_of(
        root @ root.T + np.eye(coordinates),
        rows.reshape(-1, coordinates) @ mix,
        velocity,
        friction,
        gap=rng.uniform(0.0, 1e-3, contacts),
    )


@pytest.mark.parametrize("stages", ["", "q", "r", "t", "qr", "qt", "rt", "qrt"])
def test_thirteen_redundant_contacts_are_answered_by_every_choice_of_stages(stages, problem_of, solver_of):
    solver = solver_of(
        rank_selection=RankSelection(enabled="q" in stages),
        equilibration=Equilibration(enabled="r" in stages),
        regularisation=Regularisation(enabled="t" in stages),
    )
    for seed in range(4):
        problem = redundant_contacts(np.random.default_rng(seed), problem_of, 0.5)
        impulse = np.zeros(39)
        info = solver.solve(problem, impulse)
        if "q" in stages:
            assert (info.status, info.answered_by) == (Status.CONVERGED, "lemke")
        assert info.status.solved
        assert info.residuals.worst <= 1e-8
        w = problem.delassus() @ impulse + problem.free_velocity
        normal = np.abs(np.minimum(impulse[0::3], w[0::3])).max()
        assert normal == pytest.approx(info.residuals.normal, abs=1e-12)


def test_rank_selection_leaves_contacts_out(problem_of, solver_of):
    solver = solver_of(rank_selection=RankSelection(enabled=True), warm_start=False)
    solved(solver, redundant_contacts(np.random.default_rng(1), problem_of, 0.5))
    assert 1 <= solver.kept_contacts < 13


@pytest.mark.parametrize("seed", range(8))
def test_conditioned_and_raw_answers_give_the_same_frictionless_velocity(seed, problem_of, solver_of):
    problem = redundant_contacts(np.random.default_rng(seed), problem_of, 0.0)
    ours, _ = solved(solver_of(), problem)
    raw, _ = solved(solver_of(**RAW), problem)
    np.testing.assert_allclose(problem.after(ours), problem.after(raw), atol=1e-7)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_conditioned_and_raw_answers_give_the_same_velocity_with_little_friction(
    seed, symmetric, problem_of, solver_of
):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(12, 12))
    problem = problem_of(root @ root.T + np.eye(12), rng.normal(size=(9, 12)), rng.normal(size=12), 0.05)
    ours, _ = solved(solver_of(equilibration=Equilibration(symmetric=symmetric)), problem)
    raw, _ = solved(solver_of(**RAW), problem)
    np.testing.assert_allclose(problem.after(ours), problem.after(raw), atol=1e-7)


def test_left_out_contact_that_is_not_a_positive_combination_is_added_back(problem_of, solver_of):
    # a slot of width zero: the second normal is minus the first, linearly dependent and yet needed
    selection = RankSelection(enabled=True)
    rows = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [-1.0, 0, 0], [0, -1.0, 0], [0, 0, 1.0]])
    solver = solver_of(rank_selection=selection)
    for approach in (-1.0, 1.0):
        problem = problem_of(np.eye(3), rows, [approach, 0.2, 0.0], 0.5)
        impulse, _ = solved(solver, problem)
        assert problem.after(impulse)[0] == pytest.approx(0.0, abs=1e-8)


def test_left_out_contact_that_the_others_push_shut_is_added_back(problem_of, solver_of):
    # free motion opens the second contact; stopping the first one closes it
    rows = np.zeros((6, 4))
    rows[0, 0], rows[1, 2], rows[2, 3] = 1.0, 1.0, 1.0
    rows[3, :2], rows[4, 2], rows[5, 3] = [-1.0, 1.0], 1.0, 1.0
    problem = problem_of(np.eye(4), rows, [-1.0, -0.2, 0.1, 0.0], 0.5)
    assert problem.free_velocity[3] > 0.0
    for selection in (RankSelection(), RankSelection(enabled=True)):
        impulse, info = solved(solver_of(rank_selection=selection, warm_start=False), problem)
        assert info.answered_by == "lemke"
        np.testing.assert_allclose((rows @ problem.after(impulse))[::3], 0.0, atol=1e-9)
    never = solver_of(rank_selection=RankSelection(enabled=True, passes=0))
    assert never.solve(problem, np.zeros(6)).answered_by == "lemke (raw)"


def test_regularisation_shares_a_load_equally_and_its_effect_is_taken_out(problem_of, solver_of):
    solver = solver_of(regularisation=Regularisation(weight=1e-4), warm_start=False)
    problem = problem_of(np.eye(3), np.tile(np.eye(3), (4, 1)), [-1.0, 0.0, 0.0], 0.0)
    impulse, info = solved(solver, problem)
    assert info.answered_by == "lemke"
    np.testing.assert_allclose(impulse[0::3], 0.25, rtol=rounding(64) / 1e-4)
    assert problem.after(impulse)[0] == pytest.approx(0.0, abs=1e-12)
    assert info.residuals.compliance == 0.0


def test_proximal_steps_take_the_compliance_out_where_the_modes_alone_do_not(
    problem_of, solver_of, monkeypatch
):
    monkeypatch.setattr("corekit_lcp.attempts.solve_modes", lambda *_: ((INF, INF, INF, INF, INF), True))
    problem = problem_of(np.eye(3), np.tile(np.eye(3), (4, 1)), [-1.0, 0.0, 0.0], 0.0)
    of_paper = {"rows": "scaled-normals", "weight": 1e-4}
    patient = solver_of(regularisation=Regularisation(corrections=30, **of_paper), warm_start=False)
    impulse, info = solved(patient, problem)
    np.testing.assert_allclose(impulse[0::3], 0.25, atol=1e-6)
    assert 0.0 < info.residuals.compliance <= 1e-8
    hasty = solver_of(regularisation=Regularisation(corrections=0, **of_paper), warm_start=False)
    info = hasty.solve(problem, np.zeros(12))
    assert (info.answered_by, info.residuals.compliance) == ("lemke (raw)", 0.0)


def test_induced_speed_is_the_compliance_times_the_impulse(problem_of, solver_of):
    # four equal contacts, (4 + ε)·p = 1: each one yields by ε·p
    solver = solver_of(
        rank_selection=RankSelection(enabled=False),
        equilibration=Equilibration(enabled=False),
        regularisation=Regularisation(weight=1e-3, corrections=0),
        tolerance=1e-2,
        warm_start=False,
    )
    problem = problem_of(np.eye(3), np.tile(np.eye(3), (4, 1)), [-1.0, 0.0, 0.0], 0.0)
    impulse = np.zeros(12)
    info = solver.solve(problem, impulse)
    assert info.answered_by == "lemke"
    np.testing.assert_allclose(impulse[0::3], 1 / 4.001, rtol=1e-12)
    assert info.residuals.compliance == pytest.approx(1e-3 / 4.001, rel=1e-12)
    assert problem.after(impulse)[0] == pytest.approx(-1e-3 / 4.001, rel=1e-9)


@pytest.mark.parametrize(
    ("bounds", "velocity", "expected"),
    [
        ((0.0, INF), -1.0, 1.0),  # blocks
        ((0.0, INF), 1.0, 0.0),  # releases
        ((-INF, 0.25), -1.0, 0.25),  # pulls at its bound
        ((-INF, 0.25), 1.0, -1.0),
        ((-0.4, 0.4), 0.1, -0.1),  # holds
        ((-0.4, 0.4), 1.0, -0.4),  # stalls
        ((-0.4, 0.4), -1.0, 0.4),
        ((-INF, INF), 0.7, -0.7),  # rigid
        ((-INF, INF), -0.7, 0.7),
        ((0.2, 0.2), 5.0, 0.2),  # a given impulse
    ],
)
def test_bounded_row_of_unit_mass(bounds, velocity, expected, problem_of, solver_of):
    problem = problem_of(np.eye(1), np.eye(1), [velocity], bounds=[bounds])
    impulse, _ = solved(solver_of(), problem)
    assert impulse[0] == pytest.approx(expected, abs=1e-9)


@unhurried
@given(seed=st.integers(0, 10**6), width=st.sampled_from([2, 3]), contacts=st.integers(0, 4))
def test_bounded_rows_and_contacts_satisfy_their_laws(seed, width, contacts, problem_of, solver_of):
    rng = np.random.default_rng(seed)
    bounds = [(0.0, INF), (-INF, 0.1), (-0.3, 0.2), (-INF, INF)]
    size = contacts * width + len(bounds)
    root = rng.normal(size=(size + 2, size + 2))
    mass, rows = root @ root.T + np.eye(size + 2), rng.normal(size=(size, size + 2))
    problem = problem_of(mass, rows, rng.normal(size=size + 2), 0.4, width=width, bounds=bounds)
    # the option `tolerance` is relative to the speeds at which rows close, which 18,000 seeds put below 2·max|w₀|
    allowed = 3e-9 * np.abs(problem.free_velocity).max()
    impulse, _ = solved(solver_of(), problem, allowed)
    w = problem.delassus() @ impulse + problem.free_velocity
    for row, (low, high) in enumerate(bounds, start=contacts * width):
        assert low - 1e-10 <= impulse[row] <= high + 1e-10
        if impulse[row] > low + 1e-7:
            assert w[row] <= 1e-7
        if impulse[row] < high - 1e-7:
            assert w[row] >= -1e-7
    for c in range(contacts):
        at = c * width
        assert min(impulse[at], w[at]) == pytest.approx(0.0, abs=allowed)
        assert np.linalg.norm(impulse[at + 1 : at + width]) <= 0.4 * impulse[at] + allowed


def test_planar_contact_sticks_and_slides_exactly_at_the_friction_angle(problem_of, solver_of):
    for friction, pull, slip in [(0.5, 0.49, 0.0), (0.5, 0.6, 0.1)]:
        problem = problem_of(np.eye(2), np.eye(2), [-1.0, pull], friction, width=2)
        impulse, _ = solved(solver_of(), problem)
        assert problem.after(impulse)[1] == pytest.approx(slip, abs=1e-9)


def test_enumeration_gives_the_same_planar_answer(problem_of, solver_of):
    rng = np.random.default_rng(2)
    for _ in range(4):
        root = rng.normal(size=(6, 6))
        problem = problem_of(
            root @ root.T + np.eye(6), rng.normal(size=(4, 6)), rng.normal(size=6), 0.1, width=2
        )
        ours, _ = solved(solver_of(), problem)
        other, _ = solved(solver_of(lcp_solver="enumeration", **RAW), problem)
        np.testing.assert_allclose(problem.after(ours), problem.after(other), atol=1e-8)


def test_no_rows_is_no_work(problem_of, solver_of):
    info = solver_of().solve(problem_of(np.eye(2), np.zeros((0, 2)), [1.0, 1.0]), np.zeros(0))
    assert info.status is Status.CONVERGED
