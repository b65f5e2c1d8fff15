"""Where machine code is kept: by a digest of all sources that it comes from.

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
import re
import shutil
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path
from secrets import token_hex
from threading import RLock
from typing import Any, ClassVar

import numba
from platformdirs import user_cache_path

__all__ = ["CodePlace", "EntryPlace", "cache_folder", "code_folder", "keeping", "source_digest"]

_CONFIG: Any = numba.config
_STATES_KEPT = 4
"""States of a module whose machine code is kept: versions side by side, and an edit that is undone."""
_IMPORT = re.compile(
    rb"^[ \t]*(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+([\w.]+))", re.MULTILINE
)
_WORD = re.compile(rb"\w+")
_ONE_AT_A_TIME = RLock()


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


class CodePlace:
    """Where numba keeps the code of one function: a locator of `NUMBA_CACHE_LOCATOR_CLASSES`.

    Attributes:
        form: tells the kinds of code of one function apart.
    """

    form: ClassVar[str]

    def __init__(self, function: Any) -> None:
        self._line = function.__code__.co_firstlineno
        self._py_file = function.__code__.co_filename  # numba names it where code cannot be kept
        # what was typed into a notebook has no source to be known by: it is found by nobody
        self._digest = source_digest(function.__module__) if Path(self._py_file).is_file() else token_hex(32)
        self._path = code_folder() / f"{function.__module__}-{self._digest[:20]}"

    def get_cache_path(self) -> str:
        return str(self._path)

    def ensure_cache_path(self) -> None:
        """Make the folder; a few of the module's earlier states are kept."""
        if not self._path.exists():
            states = sorted(code_folder().glob(f"{self._path.name.rpartition('-')[0]}-*"), key=_age)
            for old in states[_STATES_KEPT - 1 :]:
                shutil.rmtree(old, ignore_errors=True)
        self._path.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        return self._digest

    def get_disambiguator(self) -> str:
        return f"{self._line}{self.form}"

    @classmethod
    def from_function(cls, function: Any, _file: str) -> CodePlace:
        return cls(function)


class KernelPlace(CodePlace):
    form = ""


class CalleePlace(CodePlace):
    form = "-callee"


class PlainPlace(CodePlace):
    form = "-plain"


class EntryPlace(CodePlace):
    """Of functions that compiled code calls by their address."""

    form = "-entry"


@contextmanager
def keeping(place: type[CodePlace]) -> Iterator[None]:
    """Let caches that numba makes in the block be of that place, whatever else the user told numba."""
    with _ONE_AT_A_TIME:
        given = _CONFIG.CACHE_LOCATOR_CLASSES
        _CONFIG.CACHE_LOCATOR_CLASSES = f"{place.__module__}.{place.__qualname__}"
        try:
            yield
        finally:
            _CONFIG.CACHE_LOCATOR_CLASSES = given


def _age(folder: Path) -> float:
    try:
        return -folder.stat().st_mtime
    except OSError:  # another process removed it
        return 0.0
