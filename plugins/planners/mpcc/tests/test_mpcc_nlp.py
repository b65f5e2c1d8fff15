"""Nonlinear programs over a horizon: derivatives, tapes and their cache, and solvers by name."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Literal

import casadi as ca
import numpy as np
import pytest

from corekit.data.arrays import Array
from corekit_mpcc.complementarity.problem import Family, Mpcc, Rows
from corekit_mpcc.complementarity.relaxed import relax
from corekit_mpcc.complementarity.solution import SolveOptions
from corekit_mpcc.complementarity.solve import PreparedMpcc
from corekit_mpcc.nlp import tape_cache
from corekit_mpcc.nlp.derivatives import derive_step_functions
from corekit_mpcc.nlp.horizon_program import HorizonProgram, build_horizon_program
from corekit_mpcc.nlp.tape import TapeFunction, build_tape
from corekit_mpcc.nlp.tape_kernel import OPERATIONS
from corekit_testing.rounding import rounding

STAGES = 4


def coupled() -> Mpcc:
    """Return a program with coupled steps, parameters, scales, rows at one end, and pairs."""
    x, before = ca.SX.sym("x", 3), ca.SX.sym("before", 3)
    shared, own = ca.SX.sym("shared", 2), ca.SX.sym("own", 1)
    return Mpcc(
        x=x,
        before=before,
        shared=shared,
        own=own,
        cost=own * ca.sumsqr(x - before) + ca.sin(shared[0] * x[0] * before[1]) + x[2] ** 3,
        rows=(
            Rows(name="step", expression=x[0] - before[0] - shared[1] * ca.exp(x[1]) * before[2], scale=3.0),
            Rows(name="first", expression=x[1] * before[0], low=-1, high=2, steps="first"),
            Rows(
                name="last",
                expression=ca.vertcat(x[0] * x[2], x[1]),
                low=-np.inf,
                high=[1.0, 2.0],
                steps="last",
            ),
        ),
        families=(Family(name="pair", first=x[0] * x[1] + before[2] ** 2, second=x[2], product_scale=2.0),),
        scale=[0.5, 1.0, 2.0],
        stages=STAGES,
    )


def flat(program: Mpcc, batched: Literal["never", "always"]) -> tuple[ca.Function, HorizonProgram]:
    """Return the scaled nonlinear program, written step by step and assembled by `HorizonProgram`."""
    step = relax(program, "scholtes")
    function = step.function
    row_mask = np.ones((STAGES, function.numel_out(1)), dtype=bool)
    for block in step.blocks:
        place = slice(block.start, block.start + block.size)
        row_mask[1:, place] &= block.steps != "first"
        row_mask[:-1, place] &= block.steps != "last"
    whole = build_horizon_program(derive_step_functions(function, batched), STAGES, row_mask)
    x, p = ca.SX.sym("x", 3 * STAGES), ca.SX.sym("p", whole.nlp["p"].numel())
    cost, rows = ca.SX(0), []
    before = p[2 + STAGES : 5 + STAGES]
    for k in range(STAGES):
        now = x[3 * k : 3 * k + 3]
        c, r = function(before, now, p[:2], p[2 + k], p[-1])
        cost, before = cost + c, now
        rows.append(r[np.flatnonzero(row_mask[k]).tolist()])
    return ca.Function("flat", [x, p], [cost, ca.vertcat(*rows)]), whole


@pytest.mark.parametrize("batched", ["never", "always"])
def test_derivatives_over_the_horizon_are_those_of_the_explicit_program(
    batched: Literal["never", "always"],
) -> None:
    written, whole = flat(coupled(), batched)
    x, p = ca.SX.sym("x", written.numel_in(0)), ca.SX.sym("p", written.numel_in(1))
    cost, rows = written(x, p)
    weight = ca.SX.sym("weight", rows.numel())
    lagrangian = 0.7 * cost + ca.dot(weight, rows)
    expected = ca.Function(
        "expected",
        [x, p, weight],
        [cost, rows, ca.gradient(cost, x), ca.jacobian(rows, x), ca.triu(ca.hessian(lagrangian, x)[0])],
    )
    draw = np.random.default_rng(0)
    at = [draw.normal(size=n) for n in (x.numel(), p.numel(), rows.numel())]
    found = ca.Function("found", [whole.nlp["x"], whole.nlp["p"]], [whole.nlp["f"], whole.nlp["g"]])(*at[:2])
    ours = [
        *found,
        whole.gradient(*at[:2])[1],
        whole.jacobian(*at[:2])[1],
        whole.hessian(*at[:2], 0.7, at[2]),
    ]
    for mine, theirs in zip(ours, expected(*at), strict=True):
        np.testing.assert_allclose(np.array(mine), np.array(theirs), rtol=1e-12, atol=1e-12)


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tape_cache, "cache_folder", lambda: tmp_path)
    return tmp_path / "mpcc"


def drawn(function: ca.Function, stages: int) -> list[Array]:
    draw = np.random.default_rng(1)
    return [draw.uniform(0.5, 1.5, size=(function.numel_in(i), stages)) for i in range(function.n_in())]


@pytest.mark.parametrize("stages", [1, STAGES, 300])
def test_tapes_equal_interpreted_steps_and_are_stored_once(fresh_cache: Path, stages: int) -> None:
    step = relax(coupled(), "fischer-burmeister").function
    plain = derive_step_functions(step, "never")
    first = derive_step_functions(step, "always")
    assert (plain.note, first.note) == ("interpreted", "all steps at once")
    (file,) = fresh_cache.iterdir()
    written = file.stat().st_mtime_ns, file.read_bytes()
    again = derive_step_functions(step, "always")
    assert file.read_bytes() == written[1]
    for name in ("value", "gradient", "jacobian", "hessian"):
        theirs = getattr(plain, name)
        at = drawn(theirs, stages)
        for functions in (first, again):
            mapped = getattr(functions, name).map(stages)
            for mine, expected in zip(mapped.call(at), theirs.map(stages).call(at), strict=True):
                assert mine.sparsity() == expected.sparsity()
                # CasADi uses another mathematics library; the graph has a depth of about 200 operations
                wanted = np.array(expected)
                rounded = rounding(200, np.abs(wanted).max(initial=1.0))
                np.testing.assert_allclose(np.array(mine), wanted, rtol=0, atol=rounded)


def every_operation() -> ca.Function:
    x = ca.SX.sym("x", 3)
    a, b, c = ca.vertsplit(x)
    unary = [
        -a, a**2, 2 * a, 1 / a, ca.sqrt(a), ca.sin(a), ca.cos(a), ca.tan(a), ca.asin(a / 4), ca.acos(a / 4), ca.atan(a),
        ca.sinh(a), ca.cosh(a), ca.tanh(a), ca.asinh(a), ca.acosh(1 + a), ca.atanh(a / 4), ca.exp(a), ca.log(a),
        ca.expm1(a), ca.log1p(a), ca.erf(a), ca.fabs(c), ca.sign(c), ca.sign(0 * c), ca.floor(3 * c), ca.ceil(3 * c),
        ca.logic_not(c), ca.logic_not(0 * c), ca.SX(1.5),
    ]  # fmt: skip
    binary = [
        a + b, a - b, a * b, a / b, a**b, a**1.7, ca.atan2(c, a), ca.hypot(a, c), ca.fmod(3 * c, a), ca.fmin(a, b),
        ca.fmax(a, b), ca.copysign(a, c), a < b, b < a, a <= a, a <= b, ca.eq(a, b), ca.eq(a, a), ca.ne(a, b),
        ca.logic_and(a, 0 * b), ca.logic_and(a, b), ca.logic_or(0 * a, b), ca.logic_or(0 * a, 0 * b),
        ca.if_else(c < 0, a, b), x,
    ]  # fmt: skip
    return ca.Function("f", [x], [ca.vertcat(*unary), ca.vertcat(*binary)])


def test_every_operation_of_a_tape_is_that_of_casadi() -> None:
    plain = every_operation()
    tape = build_tape(plain)
    used = {OPERATIONS[code] for code in tape.code}
    assert set(OPERATIONS) - used == {"ASSIGN"}  # CasADi removes it
    draw = np.random.default_rng(3)
    at = np.vstack([draw.uniform(0.1, 2.0, size=(2, 50)), draw.uniform(-2.0, 2.0, size=(1, 50))])
    for mine, expected in zip(
        TapeFunction("f", tape).map(50).call([at]), plain.map(50).call([at]), strict=True
    ):
        # one operation after a product: two roundings, and the last bit of another library
        np.testing.assert_allclose(np.array(mine), np.array(expected), rtol=rounding(4), atol=rounding(4))


def test_an_unsupported_operation_is_interpreted_and_reported(fresh_cache: Path) -> None:
    x = ca.SX.sym("x", 1)
    made = derive_step_functions(relax(Mpcc(x=x, cost=ca.erfinv(x)), "scholtes").function, "always")
    assert made.note.startswith("interpreted: CasADi's operation")
    assert isinstance(made.value, ca.Function)
    assert not fresh_cache.exists()


@pytest.mark.parametrize("damage", ["half", "place", "nothing"])
def test_a_damaged_file_is_replaced(fresh_cache: Path, damage: str) -> None:
    step = relax(coupled(), "scholtes").function
    derive_step_functions(step, "always")
    (file,) = fresh_cache.iterdir()
    whole = file.read_bytes()
    if damage == "half":
        file.write_bytes(whole[: len(whole) // 2])
    elif damage == "nothing":
        file.write_bytes(b"")
    else:
        with np.load(file) as kept:
            arrays = dict(kept)
        arrays["hessian.first"][-1] = 10**6
        np.savez(file, **arrays)
    assert tape_cache.load_tapes(step.serialize(), ("hessian",)) is None
    derive_step_functions(step, "always")
    with np.load(file) as kept:
        assert kept["hessian.first"].max() < 10**6
    assert [path.name for path in fresh_cache.iterdir()] == [file.name]


def test_the_cache_keeps_the_most_recently_used_files(
    fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tape_cache, "_MAX_FILES", 2)
    now = time.time()
    fresh_cache.mkdir()
    for name, hours in (("a", 5.0), ("b", 0.5), ("c", 9.0), ("d", 2.0)):
        (fresh_cache / f"{name}.npz").touch()
        os.utime(fresh_cache / f"{name}.npz", (now - 3600 * hours, now - 3600 * hours))
    x = ca.SX.sym("x", 1)
    derive_step_functions(relax(Mpcc(x=x, cost=x**2), "scholtes").function, "always")
    left = {path.name for path in fresh_cache.iterdir()}
    # the new file and the two most recently used; files of the last hour stay, another process may use them
    assert {"b.npz", "d.npz"} < left and len(left) == 3


def test_a_read_only_folder_disables_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(tape_cache, "cache_folder", lambda: tmp_path / "file")
    x = ca.SX.sym("x", 1)
    assert (
        derive_step_functions(relax(Mpcc(x=x, cost=x**2), "scholtes").function, "always").note
        == "all steps at once"
    )


@pytest.mark.parametrize("backend", ["ipopt", "sqpmethod", "fatrop", "uno"])
def test_every_solver_finds_the_point_nearest_to_a_target_on_the_corner(backend: str) -> None:
    # min (x − 1)² + (y − 2)² on 0 ≤ x ⊥ y ≥ 0: (0, 2), and (1, 0) is the worse corner
    v = ca.SX.sym("v", 2)
    family = Family(name="corner", first=v[0], second=v[1])
    program = Mpcc(x=v, cost=(v[0] - 1) ** 2 + (v[1] - 2) ** 2, families=(family,))
    prepared = PreparedMpcc(program, "fischer-burmeister", "always")
    options = SolveOptions(
        backend=backend, schedule="homotopy", final_relaxation=1e-8, tolerance=1e-8, polish="always"
    )
    answer = prepared.solve(np.array([0.1, 1.0]), options=options)
    assert answer.outcome.solved, answer.attempts
    np.testing.assert_allclose(answer.x[0], [0.0, 2.0], atol=1e-6)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    v = ca.SX.sym("v", 2)
    program = Mpcc(x=v, cost=ca.sumsqr(v - 1), families=(Family(name="corner", first=v[0], second=v[1]),))
    for backend in ("ipopt", "sqpmethod", "fatrop", "uno"):
        PreparedMpcc(program).solve(np.ones(2), options=SolveOptions(backend=backend, iterations=30))
    printed = capfd.readouterr()
    assert printed.out + printed.err == "", os.linesep
