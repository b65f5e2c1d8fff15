"""Options that are one number for all sections, or a list with one per section."""

from __future__ import annotations

from typing import Any

from corekit.roles.options import option

__all__ = ["check_numbers", "count_per_section", "is_whole", "per_section", "to_numbers"]

_SPREAD = "; one for all or one a section"


def _is_number(entry: object) -> bool:
    return isinstance(entry, (int, float)) and not isinstance(entry, bool)


def to_numbers(value: Any) -> Any:
    """A number or a list of numbers as a tuple of floats; what is neither is left for the check to name."""
    entries = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    return tuple(float(entry) for entry in entries) if all(map(_is_number, entries)) else value


def _to_counts(value: Any) -> Any:
    """A whole number or a list of them as a tuple of ints; what is neither is left for the check to name."""
    entries = to_numbers(value)
    whole = isinstance(entries, tuple) and all(_is_number(entry) and entry % 1 == 0 for entry in entries)
    return tuple(int(entry) for entry in entries) if whole else value


def check_numbers(value: object) -> str | None:
    """What is wrong with numbers; None, an option left out, is right."""
    fine = value is None or (isinstance(value, tuple) and value and all(map(_is_number, value)))
    return None if fine else "give one number, or a list with one a section"


def _check_counts(value: object) -> str | None:
    fine = isinstance(value, tuple) and value and all(isinstance(entry, int) for entry in value)
    return None if fine else "give one whole number, or a list with one a section"


def is_whole(value: object) -> str | None:
    """What is wrong with a whole number."""
    return None if isinstance(value, int) and not isinstance(value, bool) else "must be a whole number"


def per_section(default: float | None, help: str, **limits: Any) -> Any:
    """Real numbers; without a default they may be left out."""
    entries = None if default is None else (default,)
    return option(entries, help + _SPREAD, converter=_or_none, check=check_numbers, **limits)


def count_per_section(default: int, help: str, **limits: Any) -> Any:
    """Whole numbers."""
    return option((default,), help + _SPREAD, converter=_to_counts, check=_check_counts, **limits)


def _or_none(value: Any) -> Any:
    return None if value is None else to_numbers(value)
