"""Functions compiled to machine code, which is kept by the content of their sources.

`compiled` makes a kernel of a function in numba's part of Python. A kernel is compiled when Python first calls it
with arguments of new types. Its machine code is kept on disk, so that only the first run waits.

| module | what it holds |
|---|---|
| `kernels` | the decorator; what Python calls, and what other kernels link; what listens while one is compiled |
| `front_end` | how numba reads, types and lowers a kernel; what it remembers of its answers |
| `references` | no counting of references where a kernel makes no array |
| `signals` | a check for Ctrl-C in loops that may last |
| `libraries` | LLVM code that is only linked into others, and machine code that is only called |
| `store` | where both are kept, by a digest of their sources; one process compiles while others wait |
"""

from __future__ import annotations

from corekit.compiled.kernels import compiled
from corekit.compiled.signals import check_signals
from corekit.compiled.store import cache_folder

__all__ = ["cache_folder", "check_signals", "compiled"]
