"""Tasks on another computer: what they need is checked there, and what they return or raise comes back as bytes.

An answer is a letter and what belongs to it, `R` and what the function returned, `E` and an error as JSON, so that
nothing has to be unpickled of it.
"""

from __future__ import annotations

import json
import platform
import threading
from collections.abc import Mapping
from typing import Any

from corekit import errors
from corekit.distributions import version_of
from corekit.errors import CorekitError, PluginError
from corekit_run.schedulers import call

__all__ = ["answer_of", "call_elsewhere"]

_RETURNED, _RAISED = b"R", b"E"
_one_at_a_time = threading.Lock()


def call_elsewhere(function: str, argument: bytes, needs: Mapping[str, str]) -> bytes:
    """Call `module:function` where this runs, one call at a time in a process: a run uses global state of libraries.

    Args:
        needs: distribution → version that must be installed here.
    Returns:
        What `answer_of` reads.
    """
    with _one_at_a_time:
        try:
            _check(needs)
            return _RETURNED + call(function, argument)
        except Exception as error:  # noqa: BLE001 - it is raised where the answer is read
            return _RAISED + json.dumps(_as_data(error)).encode()


def answer_of(data: bytes) -> bytes:
    """Return what a function returned elsewhere.

    Raises:
        CorekitError: of the same class, with the same text and notes, as it was raised there. PluginError: what was
        raised
            there is no error of corekit, or the data are no answer.
    """
    if data[:1] == _RETURNED:
        return data[1:]
    try:
        said = json.loads(data[1:]) if data[:1] == _RAISED else {}
        kind, text = str(said["kind"]), str(said["text"])
        notes = [str(each) for each in said["notes"]]
    except (ValueError, TypeError, KeyError) as error:
        raise PluginError("a worker answered with something that is no answer of corekit") from error
    made: Any = getattr(errors, kind, None)
    if not (isinstance(made, type) and issubclass(made, CorekitError)):
        made = PluginError
    try:
        raised = made(text)
    except TypeError:  # an error that is made of more than its text
        raised = CorekitError(text)
    for each in notes:
        raised.add_note(each)
    raise raised


def _as_data(error: Exception) -> dict[str, Any]:
    is_ours = isinstance(error, CorekitError)
    text = str(error) if is_ours else f"a task on {platform.node()} raised {type(error).__name__}: {error}"
    return {
        "kind": type(error).__name__ if is_ours else "",
        "text": text,
        "notes": getattr(error, "__notes__", []),
    }


def _check(needs: Mapping[str, str]) -> None:
    """Refuse what is missing or of another version here."""
    wrong = []
    for name, version in needs.items():
        own = version_of(name)
        if own is None:
            wrong.append(f"has no {name}")
        elif own != version:
            wrong.append(f"has {name} {own}, not {version}")
    if wrong:
        lines = " ".join(f"{name}=={version}" for name, version in needs.items())
        raise PluginError(
            f"the worker on {platform.node()} {', '.join(wrong)}: install there what is here: pip install {lines}"
        )
