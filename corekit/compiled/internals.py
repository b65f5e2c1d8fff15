"""What halves the processor time of a first run by overriding private parts of numba: the one module that knows them.

numba gives every compiled function both optimised LLVM code for its callers and machine code with a wrapper for
Python. Of some two hundred functions that a run needs Python calls thirty. Here each is compiled to what it is used
for, so that LLVM optimises a kernel together with all that it calls, once (arm on a box: 77 s to 37 s):

| form | its code | kept as |
|---|---|---|
| `Kernel`, which Python calls | machine code; no other kernel links it | machine code |
| `Callee`, which other kernels call | LLVM code, simplified a little, never emitted | LLVM code |

A process that misses the code of a function compiles it while others wait. Without this module
`compiled` is numba's own (`kernels`).
"""

from __future__ import annotations

import hashlib
import pickle
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, final

from filelock import FileLock, Timeout
from llvmlite import binding
from numba import core

from corekit.compiled.store import CalleePlace, CodePlace, KernelPlace, keeping
from corekit.compiled.watching import made_kernel, waiting

__all__ = ["EntryCompiler", "Kernel"]

_LLVM: Any = binding
_NUMBA: Any = core

_IDLE = ("NRT_incref", "NRT_decref")
_COUNTING = {*_IDLE, "NRT_MemInfo_call_dtor", "NRT_MemInfo_data_fast"}
"""What numba links to every function; others of the kind make or take over memory that is counted."""
_PATIENCE = 120.0
"""Wall time [s] after which a function is compiled here too: the process that compiles it may be suspended."""
_DIGEST = hashlib.sha256().digest_size


class _RememberingContext(_NUMBA.typing.Context):
    """A typing context of numba, all of whose state it shares, that remembers the types of operators and functions.

    Typing asks for the same ones again and again, and numba tries all candidates each time: without it a first run
    takes a fifth longer. What numba compiled for the types depends on the options of the compilation.
    """

    __slots__ = ("_known", "_whole")

    def __init__(self, whole: Any) -> None:
        own: Any = self
        own.__dict__ = whole.__dict__
        self._whole = whole
        self._known: dict[Any, Any] = whole.__dict__.setdefault("_known_to_corekit", {})

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        if not isinstance(func, _NUMBA.types.Type):
            func = self._lookup_global(func) or func  # subscripts are asked for by the operator itself
        if kws or not isinstance(func, _NUMBA.types.Function):
            return super().resolve_function_type(func, args, kws)
        asked = func, args, _NUMBA.targetconfig.ConfigStack.top_or_none()
        signature, code = self._known.get(asked, (None, None))
        if signature is None:
            signature = super().resolve_function_type(func, args, kws)
            if signature is not None:
                self._known[asked] = signature, func.get_impl_key(signature)
        else:
            func._impl_keys[signature.args] = code  # as numba's search leaves it
        return signature

    def __hash__(self) -> int:
        return hash(self._whole)  # numba keeps what it compiled by context

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _NUMBA.typing.BaseContext) and other.__dict__ is self.__dict__


class _LendingContext(_NUMBA.cpu.CPUContext):
    """A target of numba whose kernels borrow the arrays that Python hands them, where none can outlive the call.

    numba makes a counted reference of every array that Python hands over, which takes a tenth of a step of a small
    robot. The caller holds its arrays until the kernel returns, so that a kernel which returns nothing that is counted
    needs no reference of its own. What it counts on borrowed arrays is nothing, as for a constant one; arrays that it
    makes are counted as ever.
    """

    def create_cpython_wrapper(self, library: Any, fndesc: Any, *rest: Any, **options: Any) -> None:
        borrows = not self._is_counted(fndesc.restype) and all(map(self._may_be_lent, fndesc.argtypes))
        context = self.subtarget(enable_nrt=False) if borrows else self
        library.borrows = borrows
        _NUMBA.cpu.CPUContext.create_cpython_wrapper(context, library, fndesc, *rest, **options)

    def _is_counted(self, kind: Any) -> bool:
        return self.data_model_manager[kind].contains_nrt_meminfo()

    def _may_be_lent(self, kind: Any) -> bool:
        if isinstance(kind, _NUMBA.types.BaseTuple):
            return all(map(self._may_be_lent, kind.types))
        return isinstance(kind, _NUMBA.types.Array) or not self._is_counted(kind)


class _CalleeLibrary(_NUMBA.codegen.JITCodeLibrary):
    """Code of a function that other kernels call: simplified a little, linked into them, never emitted."""

    def __init__(self, codegen: Any, name: str, bitcode: bytes | None = None) -> None:
        super().__init__(codegen, name)
        if bitcode is not None:
            self._final_module = _LLVM.parse_bitcode(bitcode)
            self._finalized = True

    @property
    def codegen(self) -> _NoEnvironments:
        """Stands for the code generator where numba registers an environment: this code has no address."""
        return _NoEnvironments()

    def get_pointer_to_function(self, _name: str) -> int:
        self._ensure_finalized()
        return 0  # there is no machine code

    def linkable_bitcode(self) -> bytes:
        """Return LLVM code as callers link it."""
        return self._get_module_for_linking().as_bitcode()

    def _optimize_functions(self, ll_module: Any) -> None:
        """Bring variables into registers and drop what is unused: the kernels' own optimisation does the rest."""
        ll_module.data_layout = self._codegen._data_layout
        _, builder = self._codegen._function_pass_manager()
        manager = _LLVM.create_new_function_pass_manager()
        manager.add_sroa_pass()
        manager.add_simplify_cfg_pass()
        manager.add_dead_code_elimination_pass()
        for each in ll_module.functions:
            if not each.is_declaration:
                manager.run(each, builder)

    def _optimize_final_module(self) -> None:
        """Simplify what is kept to half of its size; it costs a kernel as much as it saves it."""
        level = self._codegen._opt_level
        manager, builder = self._codegen._module_pass_manager(
            loop_vectorize=False, slp_vectorize=False, opt=level, cost="cheap"
        )
        manager.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _NoEnvironments:
    def set_env(self, _name: str, _environment: Any) -> None:
        """Do nothing: the library that links the code sets the environments of all that it contains."""


class _KernelLibrary(_NUMBA.codegen.JITCodeLibrary):
    """Machine code of a function that Python calls; no other kernel links it."""

    borrows = False

    def _optimize_functions(self, ll_module: Any) -> None:
        """Do nothing yet: the module is optimised at once, together with what it links."""
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Count no references where there is none: in code that makes no array and borrows those it gets."""
        module = self._final_module
        called = {each.name for each in module.functions if each.name.startswith("NRT_")}
        if not self.borrows or called - _COUNTING:
            super()._optimize_final_module()
            return
        module.link_in(
            _LLVM.parse_assembly("".join(f"define void @{each}(ptr) {{ ret void }}" for each in _IDLE))
        )
        for each in _IDLE:
            module.get_function(each).linkage = "internal"
        manager, builder = self._codegen._module_pass_manager()
        manager.run(module, builder)

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for each in self._final_module.global_variables:
            if each.name.startswith("_ZN08NumbaEnv"):
                values = _NUMBA.environment.lookup_environment(each.name)
                if values is not None and self._codegen._engine.get_global_value_address(each.name):
                    self._codegen.set_env(each.name, values)

    def _get_module_for_linking(self) -> Any:
        """Return the names that the machine code defines, which numba needs to load the code, and nothing else."""
        self._ensure_finalized()
        names = [each.name for each in self._final_module.functions if not each.is_declaration]
        return _LLVM.parse_assembly("\n".join(f'define void @"{name}"() {{ ret void }}' for name in names))


class _EntryLibrary(_KernelLibrary):
    """Machine code that other code calls by its address: its arrays are numbers at addresses that its caller holds."""

    borrows = True


class _KernelCompiler(_NUMBA.compiler.Compiler):
    """numba's compiler, which puts the code of a kernel into a library of its form."""

    library_class: Any = _KernelLibrary

    def __init__(self, typing_context: Any, target_context: Any, library: Any, *rest: Any) -> None:
        if library is None:
            library = self.library_class(target_context.codegen(), "corekit")
            library.enable_object_caching()
        typing_context = _RememberingContext(typing_context)
        super().__init__(typing_context, target_context, library, *rest)
        self.state.targetctx.__class__ = _LendingContext  # of this compilation alone


class _CalleeCompiler(_KernelCompiler):
    library_class = _CalleeLibrary


class EntryCompiler(_KernelCompiler):
    """numba's compiler of a function that is called by its address."""

    library_class = _EntryLibrary


class _Dispatcher(_NUMBA.registry.CPUDispatcher):
    def compile(self, sig: Any) -> Any:
        try:
            return super().compile(sig)
        finally:
            self._cache.release(sig)


@final
class Kernel(_Dispatcher):
    """A compiled function as Python calls it; other kernels call its `callee`.

    Args:
        function: what to compile.
        options: of `numba.njit`.
    """

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        options = {"nopython": True, "no_cfunc_wrapper": True, **options}
        super().__init__(function, {}, options, _KernelCompiler)
        self._cache = _KernelCache(self, KernelPlace)
        made_kernel(self)

    @cached_property
    def callee(self) -> Callee:
        """The function as other kernels call it."""
        return Callee(self)

    @property
    def _numba_type_(self) -> Any:
        return _NUMBA.types.Dispatcher(self.callee)


@final
class Callee(_Dispatcher):
    """A compiled function as other kernels call it: LLVM code that is linked into theirs."""

    def __init__(self, kernel: Kernel) -> None:
        options = {**kernel.targetoptions, "no_cpython_wrapper": True}
        super().__init__(kernel.py_func, {}, options, _CalleeCompiler)
        self._cache = _CalleeCache(self, CalleePlace)
        self._kernel = kernel
        made_kernel(self)

    @property
    def is_compiling(self) -> Any:
        """Whether a call found now is a recursion: of this form, or of the kernel that Python calls."""
        return self._compiling_counter or self._kernel.is_compiling

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the signature for types of arguments; a number written in the source counts as one of its type.

        numba would compile a function again for every such number.
        """
        unliteral = _NUMBA.types.unliteral
        return super().get_call_template(
            tuple(unliteral(each) for each in args), {name: unliteral(each) for name, each in kws.items()}
        )


class _CheckedFiles(_NUMBA.caching.IndexDataCacheFile):
    """numba's files of a function, each with its digest: a bit that the disk turned would be executed."""

    def _dump(self, obj: Any) -> bytes:
        data = super()._dump(obj)
        return data + hashlib.sha256(data).digest()

    def _load_index(self) -> dict[Any, str]:
        with suppress(FileNotFoundError), open(self._index_path, "rb") as file:
            pickle.load(file)  # noqa: S301 - numba's version
            _require_digest(file.read())
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        data = Path(self._data_path(name)).read_bytes()
        _require_digest(data)
        return pickle.loads(data)  # noqa: S301 - the user's own folder; what follows the pickle is not read


def _require_digest(data: bytes) -> None:
    """Raise ValueError unless the last 32 bytes are the digest of the others."""
    if hashlib.sha256(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
        raise ValueError("damaged")


class _SharedCache(_NUMBA.caching.FunctionCache):
    """numba's cache of a function; a process that misses in it compiles while others wait."""

    def __init__(self, kernel: Any, place: type[CodePlace]) -> None:
        with keeping(place):
            super().__init__(kernel.py_func)
        self._kernel = kernel
        self._cache_file = _CheckedFiles(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )
        self._claims: dict[Any, FileLock] = {}

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the code for a signature, also if another process compiles it now; None if it must be compiled here."""
        code = self._load(sig, target_context)
        if code is None and sig not in self._claims and self._claim(sig):
            code = self._load(sig, target_context)
        return code

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep new code, unless the disk is full or the folder is gone: the next run compiles again."""
        with suppress(OSError):
            super().save_overload(sig, data)

    def release(self, sig: Any) -> None:
        """Release the lock that other processes wait for: the function is compiled, or cannot be."""
        lock = self._claims.pop(sig, None)
        if lock is not None:
            lock.release()

    def _load(self, sig: Any, target_context: Any) -> Any:
        """Load the stored code; a damaged file counts as none. numba would first gather all that it can compile."""
        try:
            _NUMBA.runtime.rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - a truncated pickle may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def _claim(self, sig: Any) -> bool:
        """Lock a function for a signature, so that this process alone compiles it."""
        name = hashlib.sha256(repr(sig).encode()).hexdigest()[:12]
        try:
            self._impl.locator.ensure_cache_path()
            lock = FileLock(f"{self._cache_file._index_path}.{name}.lock")
            with waiting(self._kernel):
                lock.acquire(timeout=_PATIENCE)
        except (OSError, Timeout):
            return False
        self._claims[sig] = lock
        return True


class _CalleeFiles(_NUMBA.caching.CompileResultCacheImpl):
    def reduce(self, cres: Any) -> Any:
        cres.fndesc.typemap = cres.fndesc.calltypes = None  # as numba does: no caller reads them
        code = cres.library.linkable_bitcode()
        return code, cres.fndesc, cres.environment, cres.signature, cres.reload_init

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        bitcode, described, environment, signature, reload_init = payload
        for prepare in reload_init:
            prepare()
        library = _CalleeLibrary(target_context.codegen(), described.qualname, bitcode)
        return _NUMBA.compiler.compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=environment,
            entry_point=target_context.get_executable(library, described, environment),
            fndesc=described,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=reload_init,
            metadata={},
        )


class _KernelCache(_SharedCache):
    _impl_class = _NUMBA.caching.CompileResultCacheImpl


class _CalleeCache(_SharedCache):
    _impl_class = _CalleeFiles
