"""Nonlinear programs over a horizon: derivatives, compilation and its cache, the solvers by name."""

from __future__ import annotations

import os
import time
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from corekit.testing.rounding import rounding
from corekit_mpcc.complementarity.answer import SolveOptions
from corekit_mpcc.complementarity.problem import Family, Mpcc, Rows
from corekit_mpcc.complementarity.relaxed import relax
from corekit_mpcc.complementarity.solve import PreparedMpcc
from corekit_mpcc.nlp import compiled
from corekit_mpcc.nlp.compiled import in_files
from corekit_mpcc.nlp.derivatives import step_functions
from corekit_mpcc.nlp.horizon import Horizon, horizon

STAGES = 4


def coupled() -> Mpcc:
    """A program with everything that a step may have: neighbours, parameters, scales, rows at one end, pairs."""
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
            Rows(name="first", expression=x[1] * before[0], low=-1, high=2, at="first"),
            Rows(
                name="last", expression=ca.vertcat(x[0] * x[2], x[1]), low=-np.inf, high=[1.0, 2.0], at="last"
            ),
        ),
        families=(Family(name="pair", first=x[0] * x[1] + before[2] ** 2, second=x[2], product_scale=2.0),),
        scale=[0.5, 1.0, 2.0],
        stages=STAGES,
    )


def flat(program: Mpcc) -> tuple[ca.Function, Horizon]:
    """The same scaled nonlinear program written out step by step, and ours."""
    step = relax(program, "scholtes")
    function = step.function
    taken = np.ones((STAGES, function.numel_out(1)), dtype=bool)
    for block in step.blocks:
        place = slice(block.start, block.start + block.size)
        taken[1:, place] &= block.at != "first"
        taken[:-1, place] &= block.at != "last"
    whole = horizon(step_functions(function, "never", print, ""), STAGES, taken)
    x, p = ca.SX.sym("x", 3 * STAGES), ca.SX.sym("p", whole.nlp["p"].numel())
    cost, rows = ca.SX(0), []
    before = p[2 + STAGES : 5 + STAGES]
    for k in range(STAGES):
        now = x[3 * k : 3 * k + 3]
        c, r = function(before, now, p[:2], p[2 + k], p[-1])
        cost, before = cost + c, now
        rows.append(r[np.flatnonzero(taken[k]).tolist()])
    return ca.Function("flat", [x, p], [cost, ca.vertcat(*rows)]), whole


def test_derivatives_over_the_horizon_are_those_of_the_program_written_out() -> None:
    written, whole = flat(coupled())
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
    monkeypatch.setenv("COREKIT_CACHE", str(tmp_path))
    monkeypatch.setattr(compiled, "_ANNOUNCED", 0)
    return tmp_path / "mpcc"


@pytest.mark.skipif(compiled.shutil.which("gcc") is None, reason="no gcc to compile with")
def test_compiled_steps_equal_interpreted_ones_and_are_compiled_once(fresh_cache: Path) -> None:
    step = relax(coupled(), "fischer-burmeister").function
    told: list[str] = []
    plain = step_functions(step, "never", told.append, "step")
    assert told == []
    first = step_functions(step, "always", told.append, "step")
    assert first.note.startswith("compiled in") and len(told) == 2 and "once" in told[0]
    again = step_functions(step, "always", told.append, "step")
    assert again.note == "compiled before" and len(told) == 2
    draw = np.random.default_rng(1)
    for name in ("value", "gradient", "jacobian", "hessian"):
        theirs = getattr(plain, name)
        at = [draw.uniform(0.5, 1.5, size=theirs.size_in(i)) for i in range(theirs.n_in())]
        for functions in (first, again):
            for mine, expected in zip(getattr(functions, name).call(at), theirs.call(at), strict=True):
                assert mine.sparsity() == expected.sparsity()
                # a compiler may fuse products and sums; the worst place of the graph is some 200 operations deep
                wanted = np.array(expected)
                rounded = rounding(200, np.abs(wanted).max(initial=1.0))
                np.testing.assert_allclose(np.array(mine), wanted, rtol=0, atol=rounded)


@pytest.mark.skipif(compiled.shutil.which("gcc") is None, reason="no gcc to compile with")
def test_a_damaged_library_is_compiled_again(fresh_cache: Path) -> None:
    x = ca.SX.sym("x", 1)
    step = relax(Mpcc(x=x, cost=x**2), "scholtes").function
    step_functions(step, "always", print, "step")
    (folder,) = fresh_cache.iterdir()
    (folder / "hessian.so").unlink()
    (folder / "hessian.so").write_bytes(b"half a file")
    told: list[str] = []
    assert step_functions(step, "always", told.append, "step").note.startswith("compiled in")
    assert not list(folder.glob("tmp*"))


def test_without_a_compiler_steps_are_interpreted_and_it_is_said(
    fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled.shutil, "which", lambda _name: None)
    told: list[str] = []
    made = step_functions(relax(coupled(), "scholtes").function, "always", told.append, "arm")
    assert made.note.startswith("interpreted: no C compiler")
    assert len(told) == 1 and "interpreted" in told[0] and told[0].startswith("arm")


def test_a_body_cut_into_files_keeps_every_statement_once_and_in_order() -> None:
    x = ca.SX.sym("x", 40)
    y = x
    for _ in range(3):
        y = ca.sin(y) + y * ca.vertcat(y[1:], y[0])
    generator = ca.CodeGenerator("f.c", {"avoid_stack": True})
    generator.add(ca.Function("f", [x], [y]))
    code = generator.dump()
    first, *others = in_files(code, "f", 50, 3)
    assert len(others) > 2
    assert all(other.count("_piece_") <= 3 for other in others)

    def statements(text: str) -> list[str]:
        return [line for line in text.splitlines() if line.startswith(("  w[", "  if (res"))]

    assert [line for other in others for line in statements(other)] == statements(code)
    calls = [line.strip() for line in first.splitlines() if line.startswith("  f_piece_")]
    assert calls == [f"f_piece_{i}(arg, res, w);" for i in range(len(calls))]
    assert statements(first) == []


@pytest.mark.skipif(compiled.shutil.which("gcc") is None, reason="no gcc to compile with")
def test_a_function_cut_into_files_is_the_same_function(
    fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "_STATEMENTS", 20)
    monkeypatch.setattr(compiled, "_FUNCTIONS", 2)
    x = ca.SX.sym("x", 12)
    y = x
    for _ in range(3):  # squares and extrema bring helpers, which every file needs and only one may show
        y = ca.fmax(ca.sin(y), y * ca.vertcat(y[1:], y[0]) ** 2)
    plain = ca.Function("f", [x], [y, ca.sumsqr(y)])
    (made,), _ = compiled.compile_functions("key", [plain], print, "f")
    at = np.linspace(0.1, 2.0, 12)
    for mine, expected in zip(made.call([at]), plain.call([at]), strict=True):
        # three times y·y² trebles what is rounded
        np.testing.assert_allclose(np.array(mine), np.array(expected), rtol=rounding(12 + 3 * 8, 3.0**3))


@pytest.mark.skipif(compiled.shutil.which("gcc") is None, reason="no gcc to compile with")
def test_of_many_kept_programs_those_used_last_stay(
    fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "_KEPT_FOLDERS", 2)
    now = time.time()
    for name, hours in (("a", 5), ("b", 0.5), ("c", 9), ("d", 2)):
        (fresh_cache / name).mkdir(parents=True)
        os.utime(fresh_cache / name, (now - 3600 * hours, now - 3600 * hours))
    x = ca.SX.sym("x", 1)
    compiled.compile_functions("key", [ca.Function("f", [x], [x**2])], print, "f")
    # the new one and the youngest; none that another process may have made within the hour goes
    assert {"a", "c", "d"}.isdisjoint(path.name for path in fresh_cache.iterdir())
    assert (fresh_cache / "b").is_dir() and len(list(fresh_cache.iterdir())) == 2


@pytest.mark.parametrize("backend", ["ipopt", "sqpmethod", "fatrop", "uno"])
def test_every_solver_finds_the_point_nearest_to_a_target_on_the_corner(backend: str) -> None:
    # min (x − 1)² + (y − 2)² on 0 ≤ x ⊥ y ≥ 0: (0, 2), and (1, 0) is the worse corner
    v = ca.SX.sym("v", 2)
    family = Family(name="corner", first=v[0], second=v[1])
    program = Mpcc(x=v, cost=(v[0] - 1) ** 2 + (v[1] - 2) ** 2, families=(family,))
    prepared = PreparedMpcc(program, "fischer-burmeister")
    options = SolveOptions(backend=backend, schedule="homotopy", final=1e-8, tolerance=1e-8, polish="always")
    answer = prepared.solve(np.array([0.1, 1.0]), options=options)
    assert answer.ending.solved, answer.trail
    np.testing.assert_allclose(answer.x[0], [0.0, 2.0], atol=1e-6)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    v = ca.SX.sym("v", 2)
    program = Mpcc(x=v, cost=ca.sumsqr(v - 1), families=(Family(name="corner", first=v[0], second=v[1]),))
    for backend in ("ipopt", "sqpmethod", "fatrop", "uno"):
        PreparedMpcc(program).solve(np.ones(2), options=SolveOptions(backend=backend, iterations=30))
    told = capfd.readouterr()
    assert told.out + told.err == "", os.linesep
