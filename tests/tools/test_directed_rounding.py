"""The rounding mode reaches every library, thread and process that a test computes with, and no text."""

import json
import multiprocessing
import os
import subprocess
import sys
import threading
import tomllib

import casadi
import numpy as np
import pytest
from scipy.linalg import solve_triangular

from corekit.compiled import compiled
from corekit_testing.rounding_mode import MODES, NEAREST, VARIABLE, WHY_NOT, enter, rounding_mode

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
TINY = 2.0**-100
PLANTED = """
import pytest

@pytest.mark.to_nearest("decimals")
def test_text():
    assert False

@pytest.mark.to_nearest("a library", "down")
def test_only_down():
    one = -1.0
    assert one + 2.0 ** -100 > -1.0

def test_sum():
    one = 1.0
    assert one + 2.0 ** -100 > 1.0
"""
SCRIPT = f"import numpy; print((numpy.ones(1) + {TINY!r})[0] > 1.0)"


@compiled
def add(first, second):
    return first + second


def by_casadi(first, second):
    x, y = casadi.SX.sym("x"), casadi.SX.sym("y")
    return float(casadi.Function("sum", [x, y], [x + y])(first, second))


SUMS = {
    "numpy": lambda x, y: float((np.array([x]) + y)[0]),
    "blas": lambda x, y: float(np.dot(np.array([x, y]), np.ones(2))),
    # row 2 of [1 0; −1 1]·z = (x, y): z₂ = y + x
    "lapack": lambda x, y: float(solve_triangular([[1.0, 0.0], [-1.0, 1.0]], [x, y], lower=True)[1]),
    "numba": add,
    "casadi": by_casadi,
}


@pytest.mark.parametrize("library", SUMS)
def test_a_sum_is_rounded_to_the_side_that_was_asked_for(library):
    """1 + 2⁻¹⁰⁰ and 1 − 2⁻¹⁰⁰ lie between 1 and its neighbours, 1 + ε and 1 − ε/2."""
    total, epsilon = SUMS[library], sys.float_info.epsilon
    found = {}
    for mode, number in {"nearest": NEAREST, **MODES}.items():
        with rounding_mode(number):
            found[mode] = total(1.0, TINY), total(1.0, -TINY)
    assert found == {
        "nearest": (1.0, 1.0),
        "up": (1.0 + epsilon, 1.0),
        "down": (1.0, 1.0 - epsilon / 2),
        "zero": (1.0, 1.0 - epsilon / 2),
    }


def test_a_thread_rounds_as_the_one_that_starts_it():
    found = []
    with rounding_mode(MODES["up"]):
        thread = threading.Thread(target=lambda: found.append(add(1.0, TINY) > 1.0))
        thread.start()
        thread.join()
    assert found == [True]


def report(queue):
    enter("up")
    # what it starts is told by its environment
    done = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT], capture_output=True, text=True, check=True, env=os.environ
    )
    text = "0.1, 2.3, 1e-320, 17.9e307"
    same = json.loads(f"[{text}]") == tomllib.loads(f"x = [{text}]")["x"]
    queue.put((done.stdout.strip(), same, json.loads(json.dumps(0.1)).hex(), os.environ[VARIABLE]))


def test_what_a_test_starts_rounds_as_it_does_and_text_is_read_to_nearest():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=report, args=(queue,))
    process.start()
    child, same, tenth, variable = queue.get(timeout=300)
    process.join()
    assert child == "True"
    assert same
    assert tenth == (0.1).hex()
    assert variable == "up"


def test_a_mode_that_is_none_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="no rounding mode 'upward'; there are"):
        enter("upward")


def test_a_marked_test_is_left_out_with_its_reason(tmp_path):
    (tmp_path / "test_planted.py").write_text(PLANTED)
    options = ("-p", "corekit_testing.directed_rounding", "-p", "no:cacheprovider", "--rounding", "up", "-rs")
    words = [sys.executable, "-m", "pytest", "--rootdir", tmp_path, *options, tmp_path]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "not rounded up: decimals" in done.stdout
    assert "2 passed, 1 skipped" in done.stdout
