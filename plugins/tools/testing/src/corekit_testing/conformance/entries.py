"""The C entries of a compiled form, called from Python as a driver calls them from compiled code."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any, Final, final

import numpy as np

from corekit.roles.compiled_form import CompiledForm
from corekit_testing.conformance.check import NotApplicable

__all__ = ["Entries"]

_KINDS: Final = {
    "floats": ctypes.c_void_p,
    "integers": ctypes.c_void_p,
    "integer": ctypes.c_int64,
    "float": ctypes.c_double,
}


@final
class Entries:
    """The entries of a form, with one work space for all calls.

    Args:
        form: whose.
        signatures: of the role: entry → kinds of its arguments.
    Raises:
        NotApplicable: nothing is compiled.
    """

    def __init__(self, form: CompiledForm, signatures: Mapping[str, str]) -> None:
        if not any(form.entries.values()):
            raise NotApplicable("nothing is compiled in this process (NUMBA_DISABLE_JIT)")
        self._form, self._signatures = form, signatures
        self._head = (np.append(form.index, 0), np.append(form.numbers, 0.0), np.zeros(form.scratch + 1))

    def has(self, name: str) -> bool:
        """Whether the form has an entry."""
        return bool(self._form.entries.get(name))

    def call(self, name: str, *arguments: Any) -> int:
        """Call an entry and return its number; arrays are handed over by their addresses."""
        kinds = [_KINDS[each] for each in self._signatures[name].split()]
        function = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(self._form.entries[name])
        given = (*self._head, *arguments)
        return int(function(*(each.ctypes.data if isinstance(each, np.ndarray) else each for each in given)))
