"""Whatever a command prints, of whatever it read: a terminal obeys nothing of it but the command's own colours."""

from __future__ import annotations

import io
import json
import re
import sys
import unicodedata

import pytest
from rich.progress import Progress, TextColumn
from rich.table import Table
from rich.text import Text

from corekit.cli import main, print_error
from corekit.cli.terminal import guarded_streams, make_console, print_json, printable

HOSTILE = "a\x1b]0;owned\x07\x1b[2J\r\b\x9b31m\u202eb\udc80[/red][link=x]:boom:"
SHOWN = r"a\x1b]0;owned\x07\x1b[2J\r\x08\x9b31m\u202eb\udc80[/red][link=x]:boom:"
BY_RICH = re.sub(r"\\x07|\\r|\\x08", "", SHOWN)
"""Its texts are without bells and what goes back."""
OURS = re.compile(r"\x1b\[[0-9;?]*[mKAhl]|\r(?=\x1b|\n)")
"""Colours, and what moves the cursor within a line of progress."""
TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
MARKS = {"\u200e", "\u200f", "\u061c"}


def is_order(letter: str) -> bool:
    """Whether a terminal does something else with a character than show it, by the tables of Unicode."""
    if letter in "\t\n":
        return False
    kind = unicodedata.category(letter)
    return kind in {"Cc", "Cs", "Zl", "Zp"} or unicodedata.bidirectional(letter) in TURNS or letter in MARKS


def test_exactly_the_characters_that_a_terminal_obeys_are_written_as_escapes():
    letters = [letter for letter in map(chr, range(sys.maxunicode + 1)) if letter != "\n"]
    written = printable("\n".join(letters)).split("\n")
    changed = {letter for letter, now in zip(letters, written, strict=True) if now != letter}
    assert changed == set(filter(is_order, letters))
    assert all(json.loads(f'"{printable(each)}"'.replace("\\x", "\\u00")) == each for each in changed)


def test_a_printed_text_shows_what_it_held():
    assert printable(HOSTILE) == SHOWN
    assert printable("12 µs → 3·10⁻⁶ 米 🤖\tan end\n") == "12 µs → 3·10⁻⁶ 米 🤖\tan end\n"


@pytest.mark.parametrize("indent", [None, 2])
def test_printed_json_says_the_same_without_orders(capsys, indent):
    data = {HOSTILE: [HOSTILE, 1.5, "µ🤖"]}
    print_json(data, indent)
    text = capsys.readouterr().out
    assert json.loads(text) == data
    assert not any(map(is_order, text))
    assert "µ🤖" in text


def drawn(draw) -> str:
    """What a console writes to a terminal."""
    stream = io.StringIO()
    stream.isatty = lambda: True
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("TERM", "xterm"), ("COLUMNS", "200"), ("COLORTERM", "truecolor")):
            patch.setenv(name, value)
        for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
            patch.delenv(name, raising=False)
        patch.setattr(sys, "stderr", stream)
        with guarded_streams():
            draw(make_console(stderr=True))
    return stream.getvalue()


def table(console) -> None:
    made = Table(HOSTILE, title=HOSTILE)
    made.add_row(HOSTILE)
    made.add_row(Text(HOSTILE, style="bold red"))
    console.print(made)


def progress(console) -> None:
    with Progress(TextColumn("{task.description}", markup=False), console=console) as line:
        line.add_task(HOSTILE)
        print(HOSTILE, file=sys.stderr)


def error(_console) -> None:
    print_error(HOSTILE)


def plain(console) -> None:
    console.print(HOSTILE, style="red")
    sys.stderr.write(HOSTILE)
    sys.stderr.writelines([HOSTILE, "\n"])


@pytest.mark.parametrize("draw", [plain, error, table, progress], ids=lambda draw: draw.__name__)
def test_a_terminal_is_given_no_orders_but_the_console_s_own(draw):
    written = drawn(draw)
    assert "\x1b[" in written  # it was drawn for a terminal
    left = OURS.sub("", written)
    assert not list(filter(is_order, left))
    assert SHOWN in left or BY_RICH[:20] in left  # a line of progress is cut


def test_the_streams_are_those_of_before_after_a_command(capsys):
    before = sys.stdout, sys.stderr
    assert main(["check", HOSTILE.replace("\udc80", "")]) == 2
    assert (sys.stdout, sys.stderr) == before
    assert not list(filter(is_order, "".join(capsys.readouterr())))


def test_a_process_without_streams_prints_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with guarded_streams():
        assert sys.stdout is None
