"""C code of functions, compiled once and kept by content in the user's cache folder.

A straight-line function of 10⁵ statements chokes a compiler: its time grows faster than linearly. The body is
therefore cut into functions of 400 statements each that share one work array, which makes the time linear. The key
is a digest of what is compiled, how, and by which compiler, so a change anywhere compiles anew and nothing stale is
ever loaded. Libraries appear under their final name in one atomic step: a kill leaves no half file, and two
processes may compile at once.
"""

from __future__ import annotations

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

__all__ = ["NoCompiler", "compile_functions", "load_functions"]

_STATEMENTS = 400
_FLAGS = ("-O1", "-fPIC", "-shared", "-ffp-contract=off")
_FORMAT = "1"
"""Raised when the code written for the same function changes."""
_ANNOUNCED = 20_000
"""Instructions from which a compilation takes seconds."""


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
    try:
        return [ca.external(name, str(path)) for name, path in zip(names, paths, strict=True)]
    except RuntimeError:  # a damaged file: compile again
        return None


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
        with (
            tempfile.TemporaryDirectory(dir=folder) as work,
            ThreadPoolExecutor(max_workers=max(1, min(4, os.cpu_count() or 1))) as pool,
        ):
            sources = [_write(function, Path(work)) for function in functions]
            list(pool.map(lambda source: _build(compiler, source, folder), sources))
    except OSError as error:
        raise NoCompiler(f"the cache folder {folder} cannot be written ({error.strerror})") from error
    made = load_functions(key, [function.name() for function in functions])
    if made is None:
        raise NoCompiler(f"what was compiled in {folder} cannot be loaded")
    seconds = time.perf_counter() - began
    if instructions > _ANNOUNCED:
        announce(f"{name}: compiled in {seconds:.1f} s")
    return made, seconds


def _write(function: ca.Function, work: Path) -> Path:
    # the work array instead of local variables lets any statement stand in any function
    generator = ca.CodeGenerator(f"{function.name()}.c", {"avoid_stack": True})
    generator.add(function)
    path = work / f"{function.name()}.c"
    path.write_text(in_chunks(generator.dump()))
    return path


def _build(compiler: str, source: Path, folder: Path) -> None:
    library = source.with_suffix(".so")
    command = [compiler, *_FLAGS, "-o", str(library), str(source), "-lm"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    if told.returncode != 0:
        lines = told.stderr.strip().splitlines() or ["no message"]
        raise NoCompiler(f"{Path(compiler).name} failed on {source.name}: {lines[0]}")
    os.replace(library, folder / library.name)


_BODY = re.compile(
    r"(?P<head>static int casadi_f0\((?P<arguments>[^)]*)\) \{\n)(?P<body>.*?)(?P<tail>  return 0;\n\}\n)",
    re.DOTALL,
)


def in_chunks(code: str, statements: int = _STATEMENTS) -> str:
    """The same C code with the body of its one function cut into functions of at most `statements` lines."""
    found = _BODY.search(code)
    if found is None:
        return code
    lines = found["body"].splitlines(keepends=True)
    if len(lines) <= statements:
        return code
    pieces, calls = [], []
    for number, start in enumerate(range(0, len(lines), statements)):
        body = "".join(lines[start : start + statements])
        pieces.append(
            "#if defined(__GNUC__)\n__attribute__((noinline))\n#endif\n"
            f"static void piece_{number}(const casadi_real** arg, casadi_real** res, casadi_real* w) {{\n{body}}}\n\n"
        )
        calls.append(f"  piece_{number}(arg, res, w);\n")
    whole = "".join(pieces) + found["head"] + "".join(calls) + found["tail"]
    return code[: found.start()] + whole + code[found.end() :]
