"""Whole numbers on a command line: 1.5 runs are a mistake, not two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import Parameter

__all__ = ["WholeNumber"]


def _whole_number(_kind: Any, tokens: Sequence[Any]) -> int:
    """Read one; the option parser rounds fractions."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"must be a whole number, not {tokens[0].value!r}") from None


WholeNumber = Annotated[int, Parameter(converter=_whole_number)]
