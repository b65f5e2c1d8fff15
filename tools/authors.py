"""What `corekit new` writes for every role, where nothing is but wheels: its tests, its scenario and `corekit conform`.

    python tools/authors.py                    all roles
    python tools/authors.py observer verb      some of them

The environment is that of `tools/release.py`, made anew unless it is there, with pytest and the build backend of a
template beside it. An author's folder lies outside of the checkout, which nothing reads.
"""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["AuthorsError", "commands_of", "main", "write_and_try"]

ROOT = Path(__file__).resolve().parents[1]
SHORT = "--set", "time.duration=0.05"
COMPONENTS = {
    "model": "models", "detector": "contact_detectors", "contact-solver": "contact_solvers",
    "contact-potential": "contact_solvers", "integrator": "integrators", "controller": "controllers",
    "lcp-solver": "lcp_solvers", "qp-solver": "qp_solvers", "planner": "planners", "estimator": "estimators",
    "viewer": "viewers", "shape": "contact_detectors",
}  # fmt: skip
"""What `corekit new` writes → the role by which `corekit conform` judges it."""
OTHERS = "friction-law", "observer", "verb"
"""What it writes and is no component."""
STATED = {"shape": "shapes.{}", "friction-law": "friction_laws.{}:box"}
"""What is judged by the name of what it states."""


class AuthorsError(Exception):
    """What an author would meet."""


def commands_of(what: str, name: str) -> Iterator[tuple[str, ...]]:
    """The commands that an author types in the new folder, after its installation."""
    yield "python", "-m", "pytest", "-q", "-p", "no:cacheprovider"
    example = f"examples/{name}"
    if what == "planner":
        yield "corekit", "plan", f"{example}-plan.toml", "--no-pictures"
    elif what == "estimator":
        yield "corekit", "fit", f"{example}-fit.toml", "--out", "fit"
    elif what == "verb":
        yield "corekit", name, f"{example}.toml"
    else:
        yield "corekit", "run", f"{example}.toml", *SHORT
    if what in STATED:
        yield "corekit", "conform", STATED[what].format(name)
    if what in COMPONENTS:
        yield "corekit", "conform", f"{COMPONENTS[what]}.{name}"


def write_and_try(what: str, programs: Path, folder: Path) -> None:
    """Write a distribution, install it, and do all that its author does first.

    Raises:
        AuthorsError: a command fails; with what it said.
    """
    name = f"first-{what}"
    _run(("corekit", "new", what, name), programs, folder)
    # no index is asked: what a template needs is there
    install = (
        "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-build-isolation",
        ".",
    )
    try:
        for command in (install, *commands_of(what, name)):
            _run(command, programs, folder / name)
    finally:  # the name is free again
        _run(("python", "-m", "pip", "uninstall", "--quiet", "--yes", name), programs, folder)


def _run(command: Sequence[str], programs: Path, folder: Path) -> None:
    program, *arguments = command
    done = subprocess.run(
        [programs / program, *arguments], cwd=folder, env=_environment(programs), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise AuthorsError(f"`{' '.join(command)}` ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def _environment(programs: Path) -> dict[str, str]:
    """This process's, without what it says of Python."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    return {**kept, "PATH": f"{programs}{os.pathsep}{kept.get('PATH', '')}", "NO_COLOR": "1"}


def _prepared() -> Path:
    """The environment of the release with the tools of an author; its folder of programs."""
    release = runpy.run_path(str(ROOT / "tools" / "release.py"))
    scratch = ROOT / "build" / "release"
    programs = scratch / "environment" / ("Scripts" if sys.platform == "win32" else "bin")
    if not (programs / "corekit").exists():
        with tempfile.TemporaryDirectory() as wheels:
            runpy.run_path(str(ROOT / "tools" / "isolation.py"))["build_wheels"](Path(wheels))
            programs = release["install"](Path(wheels), scratch / "environment")
    pins = str(ROOT / "requirements" / "constraints.txt")
    tools = (
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--constraint",
        pins,
        "pytest",
        "hatchling",
    )
    _run(("python", "-m", *tools), programs, ROOT)
    return programs


def main(wanted: Sequence[str]) -> int:
    """Try what `corekit new` writes of each kind; 1 if any fails."""
    programs, failed = _prepared(), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        for what in wanted or [*COMPONENTS, *OTHERS]:
            started = time.monotonic()
            try:
                write_and_try(what, programs, Path(folder))
                is_judged = what in COMPONENTS or what in STATED
                words = f"its tests and example pass{', and `conform`' if is_judged else ''}"
            except AuthorsError as error:
                failed.append(what)
                words = str(error)
            print(f"{what:<20}{time.monotonic() - started:5.0f} s  {words}", flush=True)
            shutil.rmtree(Path(folder) / f"first-{what}", ignore_errors=True)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
