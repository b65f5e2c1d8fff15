"""Whether another mode is cheaper nearby: branches with pairs decided wrongly by a coarse relaxation."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from corekit.data.arrays import Array
from corekit.data.status import Status
from corekit.errors import ConfigError
from corekit_mpcc.complementarity.problem import Family, Mpcc, Rows
from corekit_mpcc.complementarity.solution import MpccSolution, SolveOptions
from corekit_mpcc.complementarity.solve import PreparedMpcc, solve
from corekit_mpcc.config import MpccConfig, SearchOptions
from corekit_mpcc.planner import IpoptMpcc
from corekit_mpcc.task import Bounds, Contact, Horizon, Rotation, Target


def solved(program: Mpcc, start: list[float], *, check_modes: bool, scale: float = 1.0) -> MpccSolution:
    """Solve with products up to 3, so that the relaxed optimum decides by its smaller sides alone."""
    options = SolveOptions(
        schedule="direct",
        final_relaxation=3.0,
        polish="always",
        check_modes=check_modes,
        tolerance=1e-8,
        objective_scale=scale,
    )
    return solve(program, np.array(start), options=options)


def misled(unit: float = 1.0) -> Mpcc:
    """Return min (x − 1)² + (y − 2·x·p)² + (p − 1)² + (q − 1.1)² with 0 ≤ x ⊥ y ≥ 0, 0 ≤ p ⊥ q ≥ 0.

    Relaxed, x = 1, y = 2, p = 1, q = 1.1: the smaller sides say x = p = 0, whose optimum (0, 0, 0, 1.1) costs 2. There
    x and y vanish both; with y = 0 in place of x it costs 1 at (1, 0, 0, 1.1).
    """
    v = ca.SX.sym("v", 4)
    x, y, p, q = ca.vertsplit(v)
    cost = (x - 1) ** 2 + (y - 2 * x * p) ** 2 + (p - 1) ** 2 + (q - 1.1) ** 2
    pairs = (Family(name="one", first=x, second=y), Family(name="two", first=p, second=q))
    return Mpcc(x=v, cost=unit * cost, families=pairs)


def turned(search: SearchOptions) -> MpccConfig:
    """Return the task of a plate that turns a ball."""
    return MpccConfig(
        object="ball",
        target=Target(rotation=Rotation(axis=(0.0, 1.0, 0.0), angle=0.6)),
        contacts=(Contact(body="plate", frame="plate"),),
        friction=0.6,
        directions=6,
        horizon=Horizon(duration=1.0, steps=8),
        bounds=Bounds(coordinate=(-0.5, 0.5), normal_force=(0.0, 10.0)),
        search=search,
    )


def test_a_cheaper_mode_at_the_point_of_a_branch_is_followed() -> None:
    start = [0.9, 1.8, 0.9, 1.0]
    decided, followed = (solved(misled(), start, check_modes=each) for each in (False, True))
    assert decided.cost == pytest.approx(2.0, abs=1e-6) and decided.gap is None
    assert decided.outcome.solved and followed.outcome.solved
    np.testing.assert_allclose(followed.x[0], [1.0, 0.0, 0.0, 1.1], atol=1e-5)
    assert followed.cost == pytest.approx(1.0, abs=1e-6)
    assert followed.gap == pytest.approx(0.0, abs=1e-6)
    assert [each.kind for each in followed.attempts] == ["relaxed", "branch", "open", "branch", "open"]


def test_a_point_that_is_not_stationary_whatever_its_modes_says_by_how_much() -> None:
    """(y − 2·x)² + (x − 1)² has 0 at (1, 2), where both sides are positive, and 1 at (0, 0) in the branch x = 0."""
    v = ca.SX.sym("v", 2)
    program = Mpcc(
        x=v,
        cost=(v[1] - 2 * v[0]) ** 2 + (v[0] - 1) ** 2,
        families=(Family(name="corner", first=v[0], second=v[1]),),
    )
    answer = solved(program, [0.9, 1.8], check_modes=True)
    assert answer.certificate.certified
    np.testing.assert_allclose(answer.x[0], 0.0, atol=1e-5)
    assert answer.gap == pytest.approx(1.0, abs=1e-5)


def test_a_comparison_that_ends_at_a_dearer_point_tells_nothing() -> None:
    """(y − 2·x)² + (x − 1)² − 3·exp(−(1000·x)²) is −2 at (0, 0), and 0 near (1, 2), where the open program ends.

    That program contains (0, 0): its answer, 2 dearer, is another local one. Ipopt starts 0.01 inside the bounds.
    """
    v = ca.SX.sym("v", 2)
    well = 3.0 * ca.exp(-((1e3 * v[0]) ** 2))
    program = Mpcc(
        x=v,
        cost=(v[1] - 2 * v[0]) ** 2 + (v[0] - 1) ** 2 - well,
        families=(Family(name="corner", first=v[0], second=v[1]),),
    )
    answer = solved(program, [0.9, 1.8], check_modes=True)
    assert answer.certificate.certified and answer.cost == pytest.approx(-2.0, abs=1e-6)
    assert answer.attempts[-1].kind == "open" and answer.attempts[-1].cost == pytest.approx(0.0, abs=1e-6)
    assert answer.gap is None


def test_a_point_that_could_not_be_decided_is_not_compared() -> None:
    """Rows x = 1e-7, y = 2e-7 leave no point with x = 0: the relaxed one is certified, but of no branch."""
    v = ca.SX.sym("v", 3)
    program = Mpcc(
        x=v,
        cost=(v[2] - 1) ** 2,
        rows=(Rows(name="fixed", expression=v[:2], low=[1e-7, 2e-7], high=[1e-7, 2e-7], tolerance=1e-9),),
        families=(Family(name="corner", first=v[0], second=v[1]),),
    )
    answer = solved(program, [0.1, 0.1, 0.0], check_modes=True)
    assert answer.certificate.certified
    assert [each.kind for each in answer.attempts] == ["relaxed", "branch"]
    assert answer.gap is None


def test_a_cheaper_mode_is_followed_whatever_the_unit_of_the_cost() -> None:
    unit = 1e-7
    program = misled(unit)
    answer = solved(program, [0.9, 1.8, 0.9, 1.0], check_modes=True, scale=1.0 / unit)
    np.testing.assert_allclose(answer.x[0], [1.0, 0.0, 0.0, 1.1], atol=1e-5)
    assert answer.cost == pytest.approx(unit, rel=1e-6)


@pytest.mark.parametrize("ends", [{"rolling_last": True}, {"stages": "kinematic"}])
def test_modes_are_not_checked_where_the_last_program_rolls(ends) -> None:
    with pytest.raises(ConfigError, match=r"check_modes.*rolling"):
        SearchOptions(check_modes=True, **ends)
    SearchOptions(check_modes=True, rolling_first=False, **ends)
    SearchOptions(**ends)


def test_a_motion_that_only_starts_the_dynamic_program_has_the_rounder_edge(small, monkeypatch) -> None:
    class _Seen(Exception):
        pass

    def note(_self, _x, *, shared, relaxed_shared, **_more):
        raise _Seen(shared, relaxed_shared)

    monkeypatch.setattr(PreparedMpcc, "solve", note)

    def seen(**more) -> Array:
        task = turned(SearchOptions(batched="never", rolling_first=False, **more))
        with pytest.raises(_Seen) as found:
            IpoptMpcc(task).plan(small.task(), lambda _values: None)
        shared, relaxed = found.value.args
        np.testing.assert_array_equal(shared, relaxed)
        return shared

    rounder, plain = seen(smoothing=1e-12, seed_smoothing=1e-8), seen(smoothing=1e-12)
    np.testing.assert_array_equal(rounder, seen(smoothing=1e-8))
    assert (rounder != plain).any()


def test_a_plan_whose_modes_are_checked_says_so(small) -> None:
    """A plate that turns a ball by rolling: nothing that slips or lets go nearby is cheaper."""
    search = SearchOptions(
        batched="never",
        first_relaxation=1e-4,
        final_relaxation=1e-4,
        check_modes=True,
        smoothing=1e-12,
        seed_smoothing=1e-8,
    )
    plan, info = IpoptMpcc(turned(search)).plan(small.task(), lambda _values: None)
    assert info.status is Status.CONVERGED
    programs = [each["what"] for each in plan.solve_log[-1]["programs"]]
    assert programs[0] == "relaxed" and programs[-1] == "open"
    assert abs(plan.certificate["modes_nearby_cheaper_by"]) <= 1e-6 * max(1.0, plan.certificate["cost"])
    # products are 0, far below the relaxation that found the modes
    assert max(each["product"] for each in plan.certificate["complementarity"].values()) <= 1e-9
