"""`corekit info signal`: every kind of signal with its equations and keys."""

from __future__ import annotations

import inspect
import re

import attrs

from corekit.cli.terminal import make_console, print_json
from corekit.data.signal_base import HeldSignal
from corekit.data.signals import SIGNALS, Signal
from corekit_inspect.cli.options_print import print_options
from corekit_inspect.option_table import describe_options

__all__ = ["show_signals"]

_ABOUT = (
    "A signal gives one number or several over time: an input, a moving base or obstacle, a driven joint. Numbers "
    "alone stay as they are. Steps end at a signal's breakpoints."
)


def _meaning(cls: type) -> str:
    """Return the docstring of a kind, and of what it shares with others, without numbers of equations."""
    shared = [
        each for each in cls.__mro__[1:] if each not in {Signal, HeldSignal} and issubclass(each, Signal)
    ]
    texts = [inspect.getdoc(each) or "" for each in (cls, *shared)]
    text = re.sub(r"(, equations?| of)? +\(\d\)( to \(\d\))?", "", "\n\n".join(texts))
    # lines of a paragraph are joined, those of equations are not
    joined = re.sub(r"(?<=[a-z,])\n(?=[a-z][^=\n]*(\n|$))", " ", text)
    return re.sub(r" {3,}", "   ", joined)


def show_signals(*, as_json: bool) -> None:
    """Print the kinds of signals."""
    found = [
        {
            "kind": kind,
            "meaning": _meaning(cls),
            "keys": [attrs.asdict(option) for option in describe_options(cls)],
        }
        for kind, cls in SIGNALS.items()
    ]
    if as_json:
        print_json(found, indent=2)
        return
    from rich.padding import Padding
    from rich.text import Text

    console = make_console()
    console.print(Text(_ABOUT))
    for each in found:
        console.print(Text(f"\nkind = {str(each['kind'])!r}", style="bold"))
        console.print(Padding(Text(str(each["meaning"])), (0, 0, 0, 2)))
        print_options("  keys", each["keys"])  # pyrefly: ignore[bad-argument-type]
