"""Arguments of studies from Python, checked before anything is loaded or written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from corekit.simulation.arguments import Kind

__all__ = ["INTEGER", "LINES", "lines"]


def _are_lines(value: object) -> bool:
    is_list = isinstance(value, Sequence) and not isinstance(value, (bytes, Mapping))
    return is_list and all(isinstance(each, str) for each in value)


LINES: Kind = "a text, or a list of texts", _are_lines
INTEGER: Kind = "a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)


def lines(given: str | Sequence[str]) -> list[str]:
    """Return a list of texts; one text alone is a list of one, as for `corekit.load`."""
    return [given] if isinstance(given, str) else list(given)
