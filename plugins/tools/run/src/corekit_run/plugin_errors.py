"""What plugins and users' functions raise while they are used, as one error that names them.

The kernel calls plugins, and these call the kernel, NumPy and each other. Of the frames of a traceback the innermost
one of a stranger's distribution is blamed, else that of a file outside of all installed packages, else that of a plugin
of this project. An error that passes none of them is the kernel's own, and stays as it is.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb
from types import CodeType, FrameType

from attrs import frozen

from corekit.distributions import distributions
from corekit.errors import CorekitError, PluginFailed, StepFailed
from corekit.registry.first_party import is_ours
from corekit.simulation.loop import Simulation

__all__ = ["named_errors", "named_step_errors"]

_OWN = ("corekit", "corekit_run")
_LIBRARIES = tuple(Path(sysconfig.get_path(each)) for each in ("stdlib", "platstdlib", "purelib", "platlib"))


@contextmanager
def named_errors() -> Iterator[None]:
    """Raise PluginFailed in place of what a plugin or a user's function raises that is no error of corekit's.

    An OSError stays as it is: the caller knows which file was to be written.
    """
    with _translated(PluginFailed, keeps_os_errors=True):
        yield


@contextmanager
def named_step_errors(simulation: Simulation) -> Iterator[None]:
    """Raise StepFailed, with the step that was not finished, in place of such an error.

    An OSError of a plugin of this project, as of a full disk, stays as it is: the command line says which file.
    """

    def failed(said: str) -> StepFailed:
        # an observer is called when the time is that of the step's end already
        began = simulation.start_time + simulation.step_index * simulation.step_length
        return StepFailed(said, step=simulation.step_index, time=began)

    with _translated(failed, keeps_os_errors=False):
        yield


@contextmanager
def _translated(error_of: Callable[[str], CorekitError], *, keeps_os_errors: bool) -> Iterator[None]:
    try:
        yield
    except CorekitError:
        raise
    except Exception as error:
        blamed = _blamed(error)
        if blamed is None or (isinstance(error, OSError) and (keeps_os_errors or blamed.is_ours)):
            raise
        kind = type(error).__name__
        raise error_of(f"{blamed.who} raised {kind}: {error} ({blamed.where})") from error


@frozen
class _Blamed:
    """Whose code raised an error, in words, and where; whether it is of a plugin of this project."""

    who: str
    where: str
    is_ours: bool


def _blamed(error: Exception) -> _Blamed | None:
    packages = {
        entry.value.partition(":")[0].partition(".")[0].strip(): entry
        for each in distributions()
        for entry in each.entries
    }
    strangers: list[_Blamed] = []
    users: list[_Blamed] = []
    ours: list[_Blamed] = []
    for frame, line in walk_tb(error.__traceback__):
        package = _package(frame)
        code = frame.f_code
        where = f"{code.co_qualname}, line {line} of {code.co_filename}"
        if package in packages and package not in _OWN:
            entry = packages[package]
            is_project = is_ours(entry.distribution)
            found = _Blamed(f"{entry.distribution} {entry.version}", where, is_project)
            (ours if is_project else strangers).append(found)
        elif not package.startswith("corekit") and not _is_of_a_library(code):
            users.append(_Blamed(f"the function {code.co_name!r}", where, is_ours=False))
    for found in (strangers, users, ours):
        if found:
            return found[-1]
    return None


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _is_of_a_library(code: CodeType) -> bool:
    file = Path(code.co_filename)
    return code.co_filename.startswith("<") or any(file.is_relative_to(folder) for folder in _LIBRARIES)
