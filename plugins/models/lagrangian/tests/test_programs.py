"""Programs are kept by what the equations say: other numbers find them, other equations do not, damage is mended."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from corekit.compiled.store import _usable, code_folder
from corekit.data.state import State
from corekit.geometry.frames import Pose
from corekit_lagrangian import programs
from corekit_lagrangian.option_symbols import OptionSymbols
from corekit_lagrangian.programs import programs_of
from corekit_lagrangian.system import System


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty cache, of this process and of the user."""
    monkeypatch.setenv("COREKIT_CACHE", str(tmp_path))
    monkeypatch.setattr(programs, "_known", type(programs._known)())
    return code_folder() / "lagrangian"


@pytest.fixture
def written(monkeypatch):
    """How often equations were differentiated."""
    counted = []
    write = programs._write
    monkeypatch.setattr(programs, "_write", lambda *given: counted.append(1) or write(*given))
    return counted


def pendulum(power=1, frame="bob", moving=False):
    system = System("it", np.array([0.0, 0.0, -9.81]), Pose(), moving=moving)
    option = OptionSymbols(None)
    q, _ = system.coordinates("angle")
    length = ca.SX.sym("length")
    bob = [length * ca.sin(q), 0, -length * ca.cos(q) ** power]
    system.body(0.3, [1e-3] * 3, [0, 0, 0], ca.SX.eye(3))
    system.mass(0.2, bob)
    system.frame(frame, bob)
    symbols = ca.vertcat(option.symbols, length)
    return programs_of(system, symbols if system.base is None else ca.vertcat(symbols, system.base.axes))


def same(one, other):
    return one.terms == other.terms and all(
        np.array_equal(a, b, equal_nan=True)
        for name, program in one.programs.items()
        for a, b in zip(program, other.programs[name], strict=True)
    )


def test_equal_equations_are_differentiated_once(folder, written):
    first = pendulum()
    assert pendulum(frame="hand") is first  # a name is no part of them
    assert len(written) == 1
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("other", [{"power": 2}, {"moving": True}])
def test_other_equations_have_other_programs(folder, written, other):
    assert not same(pendulum(), pendulum(**other))
    assert len(written) == 2


def test_another_process_finds_the_same_numbers(folder, written, monkeypatch):
    first = pendulum()
    monkeypatch.setattr(programs, "_known", type(programs._known)())
    again = pendulum()
    assert again is not first
    assert same(again, first)
    assert len(written) == 1


def test_a_damaged_file_is_written_again(folder, written, monkeypatch):
    first = pendulum()
    (file,) = folder.iterdir()
    for damage in (b"", b"no archive", file.read_bytes()[:500]):
        monkeypatch.setattr(programs, "_known", type(programs._known)())
        file.write_bytes(damage)
        assert same(pendulum(), first)
    assert len(written) == 4


def test_programs_of_a_folder_that_others_may_write_to_are_not_read(folder, written, monkeypatch):
    """They are carried out as they are, like machine code."""
    first = pendulum()
    monkeypatch.setattr(programs, "_known", type(programs._known)())
    monkeypatch.setattr("corekit.compiled.store._usable", cache(_usable.__wrapped__))  # asked anew
    user = Path(os.environ["COREKIT_CACHE"])
    user.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="may be written by other users"):
        assert same(pendulum(), first)
    assert len(written) == 2
    assert len(list(folder.iterdir())) == 1


def test_models_that_share_a_program_do_not_share_work_space(make):
    """Two models with different options, asked in turns, answer as when asked alone."""
    long = make("pendulum", lengths=(0.5,), masses=(1.0,), damping=0.1)
    short = make("pendulum", lengths=(0.2,), masses=(1.0,), damping=0.1)
    state, found = State(np.array([0.4]), np.array([1.0]), np.zeros(0)), {}
    for model in (long, short, long, short):
        mass, force = model.new_mass_matrix(), np.zeros(1)
        model.compute_mass_and_force(state, np.zeros(1), mass, force)
        numbers = (float(mass.data[0, 0]), float(force[0]))
        assert found.setdefault(model, numbers) == numbers
    assert found[long][0] == pytest.approx((0.5 / 0.2) ** 2 * found[short][0], rel=1e-14)
