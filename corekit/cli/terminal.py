r"""Text and JSON as commands print them: nothing of what they read reaches a terminal as an order.

A name, a status or a message of a parser may hold whatever its author liked: ESC and its 8-bit relatives, which set
titles, clear lines and write to the clipboard; carriage returns and backspaces, which write over what stands there;
marks of direction, which turn words around; halves of characters, which no stream can encode. All of these are printed
as Python writes them within quotes, `\x1b`. Colours are rich's, by `make_console`; all else goes through
`guard_streams`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import IO, TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["guard_streams", "guarded_streams", "make_console", "print_json", "printable"]

_ORDERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tabs and line ends
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # directions, and other ends of lines
    "\ud800-\udfff]"
)


def printable(text: str) -> str:
    """A text of any origin without the characters that a terminal obeys."""
    return _ORDERS.sub(lambda found: ascii(found.group())[1:-1], text)


def print_json(data: object, indent: int | None = None, default: Any = None) -> None:
    """Print data as JSON, whose own escapes keep every character."""
    text = json.dumps(data, indent=indent, default=default, ensure_ascii=False)
    print(_ORDERS.sub(lambda found: f"\\u{ord(found.group()):04x}", text))


def make_console(*, stderr: bool = False, quiet: bool = False, soft_wrap: bool = False) -> Console:
    """A console of rich that prints texts as they are: their brackets and colons mean nothing to it."""
    return _console_class()(
        stderr=stderr, quiet=quiet, soft_wrap=soft_wrap, markup=False, emoji=False, highlight=False
    )


def guard_streams() -> None:
    """From now on whatever is written to the streams of this process is `printable`, but for what consoles write."""
    # a process without a terminal, as `pythonw`, has none
    guarded = [None if each is None else _Guarded(each) for each in (sys.stdout, sys.stderr)]
    sys.stdout, sys.stderr = guarded  # pyrefly: ignore[bad-assignment]


@contextmanager
def guarded_streams() -> Iterator[None]:
    """`guard_streams` within the block."""
    streams = sys.stdout, sys.stderr
    guard_streams()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


@final
class _Guarded:
    """A stream of texts that writes what is printable; all else is the stream's own."""

    def __init__(self, stream: IO[str]) -> None:
        self.unguarded = stream

    def write(self, text: str) -> int:
        self.unguarded.write(printable(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unguarded, name)


@cache
def _console_class() -> Any:
    """Made at the first use, since rich takes its time to import."""
    from rich.console import Console

    class PrintableConsole(Console):
        """Whatever it draws is made of printable text; the orders to the terminal are its own."""

        @property
        def file(self) -> IO[str]:  # pyrefly: ignore[bad-override]
            found = super().file
            return getattr(found, "unguarded", found)

        def render(self, renderable: Any, options: Any = None) -> Iterator[Any]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=printable(segment.text))

    return PrintableConsole
