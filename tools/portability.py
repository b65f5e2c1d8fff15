"""The tests with the arithmetic of other processors, with results rounded to one side, and on other interpreters.

    python tools/portability.py                       every profile
    python tools/portability.py oldest python3.13     some
    python tools/portability.py --list                what there is
    python tools/portability.py --tests=plugins/contact/mpr --pytest="-n 2" oldest

A profile of a processor is made by environment alone: which instructions numba compiles for, which kernels OpenBLAS
chooses, which of numpy's dispatched loops are left out. They differ in vector widths, fused products and orders of
sums, so that results differ by rounding; each has a compile cache of its own under build/portability.

The profiles `up`, `down` and `zero` run all tests with every sum and product rounded to that side, on this processor
(`corekit_testing.rounding_mode`): what passes there does not hang on rounding. A change of numerics lands with these
green.

Profiles of interpreters install the workspace into an environment there: the oldest and the newest Python, found on
PATH or named by PYTHONS (a list as in PATH), but for that of this environment, which `make test` runs on, unless it is
named.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["PROCESSORS", "Processor", "main"]

ROOT = Path(__file__).resolve().parents[1]
ROUNDED = ("up", "down", "zero")
BUILD = ROOT / "build" / "portability"
TESTS = ("plugins", "tests/linalg", "tests/engine")
RELEASED = range(11, 15)


@dataclass(frozen=True)
class Processor:
    """A processor that computes in place of this one.

    Attributes:
        numba: LLVM's name of it; code for it is generated without any feature beyond.
        blas: OpenBLAS's name of its kernels.
        without: pattern of numpy's dispatched features that it lacks.
        needs: pattern of a feature that this processor must have to stand in for it.
    """

    numba: str
    blas: str
    without: str
    needs: str = ""


PROCESSORS: Mapping[str, Mapping[str, Processor]] = {
    "x86_64": {
        "oldest": Processor(numba="generic", blas="Prescott", without=".*"),
        "middle": Processor(
            numba="haswell", blas="Haswell", without="AVX512.*|X86_V4.*", needs="AVX2|X86_V3"
        ),
        "newest": Processor(numba="skylake-avx512", blas="SkylakeX", without="(?!)", needs="AVX512_SKX|X86_V4"),
    },
    "aarch64": {
        "oldest": Processor(numba="generic", blas="ARMV8", without=".*"),
        "middle": Processor(numba="cortex-a72", blas="CORTEXA57", without="SVE.*|ASIMDFHM"),
        "newest": Processor(numba="neoverse-n1", blas="NEOVERSEN1", without="(?!)", needs="ASIMDHP"),
    },
}  # fmt: skip
_NOWHERE = "it is not on PATH, and PYTHONS does not name it"
ALIASES = {"amd64": "x86_64", "arm64": "aarch64"}

_PROBE = """
import ctypes, glob, json, os
import numpy
from numba.core.registry import cpu_target
try:
    from numpy._core import _multiarray_umath as core
except ImportError:
    from numpy.core import _multiarray_umath as core
blas = []
for file in glob.glob(os.path.join(os.path.dirname(numpy.__file__), "..", "numpy.libs", "*openblas*")):
    library = ctypes.CDLL(file)
    for name in ("scipy_openblas_get_corename64_", "scipy_openblas_get_corename", "openblas_get_corename"):
        if hasattr(library, name):
            ask = getattr(library, name)
            ask.restype = ctypes.c_char_p
            blas.append(ask().decode())
            break
print(json.dumps({
    "numba": cpu_target.target_context.codegen().magic_tuple()[1], "blas": blas,
    "numpy": [name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]],
}))
"""


@dataclass
class Outcome:
    """What came of a profile: `passed` is None where it was not run, `words` say how or why."""

    passed: bool | None
    words: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Profile:
    """One row of the table: an environment, the interpreter whose tests run in it, and which and how."""

    name: str
    python: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    tests: Sequence[str] = TESTS
    options: Sequence[str] = ()


def probe(python: Path, variables: Mapping[str, str]) -> dict[str, Any]:
    """What numba, OpenBLAS and numpy say they compute with."""
    done = subprocess.run(
        [python, "-W", "ignore", "-c", _PROBE], env={**os.environ, **variables}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def processor_profiles() -> dict[str, Profile | str]:
    """Name → profile, or why this machine cannot stand in for it."""
    machine = platform.machine().lower()
    table = PROCESSORS.get(ALIASES.get(machine, machine), {})
    python = Path(sys.executable)
    here = [str(name) for name in probe(python, {})["numpy"]]
    found: dict[str, Profile | str] = {}
    for name, each in table.items():
        if each.needs and not any(re.fullmatch(each.needs, feature) for feature in here):
            found[name] = f"this processor has none of {each.needs.replace('|', ', ')}"
            continue
        variables = {
            "NUMBA_CPU_NAME": each.numba, "NUMBA_CPU_FEATURES": "", "OPENBLAS_CORETYPE": each.blas,
            "NPY_DISABLE_CPU_FEATURES": " ".join(f for f in here if re.fullmatch(each.without, f)),
        }  # fmt: skip
        found[name] = Profile(name, python, variables)
    return found or {"processors": f"there is no table for processors of kind {machine}"}


def rounded_profiles() -> dict[str, Profile | str]:
    """Name → profile of all tests in a rounding mode, or why it cannot be set here."""
    from corekit_testing.rounding_mode import MODES, WHY_NOT

    if WHY_NOT:
        return dict.fromkeys(ROUNDED, WHY_NOT)
    python = Path(sys.executable)
    return {
        name: Profile(name, python, tests=(), options=("--rounding", name))
        for name in ROUNDED
        if name in MODES
    }


def interpreters() -> dict[str, Path | str]:
    """Name → interpreter of the oldest and of the newest Python, or why there is none."""
    lowest = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    oldest = int(lowest.rpartition(".")[2])
    given = [Path(each) for each in os.environ.get("PYTHONS", "").split(os.pathsep) if each]
    there: dict[int, Path] = {}
    for path in given:
        if (minor := _minor(path)) is None:
            raise SystemExit(f"PYTHONS names {path}, which does not run or is no Python 3")
        there.setdefault(minor, path)
    for minor in RELEASED:
        path = shutil.which(f"python3.{minor}")
        if path and _minor(Path(path)) == minor:  # a version manager's shim may refuse to run
            there.setdefault(minor, Path(path))
    there.setdefault(sys.version_info.minor, Path(sys.executable))
    newest = max(*there, RELEASED[-1])
    found: dict[str, Path | str] = {}
    for minor in range(oldest, newest + 1):
        if minor in (oldest, max(there)):
            found[f"python3.{minor}"] = there.get(minor, _NOWHERE)
        elif minor > max(there):
            found[f"python3.{minor}"] = _NOWHERE
    return found


def _minor(python: Path) -> int | None:
    code = "import sys; print(*sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    major, minor = map(int, done.stdout.split())
    return minor if major == 3 else None


def environment_of(python: Path, name: str) -> Path | str:
    """An environment of the workspace and its tools for an interpreter, or how its installation ended."""
    if _minor(python) == sys.version_info.minor:
        return Path(sys.executable)
    folder = BUILD / name / "env"
    log = BUILD / name / "install.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    # what the command line of an outer make chose is not meant for this one
    outer = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKEOVERRIDES"}}
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(
            ["make", f"VENV={folder}", f"PYTHON={python}", f"{folder}/installed-dev"],
            cwd=ROOT, env=outer, stdout=file, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    if done.returncode:
        return f"the workspace cannot be installed for it: {log}"
    return next(folder.glob("[bS]*/python*"))


def run(profile: Profile, tests: Sequence[str], options: Sequence[str]) -> Outcome:
    """Run the tests in a profile, their output in a log and, where they fail, here."""
    folder = BUILD / profile.name
    folder.mkdir(parents=True, exist_ok=True)
    variables = {
        "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **profile.variables,
        "COREKIT_CACHE": str(folder / "cache"),
    }  # fmt: skip
    said = probe(profile.python, variables)
    wanted = profile.variables.get("NUMBA_CPU_NAME")
    if wanted and said["numba"] != wanted:
        return Outcome(False, f"numba compiles for {said['numba']} though it was asked for {wanted}")
    print(
        f"{profile.name}: numba {said['numba']}, OpenBLAS {said['blas']}, numpy {said['numpy']}", flush=True
    )
    started = time.monotonic()
    command = [profile.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *tests]
    with (folder / "tests.log").open("w", encoding="utf-8") as log:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **variables},
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    text = (folder / "tests.log").read_text("utf-8")
    if done.returncode:
        print(text, flush=True)
    # reasons of skipped tests may follow the line that counts
    counts = [line for line in text.splitlines() if re.search(r"\d+ (passed|failed|error)", line)]
    last = (counts or [f"pytest ended with code {done.returncode}"])[-1].strip("= ")
    return Outcome(done.returncode == 0, last, time.monotonic() - started)


def main(arguments: Sequence[str]) -> int:
    """Run the profiles and sum up; 1 if a test failed in any, or a profile that was named could not run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--list", action="store_true", help="only say what there is")
    parser.add_argument("--tests", action="append", help=f"instead of {' '.join(TESTS)}")
    parser.add_argument("--pytest", default="", help="further options of pytest, in one text")
    parser.add_argument("profiles", nargs="*", help="names (default: all)")
    chosen = parser.parse_args(arguments)
    table: dict[str, Profile | Path | str] = {
        **processor_profiles(), **rounded_profiles(), **interpreters()
    }  # fmt: skip
    if unknown := set(chosen.profiles) - set(table):
        parser.error(f"unknown profile {', '.join(sorted(unknown))}; there are {', '.join(table)}")
    if chosen.list:
        for name, each in table.items():
            described = [*each.options, dict(each.variables)] if isinstance(each, Profile) else [each]
            print(f"{name}:", *described)
        return 0
    outcomes: dict[str, Outcome] = {}
    for name in chosen.profiles or table:
        each = table[name]
        if isinstance(each, Path) and not chosen.profiles and name == f"python3.{sys.version_info.minor}":
            each = "`make test` runs on it"
        elif isinstance(each, Path):
            found = environment_of(each, name)
            each = Profile(name, found) if isinstance(found, Path) else found
        outcomes[name] = (
            Outcome(None, each)
            if isinstance(each, str)
            else run(each, chosen.tests or each.tests, [*each.options, *shlex.split(chosen.pytest)])
        )
    print()
    verdicts = {True: "passed", False: "FAILED", None: "not run"}
    for name, outcome in outcomes.items():
        print(f"{name:12} {verdicts[outcome.passed]:8} {outcome.seconds:6.0f} s  {outcome.words}")
    missing = [name for name in chosen.profiles if outcomes[name].passed is None]
    return 1 if missing or any(outcome.passed is False for outcome in outcomes.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
