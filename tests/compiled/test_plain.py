"""Without numba's private parts kernels are kept by content all the same, and one line says so."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import pytest

from corekit.compiled.kernels import TESTED

PLAIN = {"COREKIT_COMPILER": "plain"}
OWN = {"COREKIT_COMPILER": ""}
UNTESTED = "import numba\nnumba.__version__ = '0.99.1'\n"


def test_equal_sources_share_code_and_an_edit_reaches_every_caller(ask):
    assert ask("here", **PLAIN) == (6.5, 0)
    assert ask("there", **PLAIN) == (6.5, 1)
    assert ask(factor=4.0, **PLAIN) == (12.5, 0)
    assert ask(**PLAIN) == (6.5, 1)


@pytest.mark.skipif(
    ".".join(numba.__version__.split(".")[:2]) not in TESTED, reason="with this numba there is one way"
)
def test_both_ways_keep_their_code_apart(ask):
    assert ask(**OWN) == (6.5, 0)
    assert ask(**PLAIN) == (6.5, 0)
    assert ask(**OWN) == (6.5, 1)


def run(code, folder, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "COREKIT_CACHE": str(folder), **OWN, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "environment", "why"),
    [("", PLAIN, "COREKIT_COMPILER=plain"), (UNTESTED, {}, "numba 0.99.1 is none of ")],
    ids=["asked", "untested"],
)
def test_one_line_says_once_why_numba_compiles_alone(before, environment, why, tmp_path):
    code = before + (
        "from corekit.compiled import compiled\n"
        "f, g = compiled(lambda x: x + 1.0), compiled(lambda x: x + 2.0)\n"
        "print(f(g(1.0)), 'corekit.compiled.internals' in __import__('sys').modules)\n"
    )
    done = run(code, tmp_path, **environment)
    assert done.stdout.split() == ["4.0", "False"], done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(why)


def test_a_compiler_that_is_not_known_is_refused_in_one_sentence(tmp_path):
    done = run(
        "from corekit.cli import main; raise SystemExit(main(['check', 'cusp/inclined-box']))",
        tmp_path, COREKIT_COMPILER="fast",
    )  # fmt: skip
    assert done.returncode == 2
    assert "COREKIT_COMPILER" in done.stderr
    assert "'fast'" in done.stderr
    assert "Traceback" not in done.stderr
