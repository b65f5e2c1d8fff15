"""Converters for numbers and lists of numbers in options."""

from __future__ import annotations

from typing import Any

from corekit.roles.options import option

__all__ = ["Triple", "profile_option", "to_floats", "to_loops", "to_points", "to_texts"]

Triple = tuple[float, float, float]


def _is_number(entry: object) -> bool:
    return isinstance(entry, (int, float)) and not isinstance(entry, bool)


def to_floats(value: Any) -> Any:
    """Convert a number or a list of numbers to a tuple of floats; the validator rejects other values."""
    entries = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if all(type(entry) is float for entry in entries):
        return entries  # the very tuple that was given: a default needs no check
    return tuple(float(entry) for entry in entries) if all(map(_is_number, entries)) else value


def to_points(value: Any) -> Any:
    """Convert a list of points to a tuple of tuples of floats."""
    return tuple(to_floats(entry) for entry in value)


def to_loops(value: Any) -> Any:
    """Convert a list of lists of points."""
    return tuple(map(to_points, value))


def to_texts(value: Any) -> tuple[str, ...]:
    """Convert one text or a list of texts to a tuple."""
    return (value,) if isinstance(value, str) else tuple(value)


def _are_numbers(value: object) -> str | None:
    fine = isinstance(value, tuple) and value and all(map(_is_number, value))
    return None if fine else "give one number, or a list of numbers evenly spaced along the rod"


def profile_option(default: Any, help: str, **limits: Any) -> Any:
    """Return an option with one number, or several evenly spaced along the rod and interpolated linearly."""
    entries = default if isinstance(default, tuple) else (default,)
    text = help + "; one number, or several evenly spaced along the rod"
    return option(entries, text, converter=to_floats, check=_are_numbers, **limits)
