"""LLVM code that is only linked into other kernels, and machine code that is only called from Python.

numba gives every compiled function both: optimised LLVM code for its callers, machine code with a wrapper for Python.
Of some two hundred functions that a run needs Python calls thirty. Here each function is compiled to what it is
used for, which halves the processor time of a first run (arm on a box: 61 s to 32 s) and leaves the time of a step
unchanged: LLVM optimises a kernel together with all that it calls, once.

Both classes override private methods of numba's `JITCodeLibrary`; `tests/compiled` fails if numba changes beneath them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from llvmlite.binding import newpassmanagers
from numba.core import codegen, environment

__all__ = ["CalleeLibrary", "KernelLibrary"]

_LLVM: Any = binding
_PASSES: Any = newpassmanagers
_CODEGEN: Any = codegen
_ENVIRONMENT: Any = environment
_ENVIRONMENT_PREFIX = "_ZN08NumbaEnv"


class CalleeLibrary(_CODEGEN.JITCodeLibrary):
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
        """Return null: there is no machine code."""
        self._ensure_finalized()
        return 0

    def linkable_bitcode(self) -> bytes:
        """Return LLVM code as callers link it."""
        return self._get_module_for_linking().as_bitcode()

    def _optimize_functions(self, ll_module: Any) -> None:
        """Bring variables into registers and drop what is unused: the kernels' own optimisation does the rest."""
        ll_module.data_layout = self._codegen._data_layout  # noqa: SLF001
        _, builder = self._codegen._function_pass_manager()  # noqa: SLF001
        manager = _PASSES.create_new_function_pass_manager()
        manager.add_sroa_pass()
        manager.add_simplify_cfg_pass()
        manager.add_dead_code_elimination_pass()
        for each in ll_module.functions:
            if not each.is_declaration:
                manager.run(each, builder)

    def _optimize_final_module(self) -> None:
        manager, builder = self._codegen._module_pass_manager(  # noqa: SLF001
            loop_vectorize=False, slp_vectorize=False, opt=self._codegen._opt_level, cost="cheap"  # noqa: SLF001
        )  # fmt: skip
        manager.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _NoEnvironments:
    def set_env(self, _name: str, _environment: Any) -> None:
        """Do nothing: the library that links the code sets the environments of all that it contains."""


class KernelLibrary(_CODEGEN.JITCodeLibrary):
    """Machine code of a function that Python calls; no other kernel links it."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Do nothing yet: the module is optimised at once, together with what it links."""
        ll_module.data_layout = self._codegen._data_layout  # noqa: SLF001

    def _optimize_final_module(self) -> None:
        """Optimise once; numba does it twice, to prune the counting of references in between."""
        if any(each.name == "NRT_decref" for each in self._final_module.functions):
            super()._optimize_final_module()
            return
        manager, builder = self._codegen._module_pass_manager()  # noqa: SLF001
        manager.run(self._final_module, builder)

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for each in self._final_module.global_variables:
            if each.name.startswith(_ENVIRONMENT_PREFIX):
                found = _ENVIRONMENT.lookup_environment(each.name)
                if found is not None and self._codegen._engine.get_global_value_address(each.name):  # noqa: SLF001
                    self._codegen.set_env(each.name, found)

    def _get_module_for_linking(self) -> Any:
        """Return the names that the machine code defines, which numba needs to load the code, and nothing else."""
        self._ensure_finalized()
        names = [each.name for each in self._final_module.functions if not each.is_declaration]
        return _LLVM.parse_assembly("\n".join(f'define void @"{name}"() {{ ret void }}' for name in names))
