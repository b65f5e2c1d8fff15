"""The key of a kernel's machine code: a digest of all sources that it depends on.

numba itself keys machine code by the path and time stamp of one file: every new environment compiles everything
again, and a kernel keeps the old code of another that it calls when that one's file is edited. Here the key of a
module's kernels is

    digest(source of the module and of all it imports from its own distribution and the kernel, transitively)    (1)

so that equal sources share machine code between environments, and an edit reaches every caller.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = ["source_digest"]

_IMPORT = re.compile(
    rb"^[ \t]*(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+([\w.]+))", re.MULTILINE
)
_WORD = re.compile(rb"\w+")


@cache
def source_digest(module: str) -> str:
    """The digest (1) of a loaded module, as 64 hexadecimal digits."""
    own = module.partition(".")[0]
    sources: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name], imports = _source(name)
            waiting += [each for each in imports if each.partition(".")[0] in {own, "corekit"}]
    total = hashlib.sha256()
    for name in sorted(sources):
        total.update(name.encode() + b"\0" + hashlib.sha256(sources[name]).digest())
    return total.hexdigest()


@cache
def _source(module: str) -> tuple[bytes, tuple[str, ...]]:
    """The text of a loaded module, and what it imports that is loaded too."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return b"", ()
    text = Path(file).read_bytes()
    return text, tuple(name for name in _imports(text) if name in sys.modules)


def _imports(text: bytes) -> Iterator[str]:
    """Names of modules, and names that may be modules, after `import`."""
    for found in _IMPORT.finditer(text):
        package, names, plain = found.groups()
        base = (package or plain).decode()
        yield base
        yield from (f"{base}.{name.decode()}" for name in _WORD.findall(names or b""))
