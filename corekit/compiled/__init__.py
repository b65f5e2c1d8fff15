"""Functions compiled to machine code, which is kept by the content of their sources.

`compiled` makes a kernel of a function in numba's part of Python. A kernel is compiled when Python first calls it
with arguments of new types. Its machine code is kept on disk, so that only the first run waits.

| module | what it holds |
|---|---|
| `kernels` | the decorator, and whether numba's private parts are used |
| `internals` | the one module that knows them: code that is only linked, code that is only called, who waits for whom |
| `store` | where machine code is kept, by a digest of its sources |
| `entries` | functions that compiled code calls by their address |
| `parts` | parts of flat arrays in kernels |
| `watching` | who hears that a kernel is compiled |
| `signals` | a check for Ctrl-C in loops that may last |
"""

from __future__ import annotations

from corekit.compiled.kernels import compiled
from corekit.compiled.signals import check_signals
from corekit.compiled.store import cache_folder

__all__ = ["cache_folder", "check_signals", "compiled"]
