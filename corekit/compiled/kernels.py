"""The decorator `compiled`: what Python calls, what other kernels link, and who hears that one is compiled."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from types import FunctionType
from typing import Any, ClassVar, TypeVar, final, overload

from numba.core import config, event, registry, types

from corekit.compiled.front_end import Flags, KernelPipeline, RememberingContext
from corekit.compiled.libraries import CalleeLibrary, KernelLibrary
from corekit.compiled.store import WAITING, CalleeCache, KernelCache

__all__ = ["Kernel", "announced_compilation", "compiled", "watch_compilation"]

_CONFIG: Any = config
_REGISTRY: Any = registry
_TYPES: Any = types
_LOG = logging.getLogger("corekit")
F = TypeVar("F", bound=Callable[..., Any])


@overload
def compiled(function: F, /) -> F: ...


@overload
def compiled(**options: Any) -> Callable[[F], F]: ...


def compiled(function: Any = None, /, **options: Any) -> Any:
    """Compile by numba without Python's objects, and keep the machine code.

    Division by zero gives inf or nan, as in NumPy, to be seen.

    Args:
        function: what to compile, in numba's part of Python; without it, a decorator is returned.
        options: others of `numba.njit`, for example `fastmath`.
    """

    def make_kernel(function: Any) -> Any:
        if _CONFIG.DISABLE_JIT:
            return function
        return Kernel(function, targetoptions={"error_model": "numpy", **options})

    return make_kernel if function is None else make_kernel(function)


class _KernelCompiler(KernelPipeline):
    """numba's compiler, which puts the code of a kernel into a `KernelLibrary`."""

    library_class: Any = KernelLibrary

    def __init__(
        self,
        typing_context: Any,
        target_context: Any,
        library: Any,
        args: Any,
        return_type: Any,
        flags: Any,
        locals: Any,  # numba's name
    ) -> None:
        if library is None:
            library = self.library_class(target_context.codegen(), "corekit")
            library.enable_object_caching()
        context = RememberingContext(typing_context)
        super().__init__(context, target_context, library, args, return_type, Flags(flags), locals)


class _CalleeCompiler(_KernelCompiler):
    library_class = CalleeLibrary


class _Dispatcher(_REGISTRY.CPUDispatcher):
    ready: ClassVar[set[Any]] = set()

    def compile(self, sig: Any) -> Any:
        try:
            entry = super().compile(sig)
        finally:
            self._cache.release(sig)
        self.ready.add(self.py_func)
        return entry


class Kernel(_Dispatcher):
    """A compiled function as Python calls it; other kernels call its `callee`.

    Attributes:
        ready: functions with machine code in this process, which compiled it or loaded what another one compiled.
    """

    def __init__(
        self,
        py_func: Any,
        locals: Any = None,  # numba's name
        targetoptions: Any = None,
        pipeline_class: Any = _KernelCompiler,
    ) -> None:
        options = {"nopython": True, "no_cfunc_wrapper": True, **(targetoptions or {})}
        super().__init__(py_func, locals or {}, options, pipeline_class)
        self._cache = KernelCache(py_func)

    @cached_property
    def callee(self) -> Callee:
        """The function as other kernels call it."""
        return Callee(self)

    @property
    def _numba_type_(self) -> Any:
        return _TYPES.Dispatcher(self.callee)


class Callee(_Dispatcher):
    """A compiled function as other kernels call it: LLVM code that is linked into theirs."""

    def __init__(self, kernel: Kernel) -> None:
        options = {**kernel.targetoptions, "no_cpython_wrapper": True}
        super().__init__(kernel.py_func, kernel.locals, options, _CalleeCompiler)
        self._cache = CalleeCache(kernel.py_func)
        self._kernel = kernel

    @property
    def is_compiling(self) -> Any:
        """Whether a call found now is a recursion: of this form, or of the kernel that Python calls."""
        return self._compiling_counter or self._kernel.is_compiling

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the signature for types of arguments; a number written in the source counts as one of its type.

        numba would compile a function again for every such number.
        """
        unliteral = _TYPES.unliteral
        return super().get_call_template(
            tuple(unliteral(each) for each in args), {name: unliteral(each) for name, each in kws.items()}
        )


_SELDOM = 200_000
"""New objects before a collection while a kernel is compiled."""


class _SeldomCollection(event.Listener):
    """Listener that makes Python collect garbage seldom while numba compiles.

    Nearly all that numba makes lives on: the usual threshold takes a third of the time of a compilation.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._usual = gc.get_threshold()

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._usual = gc.get_threshold()
            if self._usual[0]:  # 0 is never
                gc.set_threshold(max(_SELDOM, self._usual[0]), *self._usual[1:])

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._usual)


event.register("numba:compile", _SeldomCollection())


@contextmanager
def watch_compilation(begin: Callable[[FunctionType], object]) -> Iterator[None]:
    """Call `begin` with every function that begins to be compiled, here or by a process waited for, in the block."""
    listener = _Beginnings(begin)
    with event.install_listener("numba:compile", listener), event.install_listener(WAITING, listener):
        yield


@contextmanager
def announced_compilation() -> Iterator[None]:
    """Log once, by the logger `corekit`, if anything is compiled in the block; Python prints that on stderr."""
    reported = False

    def report(_function: FunctionType) -> None:
        nonlocal reported
        if not reported:
            reported = True
            _LOG.warning("compiling kernels, once for this installation: this takes up to a minute …")

    with watch_compilation(report):
        yield


@final
class _Beginnings(event.Listener):
    def __init__(self, begin: Callable[[FunctionType], object]) -> None:
        self._begin = begin

    def on_start(self, event: Any) -> None:
        if event.kind == WAITING:
            self._begin(event.data["function"])
        elif isinstance(event.data["dispatcher"], Kernel | Callee):
            self._begin(event.data["dispatcher"].py_func)

    def on_end(self, event: Any) -> None:
        """Do nothing: numba's listener requires the method."""
