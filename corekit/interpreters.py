"""Interpreters that corekit starts: none of them imports anything of the working folder.

A scenario comes in a folder with whatever its sender put beside it, and `corekit run` is called there. Of
`python -m MODULE` and `python -c CODE` the working folder is the first place where Python looks for modules: a
`json.py` beside the scenario would run in the place of the library's. `multiprocessing` starts its processes by `-c`,
with the same effect until they have taken over the paths of the one that began them.

The option -P (PYTHONSAFEPATH) leaves that place out and nothing else. -I would leave out PYTHONPATH and the user's own
site packages as well, where plugins may be installed that the process which asks for help has found: it would be
helped by another corekit than its own. An interpreter that was started with -P hands it on to those it starts.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["python_command", "safe_children"]

_VARIABLE = "PYTHONSAFEPATH"
_lock = threading.Lock()
_blocks: list[str | None] = []
"""What the variable was before, once for each block that has begun and not ended."""


def python_command(*words: str) -> list[str]:
    """Return the words that start this interpreter anew, for `subprocess`.

    Args:
        words: `-m` or `-c` and what follows; or a program's file, whose own folder is then searched, as it may need.
    """
    return [sys.executable, *(["-P"] if words[0].startswith("-") else []), *words]


@contextmanager
def safe_children() -> Iterator[None]:
    """What `multiprocessing` starts within the block begins without the working folder, resource trackers too.

    It knows no other way than the environment, which is as before when the last of the blocks at a time has ended.
    """
    with _lock:
        _blocks.append(os.environ.get(_VARIABLE))
        os.environ[_VARIABLE] = "1"
    try:
        yield
    finally:
        with _lock:
            before = _blocks.pop()
            if not _blocks:
                os.environ.pop(_VARIABLE)
                if before is not None:
                    os.environ[_VARIABLE] = before
