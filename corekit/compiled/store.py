"""Store of machine code, where one process compiles a function while others wait for it.

The folder holds native code and pickles, which every run executes: only its user may write there.

numba itself keys machine code by the path and time stamp of one file: every new environment compiles everything
again, and a kernel keeps the old code of another that it calls when that one's file is edited. Here the key of a
module's kernels is

    digest(source of the module and of all it imports from its own distribution and the kernel, transitively)    (1)

so that equal sources share machine code between environments, and an edit reaches every caller.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import numba
from filelock import FileLock, Timeout
from numba.core import caching, compiler, event
from platformdirs import user_cache_path

from corekit.compiled.libraries import CalleeLibrary

__all__ = ["WAITING", "CalleeCache", "KernelCache", "cache_folder", "code_folder", "source_digest"]

WAITING = "corekit:waiting"
"""Name of the event of numba's kind while another process compiles what is needed here."""

_CACHING: Any = caching
_COMPILER: Any = compiler
_STATES_KEPT = 4
"""States of a module whose machine code is kept: versions side by side, and an edit that is undone."""
_PATIENCE = 120.0
"""Wall time [s] after which a function is compiled here too: the process that compiles it may be suspended."""
_DIGEST = hashlib.sha256().digest_size
_IMPORT = re.compile(
    rb"^[ \t]*(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+([\w.]+))", re.MULTILINE
)
_WORD = re.compile(rb"\w+")


def cache_folder() -> Path:
    """Return the cache folder: `COREKIT_CACHE`, the user's, or one of this process for a user without a home."""
    given = os.environ.get("COREKIT_CACHE")
    if given:
        return Path(given)
    try:
        return user_cache_path("corekit", appauthor=False)
    except RuntimeError:  # neither HOME nor an entry among the users
        return _own_folder("the user has no home folder for compiled kernels")


def code_folder() -> Path:
    """Return the folder of code for this version of numba: the user's alone, or one of this process.

    Whatever is carried out unchecked is read from there and from nowhere else.
    """
    return _usable(cache_folder())


@cache
def _usable(user: Path) -> Path:
    """Return a folder in the user's; one of this process alone, with a warning, if others may write to that or none."""
    folder = user / "machine-code" / f"numba-{numba.__version__}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            pass
        others = _writable_by_others(user)
    except OSError as error:
        others = f"cannot be written ({error.strerror})"
    if not others:
        return folder
    return _usable(_own_folder(f"the compile cache {user} {others}"))


def _own_folder(why: str) -> Path:
    """Make a cache folder for this process and those it starts, which ends with it; warn, once."""
    own = Path(tempfile.mkdtemp(prefix="corekit-machine-code-"))
    os.environ["COREKIT_CACHE"] = str(own)
    # unlike `atexit` also at the end of a worker, and not at that of a process forked from this one
    Finalize(None, shutil.rmtree, (own,), {"ignore_errors": True}, exitpriority=0)
    warnings.warn(
        f"{why}: kernels are compiled again in every run; "
        "name a folder of your own by the environment variable COREKIT_CACHE",
        RuntimeWarning,
        stacklevel=2,
    )
    return own


def _writable_by_others(folder: Path) -> str:
    """Why a folder is not the user's alone, or nothing; Windows keeps a user's folders to the user."""
    if os.name == "nt":
        return ""
    about = folder.stat()
    if about.st_uid != os.getuid():
        return "belongs to another user"
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "may be written by other users (chmod go-w mends it)"
    return ""


@cache
def source_digest(module: str) -> str:
    """Return the digest (1) of a loaded module, as 64 hexadecimal digits."""
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
    """Read the text of a loaded module, and find which loaded modules it imports."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return b"", ()
    text = Path(file).read_bytes()
    return text, tuple(name for name in _imports(text) if name in sys.modules)


def _imports(text: bytes) -> Iterator[str]:
    """Find names of modules, and names that may be modules, after `import`."""
    for found in _IMPORT.finditer(text):
        package, names, plain = found.groups()
        base = (package or plain).decode()
        yield base
        yield from (f"{base}.{name.decode()}" for name in _WORD.findall(names or b""))


class _Locator(_CACHING._CacheLocator):  # noqa: SLF001 - the base class of every locator of numba
    """Where the code of one function is kept."""

    form = ""

    def __init__(self, function: Any) -> None:
        self._line = function.__code__.co_firstlineno
        self._digest = source_digest(function.__module__)
        self._py_file = function.__code__.co_filename  # numba names it where code cannot be kept
        self._path = code_folder() / f"{function.__module__}-{self._digest[:20]}"

    def get_cache_path(self) -> str:
        return str(self._path)

    def ensure_cache_path(self) -> None:
        """Make the folder; a few of the module's earlier states are kept."""
        if not self._path.exists():
            states = sorted(code_folder().glob(f"{self._path.name.rpartition('-')[0]}-*"), key=_age)
            for old in states[_STATES_KEPT - 1 :]:
                shutil.rmtree(old, ignore_errors=True)
        super().ensure_cache_path()

    def get_source_stamp(self) -> str:
        return self._digest

    def get_disambiguator(self) -> str:
        return f"{self._line}{self.form}"

    @classmethod
    def from_function(cls, py_func: Any, _py_file: str) -> _Locator:
        return cls(py_func)


def _age(folder: Path) -> float:
    try:
        return -folder.stat().st_mtime
    except OSError:  # another process removed it
        return 0.0


class _CheckedFiles(_CACHING.IndexDataCacheFile):
    """numba's files of a function, each with its digest: a bit that the disk turned would be executed."""

    def _dump(self, obj: Any) -> bytes:
        data = super()._dump(obj)
        return data + hashlib.sha256(data).digest()

    def _load_index(self) -> dict[Any, str]:
        with suppress(FileNotFoundError), open(self._index_path, "rb") as file:
            pickle.load(file)  # noqa: S301 - numba's version
            _require_digest(file.read())
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        data = Path(self._data_path(name)).read_bytes()
        _require_digest(data)
        return pickle.loads(data)  # noqa: S301 - the user's own folder; what follows the pickle is not read


def _require_digest(data: bytes) -> None:
    """Raise ValueError unless the last 32 bytes are the digest of the others."""
    if hashlib.sha256(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
        raise ValueError("damaged")


class _SharedCache(_CACHING.FunctionCache):
    """numba's cache of a function; a process that misses in it compiles while others wait."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = _CheckedFiles(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )
        self._claims: dict[Any, FileLock] = {}

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the code for a signature, also if another process compiles it now; None if it must be compiled here."""
        found = self._load(sig, target_context)
        if found is None and sig not in self._claims and self._claim(sig):
            found = self._load(sig, target_context)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep new code, unless the disk is full or the folder is gone: the next run compiles again."""
        with suppress(OSError):
            super().save_overload(sig, data)

    def release(self, sig: Any) -> None:
        """Release the lock that other processes wait for: the function is compiled, or cannot be."""
        lock = self._claims.pop(sig, None)
        if lock is not None:
            lock.release()

    def _load(self, sig: Any, target_context: Any) -> Any:
        """Load the stored code; a damaged file counts as none."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - a truncated pickle may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def _claim(self, sig: Any) -> bool:
        """Lock a function for a signature, so that this process alone compiles it."""
        name = hashlib.sha256(repr(sig).encode()).hexdigest()[:12]
        try:
            self._impl.locator.ensure_cache_path()
            lock = FileLock(f"{self._cache_file._index_path}.{name}.lock")  # noqa: SLF001
            with event.trigger_event(WAITING, data={"function": self._py_func}):
                lock.acquire(timeout=_PATIENCE)
        except (OSError, Timeout):
            return False
        self._claims[sig] = lock
        return True


class _KernelFiles(_CACHING.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012 - numba's own attribute


class KernelCache(_SharedCache):
    """Machine code of a function that Python calls."""

    _impl_class = _KernelFiles


class _CalleeLocator(_Locator):
    form = "-callee"


class _CalleeFiles(_CACHING.CompileResultCacheImpl):
    _locator_classes = [_CalleeLocator]  # noqa: RUF012 - numba's own attribute

    def reduce(self, cres: Any) -> Any:
        cres.fndesc.typemap = cres.fndesc.calltypes = None  # as numba does: no caller reads them
        return (
            cres.library.linkable_bitcode(),
            cres.fndesc,
            cres.environment,
            cres.signature,
            cres.reload_init,
        )

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        bitcode, described, environment, signature, reload_init = payload
        for prepare in reload_init:
            prepare()
        library = CalleeLibrary(target_context.codegen(), described.qualname, bitcode)
        return _COMPILER.compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=environment,
            entry_point=target_context.get_executable(library, described, environment),
            fndesc=described,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=reload_init,
            metadata={},
        )


class CalleeCache(_SharedCache):
    """LLVM code of a function that other kernels call."""

    _impl_class = _CalleeFiles
