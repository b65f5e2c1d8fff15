"""What a comparison or a sweep varies, `contact.solver.use=lcp,qp`, and every combination of it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import product

import numpy as np
from attrs import frozen

from corekit.errors import ConfigError, Mistake
from corekit.scenario.overrides import path_steps

__all__ = ["MOST_RUNS", "Variant", "check_overrides", "spread", "variants"]

MOST_RUNS = 100_000
"""Most runs of one sweep or comparison: each has a folder of its own."""
_OPENING, _CLOSING = "[{", "]}"


@frozen
class Variant:
    """One combination.

    Args:
        values: path in the scenario → value, as written on the command line, in the order given.
    """

    values: tuple[tuple[str, str], ...]

    @property
    def overrides(self) -> tuple[str, ...]:
        """The same as in `--set`."""
        return tuple(f"{path}={value}" for path, value in self.values)

    @property
    def label(self) -> str:
        """The values alone, in words."""
        return ", ".join(value for _, value in self.values) or "as given"

    @property
    def slug(self) -> str:
        """The label as a part of a folder's name."""
        return re.sub(r"[^\w.+-]+", "_", self.label).strip("_")[:80] or "variant"


def variants(vary: Sequence[str]) -> list[Variant]:
    """Return all combinations of what is varied, the last one fastest.

    Args:
        vary: texts `path=value,value`; commas inside brackets, braces and quotes belong to a value.
    Raises:
        ConfigError: a text that is not of that form, a path given twice, a value given twice.
    """
    mistakes: list[Mistake] = []
    axes: list[list[tuple[str, str]]] = []
    seen: set[str] = set()
    for text in vary:
        path, equals, rest = text.partition("=")
        path, values = path.strip(), _split(rest)
        if not equals or not path or not all(values):
            said = "must be PATH=VALUE,VALUE, for example contact.solver.use=lcp,qp"
            mistakes.append(Mistake("--vary", text, said))
        elif path in seen:
            mistakes.append(Mistake("--vary", text, f"{path} is varied already: give all its values at once"))
        elif len(set(values)) < len(values):
            mistakes.append(Mistake("--vary", text, "must not name a value twice"))
        seen.add(path)
        axes.append([(path, value) for value in values])
    if mistakes:
        raise ConfigError(mistakes, "the comparison")
    if (count := math.prod(map(len, axes))) > MOST_RUNS:
        said = f"must have at most {MOST_RUNS} combinations: each is a run of its own"
        raise ConfigError([Mistake("--vary", count, said)], "the comparison")
    return [Variant(values) for values in product(*axes)]


def check_overrides(vary: Sequence[str], overrides: Sequence[str]) -> None:
    """Refuse an override of an entry that is varied, or of one inside it: one of the two would count for nothing.

    Raises:
        ConfigError: there is one.
    """
    varied = {path_steps(text.partition("=")[0]): text.partition("=")[0].strip() for text in vary}
    mistakes: list[Mistake] = []
    for text in overrides:
        steps = path_steps(text.partition("=")[0])
        path = next((varied[steps[:n]] for n in range(1, len(steps) + 1) if steps[:n] in varied), None)
        if path is not None:
            said = f"--vary varies {path}: leave this out, or do not vary it"
            mistakes.append(Mistake("--set", text, said))
    if mistakes:
        raise ConfigError(mistakes, "the command line")


def spread(text: str) -> str:
    """Expand `path=FROM:TO:COUNT` into equally spaced values, `path=FROM:TO:COUNT:log` into values by equal factors.

    Any other text is returned as it is.

    Raises:
        ConfigError: a range that is none: fewer than two values, equal ends, or by factors through zero.
    """
    path, _, rest = text.partition("=")
    words = rest.split(":")
    if len(words) == 2 and all(_is_number(word) for word in words):
        said = "must be FROM:TO:COUNT, or have --samples COUNT beside it"
        raise ConfigError([Mistake("--vary", text, said)], "the sweep")
    if len(words) not in (3, 4) or (len(words) == 4 and words[3].strip() != "log"):
        return text
    try:
        begin, end, count = float(words[0]), float(words[1]), int(words[2])
    except ValueError:
        return text
    by_factors = len(words) == 4
    if count < 2 or begin == end or (by_factors and begin * end <= 0.0):
        said = (
            "must be FROM:TO:COUNT of two values or more, with :log of one sign, for example 1e-4:1e-2:5:log"
        )
        raise ConfigError([Mistake("--vary", text, said)], "the sweep")
    if count > MOST_RUNS:
        raise ConfigError([Mistake("--vary", text, f"must be of at most {MOST_RUNS} values")], "the sweep")
    values = np.geomspace(begin, end, count) if by_factors else np.linspace(begin, end, count)
    return f"{path}=" + ",".join(f"{value:.12g}" for value in values)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _split(text: str) -> list[str]:
    """Split a text at the commas outside brackets, braces and quotes."""
    values, depth, quote, current = [], 0, "", ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        elif letter == "," and depth == 0:
            values.append(current.strip())
            current = ""
            continue
        current += letter
    return [*values, current.strip()]
