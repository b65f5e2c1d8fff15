"""Certificates against their definitions in NumPy."""

from __future__ import annotations

import casadi as ca
import numpy as np
from attrs import astuple
from hypothesis import given, settings
from hypothesis import strategies as st

from corekit_mpcc.complementarity.certificate import CertificateSummary
from corekit_mpcc.complementarity.certifier import Certifier
from corekit_mpcc.complementarity.problem import Family, Mpcc, Rows
from corekit_mpcc.complementarity.search_input import SearchInput
from corekit_mpcc.complementarity.solution import SolveOptions
from corekit_mpcc.complementarity.solve import PreparedMpcc
from corekit_testing.rounding import rounding

STAGES = 3
TOLERANCE = 1e-6


def made() -> PreparedMpcc:
    x, before = ca.SX.sym("x", 3), ca.SX.sym("before", 3)
    shared, own = ca.SX.sym("shared", 1), ca.SX.sym("own", 1)
    program = Mpcc(
        x=x,
        before=before,
        shared=shared,
        own=own,
        cost=own * x[0] ** 2,
        rows=(
            Rows(name="sum", expression=x[0] - before[0] - shared * x[2], low=-1.0, high=0.5, scale=100.0),
            Rows(name="end", expression=x[1] * x[2], steps="last", tolerance=1e-3),
        ),
        families=(
            Family(name="contact", first=x[1] - x[0], second=x[2], first_scale=1e3, product_scale=1e4),
            Family(name="other", first=ca.vertcat(x[0], x[1]), second=ca.vertcat(x[2], x[2]), tolerance=1e-2),
        ),
        low=[-1, -2, -3],
        high=[1, 2, 3],
        scale=[0.1, 1.0, 10.0],
        stages=STAGES,
    )
    return PreparedMpcc(program)


PREPARED = made()


def verdict(prepared: PreparedMpcc, x: np.ndarray, **parameters: np.ndarray) -> CertificateSummary:
    """Return the summary that the search computes for every iterate."""
    program = prepared.program
    given_ = {name: parameters.get(name) for name in ("shared", "own", "start")}
    return Certifier(program).summarise(SearchInput(program, x, **given_, low=None, high=None))


NUMBERS = st.lists(st.floats(-4, 4), min_size=9, max_size=9).map(lambda v: np.array(v).reshape(3, 3))


@settings(max_examples=60, deadline=None)
@given(x=NUMBERS, shared=st.floats(-2, 2), start=st.floats(-2, 2))
def test_a_certificate_agrees_with_its_definition(x: np.ndarray, shared: float, start: float) -> None:
    own = np.array([[1.0], [2.0], [0.5]])
    told = PREPARED.certificate(x, shared=np.array([shared]), own=own, start=np.array([start, 0, 0]))
    a, b, c = x.T
    step = a - np.concatenate([[start], a[:-1]]) - shared * c
    contact, other = np.minimum(b - a, c), np.minimum(np.stack([a, b]), c)
    rows = {"sum": np.maximum(np.maximum(-1 - step, step - 0.5), 0).max(), "end": abs(b[-1] * c[-1])}
    outside = np.maximum(np.abs(x) - [1, 2, 3], 0)
    assert np.isclose(told.cost, own[:, 0] @ a**2)
    for name, value in rows.items():
        assert np.isclose(told.rows[name][0], value, atol=1e-12)
    assert np.isclose(told.families["contact"].natural, np.abs(contact).max())
    assert np.isclose(told.families["other"].natural, np.abs(other).max())
    assert np.isclose(told.families["contact"].product, np.abs((b - a) * c).max())
    assert np.isclose(told.families["contact"].second_negative, max(0, -c.min()))
    assert np.isclose(told.bounds, outside.max())
    shares = [rows["sum"] / TOLERANCE, rows["end"] / 1e-3, np.abs(contact).max() / TOLERANCE]
    shares += [np.abs(other).max() / 1e-2, (outside / [0.1, 1, 10]).max() / TOLERANCE]
    assert np.isclose(told.worst, max(shares))
    assert told.certified == (max(shares) <= 1.0)
    quick = verdict(PREPARED, x, shared=np.array([shared]), own=own, start=np.array([start, 0, 0]))
    slow = CertificateSummary(told.cost, told.infeasibility, told.complementarity, told.worst)
    # the two divide by tolerances in different places
    np.testing.assert_allclose(astuple(quick), astuple(slow), rtol=rounding(4), atol=0)


@settings(max_examples=40, deadline=None)
@given(
    entry=st.integers(0, 8),
    size=st.floats(2.1 * TOLERANCE, 1e-2),
    sign=st.sampled_from([-1.0, 1.0]),
)
def test_no_point_with_an_error_above_the_tolerance_is_certified(
    entry: int, size: float, sign: float
) -> None:
    # force 0.4 and gap 0 determine the point: a change of any entry violates a row, a sign or a pair
    x, before = ca.SX.sym("x", 3), ca.SX.sym("before", 3)
    program = Mpcc(
        x=x,
        before=before,
        cost=ca.SX(0),
        rows=(
            Rows(name="move", expression=x[0] - before[0] - x[1]),
            Rows(name="force", expression=x[2] - 0.4),
        ),
        families=(Family(name="contact", first=x[1], second=x[2], first_scale=1e-3),),
        stages=STAGES,
    )
    prepared = PreparedMpcc(program)
    point = np.tile([1.0, 0.0, 0.4], (STAGES, 1))
    start = np.array([1.0, 0, 0])
    assert prepared.certificate(point, start=start).certified
    assert verdict(prepared, point, start=start).certified
    point.reshape(-1)[entry] += sign * size
    assert not prepared.certificate(point, start=start).certified
    assert not verdict(prepared, point, start=start).certified


def test_nan_is_named_and_never_certified() -> None:
    x = ca.SX.sym("x", 2)
    family = Family(name="root", first=ca.sqrt(x[0]), second=x[1])
    program = Mpcc(x=x, cost=ca.log(x[1]), families=(family,))
    told = PreparedMpcc(program).certificate(np.array([-1.0, 0.0]))
    assert not told.certified and not told.finite
    assert not verdict(PreparedMpcc(program), np.array([-1.0, 0.0])).certified
    assert told.culprit.startswith(("root", "cost"))


def test_the_solution_has_the_certificate_of_its_point() -> None:
    own, start = np.ones((STAGES, 1)), np.array([0.5, 0, 0])
    given_ = {"shared": np.array([0.3]), "own": own, "start": start}
    answer = PREPARED.solve(
        np.full((STAGES, 3), 0.3), options=SolveOptions(final_relaxation=1e-9, polish="always"), **given_
    )
    assert answer.outcome.solved, answer.attempts
    assert PREPARED.certificate(answer.x, **given_) == answer.certificate
    a, b, c = answer.x.T
    assert np.abs(np.minimum(b - a, c)).max() <= TOLERANCE and np.abs(np.minimum(a, c)).max() <= 1e-2
