"""Functions compiled to machine code, which is kept by the content of their sources.

A kernel is compiled when it is first called with arguments of new types, and its machine code is kept on disk, so
that only the first run waits. numba itself keeps it beside the source, by the path and time stamp of that one
file: every new environment compiles everything again, and a kernel keeps the old code of another that it calls
when that one's file is edited. Here the key of a module's kernels is

    digest(source of the module and of all it imports from its own distribution and the kernel, transitively)    (1)

so that equal sources share machine code between environments, and an edit reaches everyone who calls.

Beside the machine code stands LLVM's form of a kernel, from which others that call it are compiled. It takes longer to
read than the machine code to load, so it is read when something is compiled, in most runs never.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
from llvmlite import binding
from numba.core import caching, config, event

__all__ = ["cache_folder", "compiled"]

_NUMBA: Any = numba  # without types
_CACHING: Any = caching
_LLVM: Any = binding
_CONFIG: Any = config
F = TypeVar("F", bound=Callable[..., Any])
_IMPORT = re.compile(
    rb"^[ \t]*(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+([\w.]+))", re.MULTILINE
)
_WORD = re.compile(rb"\w+")
_STATES_KEPT = 4
"""States of a module whose machine code is kept: versions side by side, and an edit taken back."""
_SELDOM = 200_000
"""New objects before a search for garbage while a kernel is compiled."""


@overload
def compiled(function: F, /) -> F: ...


@overload
def compiled(**options: Any) -> Callable[[F], F]: ...


def compiled(function: Any = None, /, **options: Any) -> Any:
    """Compile by `numba.njit`, keep the machine code by (1); 1/0 is inf and 0/0 nan, as in numpy, to be seen.

    Args:
        function: what to compile, in numba's part of Python; without it, what takes a function is returned.
        options: others of `numba.njit`.
    """

    def made(function: Any) -> Any:
        dispatcher = _NUMBA.njit(function, **{"error_model": "numpy", "no_cfunc_wrapper": True, **options})
        if not _CONFIG.DISABLE_JIT:
            dispatcher._cache = _Kept(function)  # noqa: SLF001 - as njit(cache=True) does
        return dispatcher

    return made if function is None else made(function)


class _Unhurried(event.Listener):
    """Search for garbage seldom while numba compiles: nearly all it makes lives on, a third of the time went there."""

    def __init__(self) -> None:
        self._depth = 0
        self._usual = gc.get_threshold()

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._usual = gc.get_threshold()
            if self._usual[0]:  # 0 is never
                gc.set_threshold(max(_SELDOM, self._usual[0]), *self._usual[1:])

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._usual)


event.register("numba:compile", _Unhurried())


def cache_folder() -> Path:
    """The user's folder of what can be made again: `COREKIT_CACHE`, or where the system keeps such things."""
    if given := os.environ.get("COREKIT_CACHE"):
        return Path(given)
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "corekit" / "cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "corekit"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "corekit"


class _Locator(_CACHING._CacheLocator):  # noqa: SLF001 - what every locator of numba derives from
    """Where the machine code of one function is kept."""

    def __init__(self, function: Any) -> None:
        self._line = function.__code__.co_firstlineno
        self._digest = _digest(function.__module__)
        self._path = _root() / f"{function.__module__}-{self._digest[:20]}"

    def get_cache_path(self) -> str:
        return str(self._path)

    def ensure_cache_path(self) -> None:
        """Make the folder; of the module's earlier states a few are kept."""
        if not self._path.exists():
            states = sorted(_root().glob(f"{self._path.name.rpartition('-')[0]}-*"), key=_age)
            for old in states[_STATES_KEPT - 1 :]:
                shutil.rmtree(old, ignore_errors=True)
        super().ensure_cache_path()

    def get_source_stamp(self) -> str:
        return self._digest

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, _py_file: str) -> _Locator:
        return cls(py_func)


class _Where(_CACHING.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012 - numba's own attribute

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """A kernel from what was kept, its form for other kernels left unread until it is asked for."""
        (name, kind, data), described, *others = payload
        if kind != "object":
            return super().rebuild(target_context, payload)
        machine_code, for_linking = data
        # numba tells what a library defines from the form that is not read here
        target_context.codegen()._engine._defined_symbols |= {  # noqa: SLF001
            described.llvm_func_name, described.llvm_cpython_wrapper_name, described.llvm_cfunc_wrapper_name,
        }  # fmt: skip
        kept = (name, kind, (machine_code, _nothing_to_link())), described, *others
        made = super().rebuild(target_context, kept)
        made.library._get_module_for_linking = cache(lambda: _LLVM.parse_bitcode(for_linking))  # noqa: SLF001
        return made


@cache
def _nothing_to_link() -> bytes:
    """An empty module."""
    return _LLVM.parse_assembly("").as_bitcode()


class _Kept(_CACHING.FunctionCache):
    _impl_class = _Where


def _age(folder: Path) -> float:
    try:
        return -folder.stat().st_mtime
    except OSError:  # another process took it away
        return 0.0


@cache
def _root() -> Path:
    """A folder that can be written: the user's, or one of this process alone where that cannot be."""
    folder = cache_folder() / "machine-code"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="corekit-machine-code-"))


# — equation (1) —


@cache
def _digest(module: str) -> str:
    own = module.partition(".")[0]
    sources: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name], imports = _source(name)
            waiting += [each for each in imports if each.partition(".")[0] in {own, "corekit"}]
    total = hashlib.sha256()
    for name in sorted(sources):
        total.update(name.encode() + b"\0" + hashlib.sha256(sources[name]).digest())
    return total.hexdigest()


@cache
def _source(module: str) -> tuple[bytes, tuple[str, ...]]:
    """The text of a loaded module, and what it imports that is loaded too."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return b"", ()
    text = Path(file).read_bytes()
    return text, tuple(name for name in _imports(text) if name in sys.modules)


def _imports(text: bytes) -> Iterator[str]:
    """Names of modules, and names that may be modules, after `import`."""
    for found in _IMPORT.finditer(text):
        package, names, plain = found.groups()
        base = (package or plain).decode()
        yield base
        yield from (f"{base}.{name.decode()}" for name in _WORD.findall(names or b""))
