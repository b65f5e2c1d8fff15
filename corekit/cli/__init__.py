"""The command line: one verb a file, imported only when it is called."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import time as clock
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, Any

from corekit.cli.terminal import guard_streams, guarded_streams, make_console
from corekit.errors import CompositionError, ConfigError, CorekitError, PluginError, ResultsError, Terminated
from corekit.version import __version__

if TYPE_CHECKING:
    from corekit.hooks.installed import Owner
    from corekit.hooks.specs import Verb

__all__ = [
    "DONE",
    "FAILED",
    "INTERRUPTED",
    "MISUSE",
    "TERMINATED",
    "exit_code",
    "main",
    "print_error",
    "seconds_so_far",
    "stop_at_sigterm",
    "verbs_left_out",
]

VERBS: tuple[tuple[str, str, str], ...] = (
    ("check", "corekit.cli.check:check", "Load and compose a scenario, or print every mistake in it."),
)
"""Verb, `module:function` that does it, and its line in `corekit --help`.

A function returns its exit code, or None for 0, and raises `CorekitError` for what the user should read.
"""

DONE, FAILED, MISUSE, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143
"""Exit codes: done; the run or check failed; the request itself was wrong; stopped by Ctrl-C; stopped by SIGTERM."""

_MISUSE_ERRORS = (ConfigError, PluginError, CompositionError, ResultsError)


_SELDOM = 100_000
"""Objects made between two searches for garbage: what is imported stays, and searching it took a tenth of a run."""

_began = [clock.perf_counter()]


def seconds_so_far() -> float:
    """Return the wall time since the command line was read [s]."""
    return clock.perf_counter() - _began[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    Args:
        arguments: words after `corekit`; those of the process if None.
    """
    _began[0] = clock.perf_counter()
    if arguments is None:
        # at the end of the process everything goes anyway: its last search for garbage took a quarter of a second
        atexit.register(gc.freeze)
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, stop_at_sigterm)
    gc.set_threshold(max(_SELDOM, gc.get_threshold()[0]), *gc.get_threshold()[1:])
    for library in ("OPENBLAS", "OMP", "MKL"):
        # a run is one thread; the matrices of a step are too small to share out
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    if arguments is None:
        guard_streams()  # tracebacks too
        return _answer(sys.argv[1:])
    with guarded_streams():
        return _answer(list(arguments))


def _answer(words: list[str]) -> int:
    """Call the verb, and print what went wrong."""
    try:
        answer = _call(words)
        return answer if isinstance(answer, int) else DONE
    except CorekitError as error:
        if os.environ.get("COREKIT_TRACEBACK"):
            traceback.print_exception(error)
        print_error("\n".join([str(error), *getattr(error, "__notes__", ())]))
        return exit_code(error)
    except BrokenPipeError:  # the reader closed the pipe: nothing more can be written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        if error.strerror is None:  # not of the system
            raise
        print_error(f"cannot read or write {error.filename or 'a file'}: {error.strerror}")
        return FAILED
    except KeyboardInterrupt as stop:
        print_error("\n".join([str(stop) or "stopped", *getattr(stop, "__notes__", ())]))
        return TERMINATED if isinstance(stop, Terminated) else INTERRUPTED


def stop_at_sigterm(_number: int, _frame: object) -> None:
    """Handle SIGTERM as Ctrl-C is handled: what goes on writes down where it was stopped, and says how to go on."""
    raise Terminated


def _call(words: list[str]) -> object:
    """Call the verb and return what it returns."""
    verbs, left_out = _verbs()
    for owner, verb in left_out:
        print_error(
            f"the verb {verb.name!r} of {owner.name} {owner.version} is left out: there is one of that name"
        )
    _require_distribution(words, verbs)
    function = _function(words[0], *verbs[words[0]]) if words and words[0] in verbs else None
    if function is not None and len(words) == 1:
        from inspect import signature

        if all(each.default is not each.empty for each in signature(function).parameters.values()):
            return function()  # without a further word it does not wait for the option parser
    from cyclopts import App, CycloptsError

    app = App(
        name="corekit",
        help="Simulate soft robots in contact.",
        version=__version__,
        result_action="return_value",
        suppress_keyboard_interrupt=False,  # what a run says of its end would be lost
        config=_check_numbers,
        console=make_console(),
        error_console=make_console(stderr=True),
    )
    for verb, (target, line, _) in verbs.items():
        app.command(target, name=verb, help=line)
    try:
        return app(words, exit_on_error=False, print_error=True)
    except CycloptsError:
        return MISUSE


def _check_numbers(_app: object, _verbs: object, arguments: Any) -> None:
    """Refuse what is no number where a verb takes one: the option parser rounds 1.5, and nan is a number to it."""
    from corekit.errors import Mistake

    kinds = {int: int, int | None: int, float: float, float | None: float}
    given = [(each, token.value) for each in arguments if each.hint in kinds for token in each.tokens]
    for each, word in given:
        kind = kinds[each.hint]
        with suppress(OverflowError, ValueError):
            if isfinite(kind(word)):
                continue
        allowed = f"must be a {'whole' if kind is int else 'finite'} number"
        raise ConfigError([Mistake(each.name, word, allowed)], "the command line")


def _function(verb: str, target: str, _line: str, owner: str) -> Callable[..., object]:
    """Import what does a verb; raise PluginError where nothing can be called."""
    from corekit.registry.resolve import load_target

    try:
        function = load_target(target)
    except PluginError as error:
        raise PluginError(f"the verb {verb!r} of {owner} cannot be used: {error}") from error
    if not callable(function):
        raise PluginError(f"the verb {verb!r} of {owner} cannot be used: {target} is no function")
    return function


def verbs_left_out() -> list[tuple[Owner, Verb]]:
    """Return the verbs of hooks whose names others have, with their distributions."""
    return _verbs()[1]


def _verbs() -> tuple[dict[str, tuple[str, str, str]], list[tuple[Owner, Verb]]]:
    """Name → function, line and owner of the kernel's verbs and of those of hooks; and those whose name exists.

    A name of `FIRST_PARTY_VERBS` goes to its distribution, whichever other adds a verb of that name.
    """
    from corekit.hooks.installed import installed_hooks

    verbs = {verb: (function, line, "the kernel") for verb, function, line in VERBS}
    left_out: list[tuple[Owner, Verb]] = []
    for owner, verb in sorted(installed_hooks().verbs(), key=_is_foreign):
        if verb.name in verbs:
            left_out.append((owner, verb))
        else:
            verbs[verb.name] = (verb.function, verb.help, f"{owner.name} {owner.version}")
    return verbs, left_out


def _is_foreign(added: tuple[Owner, Verb]) -> bool:
    from corekit.registry.first_party import FIRST_PARTY_VERBS

    owner, verb = added
    return FIRST_PARTY_VERBS.get(verb.name) != owner.name


def _require_distribution(words: list[str], verbs: Mapping[str, object]) -> None:
    """Raise PluginError with the install line for a verb of this project that is not installed."""
    from corekit.registry.first_party import FIRST_PARTY_VERBS

    verb = words[0] if words else ""
    if verb in FIRST_PARTY_VERBS and verb not in verbs:
        owner = FIRST_PARTY_VERBS[verb]
        raise PluginError(
            f"`corekit {verb}` is a verb of {owner}, which is not installed: pip install {owner}"
        )


def exit_code(error: CorekitError) -> int:
    """Return the exit code: a wrong request, or one that failed."""
    return MISUSE if isinstance(error, _MISUSE_ERRORS) else FAILED


def print_error(message: str) -> None:
    """Print on the error stream, in red where there is colour."""
    from rich.text import Text

    make_console(stderr=True, soft_wrap=True).print(Text(message, style="red"))
