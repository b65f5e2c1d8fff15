"""C code of functions, compiled once and kept by content in the user's cache folder.

A straight-line function of 10⁵ statements chokes a compiler: its time grows faster than linearly. The body is
therefore cut into functions of 150 statements each that share one work array, which makes the time linear, and these
stand in files that all cores compile at once. The key is a digest of what is compiled, how, and by which compiler, so a
change anywhere compiles anew and nothing stale is ever loaded. Libraries appear under their final name in one atomic
step: a kill leaves no half file, and two processes may compile at once. What was not used for longest is taken away.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import casadi as ca

from corekit.compiled import cache_folder
from corekit.files import replace_file

__all__ = ["NoCompiler", "compile_functions", "load_functions"]

_STATEMENTS = 150
"""Of one function."""
_FUNCTIONS = 100
"""Of one file."""
_FLAGS = ("-O1", "-fPIC", "-ffp-contract=off")
_FORMAT = "2"
"""Raised when the code written for the same function changes."""
_ANNOUNCED = 20_000
"""Instructions from which a compilation takes seconds."""
_KEPT_FOLDERS = 24
"""Sets of functions that are kept, those used last; a plan takes two, of one to ten megabytes each."""


class NoCompiler(Exception):
    """There is no C compiler, or it failed: the reason is the message."""


def _kept() -> Path:
    return cache_folder() / "mpcc"


def _compiler() -> str:
    for name in ("gcc", "clang", "cc"):
        found = shutil.which(name)
        if found is not None:
            return found
    raise NoCompiler("no C compiler (gcc, clang or cc) on the PATH")


def _digest(key: str) -> str:
    compiler = _compiler()
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    parts = (
        _FORMAT,
        ca.CasadiMeta.version(),
        version,
        " ".join(_FLAGS),
        platform.machine(),
        sys.platform,
        key,
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def load_functions(key: str, names: Sequence[str]) -> list[ca.Function] | None:
    """The functions compiled for this key, or None where one of them is not there."""
    try:
        folder = _kept() / _digest(key)
    except NoCompiler:
        return None
    paths = [folder / f"{name}.so" for name in names]
    if not all(path.is_file() for path in paths):
        return None
    with contextlib.suppress(OSError):
        os.utime(folder)  # used now: see `_prune`
    try:
        return [ca.external(name, str(path)) for name, path in zip(names, paths, strict=True)]
    except RuntimeError:  # a damaged file: compile again
        return None


def _prune(root: Path) -> None:
    """Take away the sets of functions that were not used for longest, but those of the last hour."""
    aged = sorted((_age(folder), folder) for folder in root.iterdir() if folder.is_dir())
    for age, folder in aged[_KEPT_FOLDERS:]:
        if age > 3600.0:
            shutil.rmtree(folder, ignore_errors=True)


def _age(folder: Path) -> float:
    try:
        return time.time() - folder.stat().st_mtime
    except OSError:  # another process took it away
        return 0.0


def compile_functions(
    key: str, functions: Sequence[ca.Function], announce: Callable[[str], None], name: str
) -> tuple[list[ca.Function], float]:
    """Compile functions and keep them; returns them and the seconds it took.

    Raises:
        NoCompiler: none was found, it failed, or the cache folder cannot be written.
    """
    began = time.perf_counter()
    compiler = _compiler()
    folder = _kept() / _digest(key)
    instructions = sum(function.n_instructions() for function in functions)
    if instructions > _ANNOUNCED:
        announce(
            f"{name}: compiling derivatives ({instructions:,} instructions) once; they are kept in {folder}"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _prune(folder.parent)
        with (
            tempfile.TemporaryDirectory(dir=folder) as work,
            ThreadPoolExecutor(max_workers=max(1, min(8, os.cpu_count() or 1))) as pool,
        ):
            written = [_write(function, Path(work)) for function in functions]
            sources = sorted((each for group in written for each in group), key=_size, reverse=True)
            list(pool.map(lambda source: _object(compiler, source), sources))
            for function, group in zip(functions, written, strict=True):
                _link(compiler, function.name(), group, folder)
    except OSError as error:
        raise NoCompiler(f"the cache folder {folder} cannot be written ({error.strerror})") from error
    made = load_functions(key, [function.name() for function in functions])
    if made is None:
        raise NoCompiler(f"what was compiled in {folder} cannot be loaded")
    seconds = time.perf_counter() - began
    if instructions > _ANNOUNCED:
        announce(f"{name}: compiled in {seconds:.1f} s")
    return made, seconds


def _size(path: Path) -> int:
    return path.stat().st_size


def _write(function: ca.Function, work: Path) -> list[Path]:
    """C files of a function."""
    # the work array instead of local variables lets any statement stand in any function
    generator = ca.CodeGenerator(f"{function.name()}.c", {"avoid_stack": True})
    generator.add(function)
    paths = []
    for number, code in enumerate(in_files(generator.dump(), function.name(), _STATEMENTS, _FUNCTIONS)):
        paths.append(work / f"{function.name()}_{number}.c")
        paths[-1].write_text(code)
    return paths


def _object(compiler: str, source: Path) -> None:
    _run(compiler, (*_FLAGS, "-c", "-o", str(source.with_suffix(".o")), str(source)), source.name)


def _link(compiler: str, name: str, sources: Sequence[Path], folder: Path) -> None:
    library = sources[0].with_name(f"{name}.so")
    objects = [str(source.with_suffix(".o")) for source in sources]
    _run(compiler, ("-shared", "-o", str(library), *objects, "-lm"), library.name)
    replace_file(library, folder / library.name)


def _run(compiler: str, arguments: Sequence[str], about: str) -> None:
    told = subprocess.run([compiler, *arguments], capture_output=True, text=True, check=False)
    if told.returncode != 0:
        lines = told.stderr.strip().splitlines() or ["no message"]
        raise NoCompiler(f"{Path(compiler).name} failed on {about}: {lines[0]}")


_BODY = re.compile(
    r"(?P<head>static int casadi_f0\((?P<arguments>[^)]*)\) \{\n)(?P<body>.*?)(?P<tail>  return 0;\n\}\n)",
    re.DOTALL,
)
_HELPER = re.compile(r"^(?=(?:void|int|casadi_\w+|const casadi_\w+\s?\*) casadi_\w+\()", re.MULTILINE)
_ABOUT = "/* Configuration this file was compiled with */"
"""What CasADi writes before functions that must be there once."""
_HIDDEN = '#if defined(__GNUC__)\n__attribute__((visibility("hidden")))\n#endif\n'
_PIECE = "void {name}_piece_{number}(const casadi_real** arg, casadi_real** res, casadi_real* w)"


def in_files(code: str, name: str, statements: int = _STATEMENTS, functions: int = _FUNCTIONS) -> list[str]:
    """The same C code with the body of its one function cut into others, which stand in files of their own.

    Args:
        code: as CasADi writes one function, with its values in a work array.
        name: before the names of the pieces.
        statements: at most, of a piece. functions: at most, of a file.
    Returns:
        The file that calls the pieces, and those that hold them; the code itself where it is short.
    """
    found = _BODY.search(code)
    if found is None:
        return [code]
    lines = found["body"].splitlines(keepends=True)
    if len(lines) <= statements:
        return [code]
    # every file brings the helpers of the statements, as its own
    preamble = _HELPER.sub("static ", code[: found.start()].partition(_ABOUT)[0])
    heads, pieces = [], []
    for number, start in enumerate(range(0, len(lines), statements)):
        heads.append(_PIECE.format(name=name, number=number))
        pieces.append(_HIDDEN + heads[-1] + " {\n" + "".join(lines[start : start + statements]) + "}\n\n")
    declared = "".join(f"{_HIDDEN}{head};\n" for head in heads)
    calls = "".join(f"  {name}_piece_{number}(arg, res, w);\n" for number in range(len(pieces)))
    whole = declared + found["head"] + calls + found["tail"]
    files = [code[: found.start()] + whole + code[found.end() :]]
    starts = range(0, len(pieces), functions)
    return files + [preamble + "".join(pieces[first : first + functions]) for first in starts]
