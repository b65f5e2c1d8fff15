from typing import Any

# BLAS wrappers are made at run time; arguments and results are checked by f2py, not by types.
def __getattr__(name: str) -> Any: ...
