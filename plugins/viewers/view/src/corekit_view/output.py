"""Files that are whole or absent, and modules that are present or named."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from corekit.errors import PluginError, ResultsError

__all__ = ["check_suffix", "require_module", "write_whole"]


def require_module(module: str, viewer: str) -> None:
    """Raise PluginError unless the viewer's module can be imported."""
    if importlib.util.find_spec(module) is None:
        raise PluginError(
            f"viewer {viewer!r} needs the module {module!r}, which is not installed; "
            f"try: pip install {module} (or pip install --force-reinstall corekit-view)"
        )


def check_suffix(path: Path, suffixes: tuple[str, ...], viewer: str) -> None:
    """Raise ResultsError unless the file name ends as the viewer writes it."""
    if path.suffix.lower() not in suffixes:
        raise ResultsError(f"viewer {viewer!r} writes {' '.join(suffixes)}, not {path.name!r}")


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it: `path` is never half written.

    Raises:
        ResultsError: if the folder or the file cannot be written; nothing is left behind.
    """
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.stem}-", suffix=f".part{path.suffix}"
        )
        os.close(handle)
        temporary = Path(name)
        write(temporary)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _umask() -> int:
    """The process's file mask, which mkstemp does not follow."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
