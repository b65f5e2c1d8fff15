"""A package with kernels that a new process calls."""

from __future__ import annotations

import os

import pytest

CALLER = """
from corekit.compiled import compiled
from fake_kernels import parts
from fake_kernels.parts import part

@compiled
def whole(x):
    return part(x) + parts.SHIFT
"""
PART = """
from corekit.compiled import compiled

SHIFT = {shift}

@compiled
def part(x):
    return {factor} * x
"""
ASK = "from fake_kernels.caller import whole\nprint(whole(3.0), sum(whole.stats.cache_hits.values()))\n"


@pytest.fixture
def said():
    """What each process that `ask` started wrote to its error stream."""
    return []


@pytest.fixture
def ask(tmp_path, said, forked):
    """Write the package into a folder, call its kernel in a new process: the value and how often it was kept."""

    def asked(folder="here", *, factor=2.0, shift=0.5, cache="cache", **environment):
        package = tmp_path / folder / "fake_kernels"
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").touch()
        sources = {"asking": ASK, "caller": CALLER, "parts": PART.format(factor=factor, shift=shift)}
        for name, source in sources.items():
            file = package / f"{name}.py"
            # a file that is written again is empty for a moment, in which a process beside would read it
            if not file.exists() or file.read_text() != source:
                file.write_text(source)
        # Python's own cache tells a source by size and whole seconds, and an edit here may change neither
        given = {
            **os.environ, "PYTHONPATH": str(package.parent), "COREKIT_CACHE": str(tmp_path / cache),
            "PYTHONDONTWRITEBYTECODE": "1", **environment,
        }  # fmt: skip
        done = forked.run(module="fake_kernels.asking", folder=tmp_path, environment=given)
        assert done.returncode == 0, done.stderr
        said.append(done.stderr)
        value, hits = done.stdout.split()
        return float(value), int(hits)

    return asked
