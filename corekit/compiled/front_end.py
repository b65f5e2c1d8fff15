"""How numba reads, types and lowers a kernel: its own passes, and a cache of operator types.

Typing needs the result type of an operator for the same types again and again, and numba tries all candidates each
time. `RememberingContext` keeps the results: this saves a sixth of all Python calls of a first run.
"""

from __future__ import annotations

from typing import Any

from numba.core import compiler, typed_passes, types, typing

from corekit.compiled.references import UncountedReferences

__all__ = ["Flags", "KernelPipeline", "RememberingContext"]

_COMPILER: Any = compiler
_PASSES: Any = typed_passes
_TYPING: Any = typing
_TYPES: Any = types


class Flags(_COMPILER.Flags):
    """Compiler flags that are compared as they were set.

    numba compares them, option by option in Python, whenever it types an operator: a tenth of the time of a first run.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, Flags) else super().__eq__(other)


class RememberingContext(_TYPING.Context):
    """A typing context of numba, all of whose state it shares, that remembers the types of operators.

    Functions that are compiled for their types are not kept, because their code depends on flags.
    """

    __slots__ = ("_known", "_whole")

    def __init__(self, whole: Any) -> None:
        own: Any = self
        own.__dict__ = whole.__dict__
        self._whole = whole
        self._known: dict[Any, Any] = whole.__dict__.setdefault("_known_to_corekit", {})

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a function for types of arguments."""
        if kws or not isinstance(func, _TYPES.Function):
            return super().resolve_function_type(func, args, kws)
        found = self._known.get((func, args))
        if found is None:
            found = super().resolve_function_type(func, args, kws)
            if found is not None and func.get_impl_key(found) is func.typing_key:
                self._known[func, args] = found
        return found

    def __hash__(self) -> int:
        return hash(self._whole)  # numba keeps what it compiled by context

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _TYPING.BaseContext) and other.__dict__ is self.__dict__


class KernelPipeline(_COMPILER.CompilerBase):
    """numba's passes without Python's objects, and `UncountedReferences` before the last."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes, in order."""
        manager = _COMPILER.DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.add_pass_after(UncountedReferences, _PASSES.NopythonRewrites)
        manager.finalize()
        return [manager]
