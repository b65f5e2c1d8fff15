"""How numbers and lists of numbers in options are read."""

from __future__ import annotations

from typing import Any

from corekit.roles.options import option

__all__ = ["Triple", "along_rod", "numbers", "text_list", "triples"]

Triple = tuple[float, float, float]


def _is_number(entry: object) -> bool:
    return isinstance(entry, (int, float)) and not isinstance(entry, bool)


def numbers(value: Any) -> Any:
    """A number or a list of numbers as a tuple of floats; what is neither is left for the check to name."""
    entries = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    return tuple(float(entry) for entry in entries) if all(map(_is_number, entries)) else value


def triples(value: Any) -> Any:
    """A list of points as a tuple of tuples of floats."""
    return tuple(numbers(entry) for entry in value)


def text_list(value: Any) -> tuple[str, ...]:
    """One text or a list of them as a tuple."""
    return (value,) if isinstance(value, str) else tuple(value)


def _are_numbers(value: object) -> str | None:
    fine = isinstance(value, tuple) and value and all(map(_is_number, value))
    return None if fine else "give one number, or a list of them evenly spaced along the rod"


def along_rod(default: Any, help: str, **limits: Any) -> Any:
    """An option that is one number, or several evenly spaced along the rod with straight lines between."""
    entries = default if isinstance(default, tuple) else (default,)
    text = help + "; one, or several evenly spaced along the rod"
    return option(entries, text, converter=numbers, check=_are_numbers, **limits)
