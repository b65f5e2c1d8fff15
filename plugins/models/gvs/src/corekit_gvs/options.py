"""How numbers, profiles along a link and lists in options are read."""

from __future__ import annotations

from typing import Any

from corekit.roles.options import option

__all__ = ["Profile", "Triple", "is_word", "loop", "loops", "numbers", "profile", "text_list", "texts"]

Triple = tuple[float, float, float]
Profile = tuple[float, ...] | float | str


def _is_number(entry: object) -> bool:
    return isinstance(entry, (int, float)) and not isinstance(entry, bool)


def numbers(value: Any) -> Any:
    """A number or a list of numbers as a tuple of floats; what is neither is left for the check to name."""
    entries = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    return tuple(float(entry) for entry in entries) if all(map(_is_number, entries)) else value


def loop(value: Any) -> Any:
    """A list of vertices as a tuple of tuples of floats."""
    return tuple(map(numbers, value)) if isinstance(value, (list, tuple)) else value


def loops(value: Any) -> Any:
    """A list of lists of vertices."""
    return tuple(map(loop, value)) if isinstance(value, (list, tuple)) else value


def text_list(value: Any) -> Any:
    """One text or a list of them as a tuple."""
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def texts(value: Any) -> Any:
    """A formula or a list of them, numbers among them, as a tuple of texts."""
    return tuple(str(entry) if _is_number(entry) else entry for entry in text_list(value))


def is_word(name: str) -> str | None:
    """What is wrong with a name that places refer to, or None."""
    fine = name and not set(name) & set(". /") and name != "world"
    return None if fine else "must be a word without dots, slashes or spaces, and not 'world'"


def _profile(value: Any) -> Any:
    return value if isinstance(value, str) else numbers(value)


def _is_profile(value: object) -> str | None:
    if isinstance(value, str) and value.strip():
        return None
    fine = isinstance(value, tuple) and value and all(map(_is_number, value))
    return None if fine else "give a number, coefficients of a polynomial, or a formula in quotes"


def profile(default: Any, help: str, *, along: str = "X", **limits: Any) -> Any:
    """An option that is one number, coefficients of a polynomial (constant first), or a formula."""
    entries = default if isinstance(default, (tuple, str)) else (float(default),)
    text = (
        f"{help}; a number, coefficients of a polynomial in {along} (constant first), or a formula in {along}"
    )
    return option(entries, text, converter=_profile, check=_is_profile, **limits)
