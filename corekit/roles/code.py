"""Python functions that a scenario names: imported only where its user allows code.

A name is `module:function`, of a module that can be imported, or `file.py:function`, of a file beside the scenario.

A scenario is data that may come from anybody; a name in it that is imported runs what that module holds. The
permission is an argument of the call that loads the scenario, and a component with such names imports them by
`import_function` while it is built. It holds for the current context alone and ends with the `with` block, so that
nothing is allowed by default: no other thread, no later scenario, no process without the permission.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from corekit.errors import ConfigError, Mistake

__all__ = ["absolute_name", "code_allowed", "import_function", "names_function"]

_NAME = re.compile(r"([A-Za-z_][\w.]*|.*\.py):[A-Za-z_]\w*")
_IN_FILE = re.compile(r"(.*\.py):([A-Za-z_]\w*)")
_ALLOWED: ContextVar[bool] = ContextVar("corekit_code_allowed", default=False)
_REFUSAL = (
    "names a Python function, whose module would run here: if you trust it, allow it with --allow-code, in Python "
    "with allow_code=True"
)


@contextmanager
def code_allowed(allowed: bool) -> Iterator[None]:
    """Within the block, functions may be imported by name or not; afterwards it is as before."""
    before = _ALLOWED.set(allowed)
    try:
        yield
    finally:
        _ALLOWED.reset(before)


def names_function(entry: object) -> bool:
    """Whether an entry of a scenario is a text that names a Python function, `module:function`."""
    return isinstance(entry, str) and _NAME.fullmatch(entry.strip()) is not None


def absolute_name(name: str, directory: Path) -> str:
    """Return `file.py:function` with the absolute path of a file in a directory, and any other text as it is.

    So the file is found from the folder of a run and from other processes, too.
    """
    found = _IN_FILE.fullmatch(name.strip())
    return name if found is None else f"{(directory / found[1]).resolve()}:{found[2]}"


def import_function(name: str, path: str) -> Callable[..., Any]:
    """The function that a scenario names, if code is allowed; to be called while a component is built.

    Args:
        name: `module:function`, or `file.py:function`.
        path: where the name stands in the scenario.
    Raises:
        ConfigError: code is not allowed, in which case nothing was imported; there is no such function.
    """

    def refuse(said: str) -> ConfigError:
        return ConfigError([Mistake(path, name, said)], "a Python function")

    if not names_function(name):
        raise refuse("must name a Python function, `module:function` or `file.py:function`")
    if not _ALLOWED.get():
        raise refuse(_REFUSAL)
    module, _, attribute = name.strip().rpartition(":")
    try:
        of = _module_of_file(Path(module)) if module.endswith(".py") else import_module(module)
        found = getattr(of, attribute, None)
    except Exception as error:
        said = (
            f"must name a function of a module that can be imported, or of a file beside the scenario, "
            f"`file.py:function`; {type(error).__name__}: {error}"
        )
        raise refuse(said) from error
    if not callable(found):
        raise refuse(f"must name a function of {module!r}; there is none called {attribute!r}")
    return found


def _module_of_file(file: Path) -> ModuleType:
    """Import a file once, and anew when it changed."""
    about = file.stat()
    called = f"{file.stem} of {file.resolve()}, {about.st_mtime_ns}, {about.st_size}"
    if called not in sys.modules:
        spec = spec_from_file_location(called, file)
        assert spec is not None
        assert spec.loader is not None
        made = module_from_spec(spec)
        sys.modules[called] = made
        try:
            spec.loader.exec_module(made)
        except BaseException:
            del sys.modules[called]
            raise
    return sys.modules[called]
