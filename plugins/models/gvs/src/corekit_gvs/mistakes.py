"""Mistakes that show only while a tree is built: all at once, each with where it stands in the scenario."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import final

from corekit.errors import ConfigError, Mistake

__all__ = ["Mistakes", "near"]


@final
class Mistakes:
    """What was found so far.

    Args:
        path: the body in its scenario, or nothing.
    """

    def __init__(self, path: str) -> None:
        self._before = f"{path}.options." if path else ""
        self._found: list[Mistake] = []

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Keep the mistakes of a part, so that the next one is looked at too."""
        try:
            yield
        except ConfigError as error:
            self._found += [
                Mistake(self._before + each.path, each.found, each.allowed, each.hint)
                for each in error.mistakes
            ]

    def raise_if_any(self) -> None:
        """Raise ConfigError with all of them, if there are any."""
        if self._found:
            raise ConfigError(self._found, "the list of links")


def near(word: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?` for the closest word that is known, or nothing."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else ""
