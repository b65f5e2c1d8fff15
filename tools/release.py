"""Wheels and sdists of every distribution, checked, installed into an empty environment, and the demo run from there.

    python tools/release.py        into dist/, the environment and the picture into build/release/

Each wheel is built from its sdist and must be, byte for byte, the one that the checkout gives. The environment gets
what the wheels need with the versions of requirements/constraints.txt, then the wheels alone, from neither
an index nor the checkout.
"""

from __future__ import annotations

import importlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import chdir
from email.parser import Parser
from pathlib import Path

__all__ = ["ReleaseError", "build", "differences", "install", "main", "needs", "run_demo"]

ROOT = Path(__file__).resolve().parents[1]
DEMO = ("run", "cusp/inclined-box", "--picture")


class ReleaseError(Exception):
    """What keeps the distributions from being published."""


def build(sources: Iterable[Path], folder: Path) -> None:
    """The sdist of every source and the wheel that its sdist gives, into a new folder.

    Raises:
        ReleaseError: the sdist gives another wheel than its source, or none.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for source in sources:
        with tempfile.TemporaryDirectory() as scratch:
            sdist = folder / _built(source, "sdist", folder)
            with tarfile.open(sdist) as archive:
                # there is none before Python 3.11.4
                archive.extraction_filter = getattr(tarfile, "data_filter", None)
                archive.extractall(scratch)
            (unpacked,) = (path for path in Path(scratch).iterdir() if path.is_dir())
            wheel = _built(unpacked, "wheel", folder)
            (Path(scratch) / "direct").mkdir()
            direct = Path(scratch) / "direct" / _built(source, "wheel", Path(scratch) / "direct")
            found = list(differences(folder / wheel, direct))
        if found:
            raise ReleaseError(f"{sdist.name} gives another wheel than the checkout: {'; '.join(found)}")


def _built(source: Path, kind: str, folder: Path) -> str:
    """Name of what the backend of a source builds into a folder."""
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))
    backend = importlib.import_module(project["build-system"]["build-backend"])
    with chdir(source):
        return getattr(backend, f"build_{kind}")(str(folder))


def differences(one: Path, other: Path) -> Iterator[str]:
    """In what two wheels differ, nothing if they are the same byte for byte."""
    if one.name != other.name:
        yield f"{one.name} is called {other.name}"
    elif one.read_bytes() != other.read_bytes():
        with zipfile.ZipFile(one) as a, zipfile.ZipFile(other) as b:
            names = set(a.namelist()), set(b.namelist())
            yield from (f"{name} is in one alone" for name in sorted(names[0] ^ names[1]))
            both = sorted(names[0] & names[1])
            unlike = [name for name in both if a.read(name) != b.read(name)]
            yield from (f"{name} differs" for name in unlike)
            if names[0] == names[1] and not unlike:
                yield "dates, modes or the order of files differ"


def needs(wheels: Iterable[Path]) -> tuple[list[str], list[str]]:
    """`name==version` of every wheel, and what they need beside each other, without extras."""
    ours: dict[str, str] = {}
    asked: set[str] = set()
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            (entry,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            metadata = Parser().parsestr(archive.read(entry).decode())
        ours[metadata["Name"]] = metadata["Version"]
        asked |= {line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line}
    others = [line for line in asked if re.split(r"[\s\[<>=!~;]", line, maxsplit=1)[0] not in ours]
    return [f"{name}=={version}" for name, version in ours.items()], sorted(others)


def install(dist: Path, environment: Path) -> Path:
    """Make an empty environment with what the wheels need and then with the wheels alone; its folder of programs."""
    shutil.rmtree(environment, ignore_errors=True)
    venv.create(environment, with_pip=True)
    programs = environment / ("Scripts" if sys.platform == "win32" else "bin")
    ours, others = needs(dist.glob("*.whl"))
    pip = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pins = ROOT / "requirements" / "constraints.txt"
    _run([*pip, "--only-binary", ":all:", "--constraint", pins, *others], environment)
    _run([*pip, "--no-index", "--find-links", dist, *ours], environment)
    _run([programs / "python", "-m", "pip", "check"], environment)
    return programs


def run_demo(programs: Path, folder: Path) -> Path:
    """Run the demo in an empty folder by what is installed there; the picture that it draws."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    place = (
        "import corekit, corekit_scenarios; print(corekit.__file__, corekit_scenarios.__file__, sep='\\n')"
    )
    used = _run([programs / "python", "-c", place], folder, stdout=subprocess.PIPE).splitlines()
    if not all(Path(line).is_relative_to(programs.parent) for line in used):
        raise ReleaseError(f"not what was installed is used, but {', '.join(used)}")
    _run([programs / "corekit", *DEMO], folder)
    pictures = list(folder.rglob("*.png"))
    if len(pictures) != 1 or not pictures[0].read_bytes().startswith(b"\x89PNG"):
        raise ReleaseError(f"the demo drew {len(pictures)} pictures in {folder}")
    return pictures[0]


def _run(command: Sequence[str | Path], folder: Path, stdout: int | None = None) -> str:
    """Run a program without what this one's environment says of Python; what it prints, on demand."""
    clean = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    done = subprocess.run(command, cwd=folder, env=clean, stdout=stdout, text=True, check=False)
    if done.returncode != 0:
        words = " ".join(Path(str(word)).name for word in command[:4])
        raise ReleaseError(f"`{words} …` ended with {done.returncode}")
    return done.stdout or ""


def main() -> int:
    """Build, check, install and run all; 1 and one sentence if that fails."""
    dist, scratch = ROOT / "dist", ROOT / "build" / "release"
    workspace = runpy.run_path(str(ROOT / "tools" / "isolation.py"))["workspace"]()
    try:
        build(workspace.values(), dist)
        files = sorted(dist.iterdir())
        print(f"{len(files)} files in {dist.relative_to(ROOT)}/, each wheel the one that its sdist gives")
        _run([sys.executable, "-P", "-m", "twine", "--no-color", "check", "--strict", *files], ROOT)
        programs = install(dist, scratch / "environment")
        picture = run_demo(programs, scratch / "demo")
    except ReleaseError as error:
        print(f"no release: {error}", file=sys.stderr)
        return 1
    print(f"drawn from wheels alone: {picture.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
