"""The search: parameters, recovery, infeasible programs, time limits, warm starts and bad input."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corekit.data.status import Status
from corekit.errors import ConfigError
from corekit_mpcc.complementarity.nlp_layout import NlpLayout
from corekit_mpcc.complementarity.problem import Family, Mpcc, Rows
from corekit_mpcc.complementarity.relaxation_schedule import RelaxationSchedule
from corekit_mpcc.complementarity.relaxed import relax
from corekit_mpcc.complementarity.solution import SearchOutcome, SolveOptions
from corekit_mpcc.complementarity.solve import PreparedMpcc, solve

STEPS, H, GRAVITY = 25, 0.04, 9.81


def towards() -> Mpcc:
    """Return min (x − t)² + y², 0 ≤ y ⊥ y − x ≥ 0: t²/2 at x = y = t/2 for t > 0, else 0 at (t, 0)."""
    v, t = ca.SX.sym("v", 2), ca.SX.sym("t")
    family = Family(name="corner", first=v[1], second=v[1] - v[0])
    return Mpcc(x=v, shared=t, cost=(v[0] - t) ** 2 + v[1] ** 2, families=(family,))


@pytest.mark.parametrize("relaxation", ["scholtes", "fischer-burmeister", "exact-penalty"])
def test_one_prepared_program_serves_every_target(relaxation: str) -> None:
    prepared = PreparedMpcc(towards(), relaxation)
    options = SolveOptions(
        schedule="homotopy", first_relaxation=1.0, final_relaxation=1e-7, tolerance=1e-8, polish="always"
    )
    for t in (-3.0, -0.02, 0.02, 0.5, 7.0):
        answer = prepared.solve(np.array([0.1, 0.2]), shared=np.array([t]), options=options)
        assert answer.outcome.solved
        expected = [t / 2, t / 2] if t > 0 else [t, 0.0]
        np.testing.assert_allclose(answer.x[0], expected, atol=2e-5)
        assert answer.cost == pytest.approx(0.5 * max(t, 0.0) ** 2, abs=1e-6)


def falling() -> Mpcc:
    """Return a point mass above the ground, implicit Euler: z = z₋ + h·v, v = v₋ + h·(f − g), 0 ≤ z ⊥ f ≥ 0."""
    x, before = ca.SX.sym("x", 3), ca.SX.sym("before", 3)
    z, v, f = ca.vertsplit(x)
    rows = (
        Rows(name="place", expression=z - before[0] - H * v, unit="m"),
        Rows(name="motion", expression=v - before[1] - H * (f - GRAVITY), unit="m/s"),
    )
    family = Family(
        name="ground", first=z, second=f, first_scale=10.0, product_scale=10.0, units=("m", "N/kg")
    )
    return Mpcc(
        x=x,
        before=before,
        cost=ca.SX(0),
        rows=rows,
        families=(family,),
        scale=[0.1, 1, 10],
        stages=STEPS,
        names=("height", "speed", "force"),
    )


@pytest.mark.parametrize("relaxation", ["scholtes", "fischer-burmeister", "exact-penalty"])
def test_a_falling_mass_lands_as_in_time_stepping(relaxation: str) -> None:
    z, v, path = 1.0, 0.0, []
    for _ in range(STEPS):
        free = v - H * GRAVITY
        force = max(0.0, -(z + H * free) / H**2)
        v = free + H * force
        z += H * v
        path.append((z, v, force))
    prepared = PreparedMpcc(falling(), relaxation)
    options = SolveOptions(schedule="homotopy", first_relaxation=0.1, final_relaxation=1e-8, tolerance=1e-9)
    start = np.array([1.0, 0.0, 0.0])
    answer = prepared.solve(np.array([0.5, 0.0, 1.0]), start=start, options=options)
    assert answer.outcome.solved, (answer.outcome, answer.attempts)
    np.testing.assert_allclose(answer.x, path, atol=2e-4)
    assert answer.certificate.families["ground"].natural <= 1e-6


def test_contradictory_constraints_end_the_search_after_few_programs() -> None:
    v = ca.SX.sym("v", 2)
    rows = (Rows(name="both at one", expression=v - 1.0),)
    stated = Mpcc(x=v, cost=ca.sumsqr(v), rows=rows, families=(Family(name="pair", first=v[0], second=v[1]),))
    answer = solve(stated, np.array([0.5, 0.5]))
    # only complementarity is infeasible: the largest relaxation is feasible, the final one is not
    assert answer.outcome is SearchOutcome.INFEASIBLE and answer.outcome.status is Status.INFEASIBLE
    assert not answer.certificate.certified and answer.certificate.culprit
    assert len(answer.attempts) <= SolveOptions().attempts

    rows = (Rows(name="far", expression=v[0] + v[1], low=5.0, high=6.0),)
    stated = Mpcc(x=v, cost=ca.sumsqr(v), rows=rows, families=stated.families, high=1.0)
    for relaxation in ("scholtes", "fischer-burmeister", "exact-penalty"):
        answer = solve(stated, np.array([0.5, 0.5]), relaxation=relaxation)
        assert answer.outcome is SearchOutcome.INFEASIBLE
        assert len(answer.attempts) <= 3


@pytest.mark.parametrize(("relaxation", "is_solved"), [("scholtes", True), ("fischer-burmeister", False)])
def test_more_equations_than_unknowns_are_said_to_be_so(relaxation: str, is_solved: bool) -> None:
    """One row and one pair on one unknown: an equation for the pair is one too many, an inequality is not."""
    v = ca.SX.sym("v", 1)
    stated = Mpcc(
        x=v,
        cost=v**2,
        rows=(Rows(name="at one", expression=v - 1.0),),
        families=(Family(name="pair", first=v, second=v - 1.0),),
    )
    answer = solve(stated, np.array([0.5]), relaxation=relaxation)
    assert answer.outcome.solved == is_solved
    if not is_solved:
        assert answer.outcome is SearchOutcome.OVERDETERMINED
        assert "more equations than unknowns" in answer.outcome.value


def test_no_feasible_point_is_a_statement_about_the_points_nearby() -> None:
    """100·(x² − 1)² + x ≤ −0.9 holds at x = −1; near x = 1 the least violation is 1.9, and a search stays there."""
    v = ca.SX.sym("v", 2)
    row = Rows(name="left well", expression=100 * (v[0] ** 2 - 1) ** 2 + v[0] + 0.9, low=-1e3, high=0.0)
    family = Family(name="pair", first=v[1], second=v[1] + 1.0)
    stated = Mpcc(x=v, cost=ca.sumsqr(v), rows=(row,), families=(family,), low=[-2.0, 0.0], high=[2.0, 1.0])
    left, right = (solve(stated, np.array([x, 0.1])) for x in (-1.0, 1.0))
    assert left.outcome.solved
    assert right.outcome is SearchOutcome.INFEASIBLE
    assert "nearby" in right.outcome.value
    assert "near where the search began" in right.outcome.status.value


def test_a_time_limit_returns_the_best_certified_point() -> None:
    start = np.array([1.0, 0.0, 0.0])
    prepared = PreparedMpcc(falling())
    landed = prepared.solve(
        np.array([0.5, 0.0, 1.0]), start=start, options=SolveOptions(schedule="homotopy", tolerance=1e-9)
    )
    assert landed.certificate.certified
    limit = SolveOptions(time_limit=1e-9)
    late = prepared.solve(landed.x, start=start, options=limit)
    assert late.outcome is SearchOutcome.TIME_LIMIT and late.certificate.certified
    late = prepared.solve(np.array([0.5, 0.0, 1.0]), start=start, options=limit)
    assert late.outcome is SearchOutcome.TIME_LIMIT and not late.certificate.certified
    assert len(late.attempts) == 1 and late.attempts[0].iterations <= 1


def test_multipliers_and_a_small_barrier_make_a_warm_start() -> None:
    stated = towards()
    prepared = PreparedMpcc(stated)
    options = SolveOptions(schedule="direct", tolerance=1e-8)
    cold = prepared.solve(np.array([0.1, 0.2]), shared=np.array([1.0]), options=options)
    warm = prepared.solve(
        cold.x,
        shared=np.array([1.0 + 1e-4]),
        options=SolveOptions(schedule="direct", tolerance=1e-8, warm=True, barrier=1e-9),
        multipliers=cold.multipliers,
    )
    assert cold.outcome.solved and warm.outcome.solved
    assert warm.iterations <= cold.iterations // 3


def test_excluded_groups_give_the_branch_with_the_same_derivatives() -> None:
    v = ca.SX.sym("v", 2)
    family = Family(name="corner", first=v[0], second=v[1])
    rows = (Rows(name="shut", expression=v[1]),)
    prepared = PreparedMpcc(Mpcc(x=v, cost=(v[0] - 1) ** 2 + (v[1] - 2) ** 2, rows=rows, families=(family,)))
    begin = np.array([0.1, 1.0])
    branch = prepared.solve(begin, options=SolveOptions(excluded=frozenset({"corner"})))
    np.testing.assert_allclose(branch.x[0], [1.0, 0.0], atol=1e-6)
    assert set(branch.certificate.families) == set()
    whole = prepared.solve(begin, options=SolveOptions(excluded=frozenset({"shut"}), schedule="homotopy"))
    np.testing.assert_allclose(whole.x[0], [0.0, 2.0], atol=1e-5)


def test_the_progress_callback_gets_every_iteration_and_its_error_is_raised() -> None:
    told: list[float] = []
    prepared = PreparedMpcc(towards())
    answer = prepared.solve(np.ones(2), shared=np.ones(1), progress=lambda now: told.append(now["iteration"]))
    assert len(told) >= answer.iterations and told == sorted(told)

    class Stop(Exception):
        pass

    def stop(_now: object) -> None:
        raise Stop

    with pytest.raises(Stop):
        prepared.solve(np.ones(2), shared=np.ones(1), progress=stop)


def test_bad_input_is_reported() -> None:
    prepared = PreparedMpcc(falling())
    start = np.zeros(3)
    x = np.zeros((STEPS, 3))
    x[3, 1] = np.nan
    with pytest.raises(ConfigError, match=r"x0\[3, 1\].*finite"):
        prepared.solve(x, start=start)
    with pytest.raises(ConfigError, match=r"start.*shape"):
        prepared.solve(np.zeros(3), start=np.zeros(2))
    with pytest.raises(ConfigError, match="start"):
        prepared.solve(np.zeros(3))
    low = np.array([0.0, 5.0, 0.0])
    with pytest.raises(ConfigError, match="speed at step 0"):
        prepared.solve(np.zeros(3), start=start, low=low, high=np.ones(3))
    with pytest.raises(ConfigError, match="cieling"):
        prepared.solve(np.zeros(3), start=start, options=SolveOptions(excluded=frozenset({"cieling"})))
    with pytest.raises(ConfigError, match="one of scholtes"):
        PreparedMpcc(falling(), "sholtes")
    with pytest.raises(ConfigError, match="one of ipopt"):
        prepared.solve(np.zeros(3), start=start, options=SolveOptions(backend="ipot"))
    v, stranger = ca.SX.sym("v"), ca.SX.sym("stranger")
    with pytest.raises(ConfigError, match="stranger"):
        Mpcc(x=v, cost=v * stranger)


def test_a_non_finite_start_is_reported() -> None:
    v = ca.SX.sym("v")
    answer = solve(Mpcc(x=v, cost=ca.log(v)), np.array([-1.0]))
    assert answer.outcome is SearchOutcome.NON_FINITE
    assert "cost" in answer.certificate.culprit


@settings(max_examples=40, deadline=None)
@given(outcomes=st.lists(st.booleans(), min_size=1, max_size=60), infeasible=st.booleans())
@example(outcomes=[False, True, False, False, False, True, False, False, False, False], infeasible=True)
def test_the_schedule_ends_with_success_only_at_the_final_relaxation(
    outcomes: list[bool], infeasible: bool
) -> None:
    ladder = RelaxationSchedule(1e-2, 1e-7)
    last = (False, np.inf)
    for outcome in outcomes:
        if ladder.epsilon is None:
            break
        assert 1e-7 <= ladder.epsilon <= 1e4 * 1e-2 * (1 + 1e-9)
        last = (outcome, ladder.epsilon)
        ladder.record_attempt(success=outcome, infeasible=infeasible and not outcome)
    assert ladder.epsilon is not None or last == (True, 1e-7) or not last[0]
    for _ in range(60):
        ladder.record_attempt(success=False)
    assert ladder.epsilon is None


def test_the_schedule_backs_off_between_the_last_success_and_the_failure() -> None:
    ladder = RelaxationSchedule(1e-2, 1e-7)
    seen = []
    for success in (True, False, True, True, True):
        seen.append(ladder.epsilon)
        ladder.record_attempt(success=success)
    assert seen == pytest.approx([1e-2, 1e-4, 1e-3, 1e-5, 1e-7])
    assert ladder.epsilon is None


def test_a_point_with_two_vanishing_sides_is_certified_by_its_branch() -> None:
    # min x + y − z with z ≤ 4x, z ≤ 4y: relaxed optimum at x = y = √ε, both sides far above the tolerance
    v = ca.SX.sym("v", 3)
    rows = (Rows(name="below", expression=v[2] - 4 * v[:2], low=-np.inf),)
    stated = Mpcc(
        x=v, cost=v[0] + v[1] - v[2], rows=rows, families=(Family(name="pair", first=v[0], second=v[1]),)
    )
    begin = np.array([0.0, 1.0, 0.0])
    rough = solve(stated, begin, options=SolveOptions(polish="never"))
    # one iterate is certified and far better than the start, whose cost is 1
    assert rough.outcome is SearchOutcome.CERTIFIED and rough.certificate.certified and rough.cost < 0.1
    assert rough.attempts[-1].complementarity == pytest.approx(np.sqrt(1e-7), rel=0.05)
    answer = solve(stated, begin)
    assert answer.outcome.solved and answer.attempts[-1].kind == "branch"
    assert abs(answer.cost) < 1e-6


def test_multipliers_are_physical_for_all_scales() -> None:
    # min x² with x ≥ 1 and a bound y ≥ 2 on (y − 1)²: both multipliers are −2
    v = ca.SX.sym("v", 2)
    for row_scale, scale in ((1.0, 1.0), (100.0, [0.1, 10.0])):
        rows = (Rows(name="floor", expression=v[0], low=1.0, high=np.inf, scale=row_scale),)
        stated = Mpcc(x=v, cost=v[0] ** 2 + (v[1] - 1) ** 2, rows=rows, low=[-5.0, 2.0], scale=scale)
        prepared = PreparedMpcc(stated)
        answer = prepared.solve(np.array([3.0, 3.0]), options=SolveOptions(tolerance=1e-9))
        assert answer.multipliers["floor"] == pytest.approx(np.array([[-2.0]]), rel=1e-6)
        assert answer.multipliers["bounds"][0, 1] == pytest.approx(-2.0, rel=1e-6)
        step = relax(stated, "scholtes")
        layout = NlpLayout(stated, step, frozenset())
        draw = np.random.default_rng(2)
        given_ = draw.normal(size=2), draw.normal(size=1)
        back = layout.scaled_multipliers(layout.multipliers(*given_))
        np.testing.assert_allclose(back[0], given_[0])
        np.testing.assert_allclose(back[1], given_[1])
