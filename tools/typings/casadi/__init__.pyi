from typing import Any

# CasADi's own stubs do not know its overloads (buffers, sparsity of results); its expressions are Any here.
def __getattr__(name: str) -> Any: ...
