"""Every distribution of the workspace alone: its wheel in a fresh environment, its own tests run there.

    python tools/isolation.py                 all of them
    python tools/isolation.py corekit-lcp     one

Beside a distribution come only what it declares, for its tests by the extra `test` too, what they import, and
corekit-testing, which the tests of all share. The tests are copied, so that nothing is imported from this repository.
uv where it is present, pip otherwise.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

__all__ = ["build_wheels", "main", "modules_imported", "providers", "test_alone", "workspace"]

ROOT = Path(__file__).resolve().parents[1]
KERNEL = "corekit-kernel"
KERNEL_TESTS = ("compiled", "engine", "linalg", "registry", "scenario", "simulation")
TESTING = "corekit-testing"


def workspace() -> dict[str, Path]:
    """Name → folder of every distribution, the kernel first."""
    files = [ROOT / "pyproject.toml", *sorted(ROOT.glob("plugins/*/*/pyproject.toml"))]
    files += ROOT.glob("scenarios/pyproject.toml")
    return {tomllib.loads(file.read_text(encoding="utf-8"))["project"]["name"]: file.parent for file in files}


def modules_imported(source: str) -> Iterator[str]:
    """Top-level modules that a text imports anywhere, without the standard library's and its own."""
    for node in ast.walk(ast.parse(source)):
        names: Sequence[str] = ()
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            ("importorskip", "import_module")
        ):
            names = [str(each.value) for each in node.args if isinstance(each, ast.Constant)]
        yield from (top for name in names if (top := name.partition(".")[0]) not in sys.stdlib_module_names)


def providers(module: str) -> set[str]:
    """Canonical names of the distributions that bring a top-level module here; the module's own name if none."""
    found = _packages().get(module, [module])
    return {re.sub(r"[-_.]+", "-", name).lower() for name in found}


@cache
def _packages() -> Mapping[str, list[str]]:
    """`packages_distributions` reads every installed distribution anew."""
    return packages_distributions()


def build_wheels(folder: Path) -> None:
    """The wheel of every distribution."""
    command = [sys.executable, "-P", "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", folder, *workspace().values()], check=True)


def test_alone(
    name: str, wheels: Path, scratch: Path, begin: Callable[[Path], None] | None
) -> tuple[bool, str]:
    """Install one distribution into an environment under `scratch` and run its tests; did they pass, and how.

    Args:
        begin: what to do first with the empty environment, by its folder.
    """
    place = workspace()[name]
    tests = scratch / "tests"
    if name == KERNEL:
        for each in KERNEL_TESTS:
            shutil.copytree(ROOT / "tests" / each, tests / each)
    elif (place / "tests").exists():
        shutil.copytree(place / "tests", tests)
    else:
        return True, "it has no tests"
    beside = {"pytest", TESTING}
    shutil.copy(ROOT / "conftest.py", scratch)
    for path in tests.rglob("*.py"):
        for module in modules_imported(path.read_text(encoding="utf-8")):
            beside |= _needed(module, tests)
    shutil.copytree(ROOT / "tests" / "forked", tests / "forked")
    subprocess.run([sys.executable, "-P", "-m", "venv", "--without-pip", scratch / "env"], check=True)
    if begin is not None:
        begin(scratch / "env")
    python = next((scratch / "env").glob("[bS]*/python*"))
    uv = shutil.which("uv")
    command = [uv, "pip"] if uv else [sys.executable, "-P", "-m", "pip", "--python", python]
    command += [
        "install",
        "--quiet",
        *(["--python", python] if uv else ["--no-compile"]),
        "--find-links",
        wheels,
    ]
    if not (os.environ.get("NEWEST") or os.environ.get("LOWEST")):
        command += ["--constraint", ROOT / "requirements" / "constraints.txt"]
    project = tomllib.loads((place / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = f"{name}[test]" if "test" in project.get("optional-dependencies", {}) else name
    subprocess.run([*command, wanted, *sorted(beside)], check=True)
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-c", ROOT / "pyproject.toml", "--rootdir", scratch, "-p",
         "no:cacheprovider", tests],
        cwd=scratch, capture_output=True, text=True, check=False,
    )  # fmt: skip
    last = (done.stdout.strip().splitlines() or [""])[-1]
    return done.returncode == 0, last if done.returncode == 0 else done.stdout + done.stderr


def _needed(module: str, tests: Path) -> set[str]:
    """Distributions to install for an import of a test; none for the workspace's own and for its helpers."""
    own = module == "corekit" or module.startswith("corekit_")
    helper = any(tests.rglob(f"{module}.py")) or any(path.is_dir() for path in tests.rglob(module))
    return set() if own or helper else providers(module)


def main(names: Sequence[str]) -> int:
    """Test the named distributions, or all; 1 if any fails."""
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        wheels = Path(folder) / "wheels"
        build_wheels(wheels)
        for name in names or list(workspace()):
            started = time.monotonic()
            passed, words = test_alone(name, wheels, Path(folder) / name, None)
            print(f"{name}: {words} ({time.monotonic() - started:.0f} s)", flush=True)
            failed += [] if passed else [name]
            shutil.rmtree(Path(folder) / name, ignore_errors=True)
    print("alone, all passed" if not failed else f"alone, failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
