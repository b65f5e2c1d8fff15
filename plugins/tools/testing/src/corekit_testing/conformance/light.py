"""What may be imported beside a spec, and what importing a module does."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

from corekit.distributions import entry_points
from corekit.interpreters import python_command
from corekit_testing.conformance.check import NotApplicable, expect

__all__ = ["expect_light", "expect_light_module"]

_LIGHT = (
    "attr", "attrs", "corekit.registry", "corekit.version", "corekit.errors", "corekit.extensions",
    "corekit.distributions", "corekit.roles.friction", "corekit.geometry.shape_specs",
)  # fmt: skip
"""What friction laws and kinds of shapes are stated with is as light as the spec of a component."""
_LIST_NEW = (
    "import sys; before = set(sys.modules); import importlib; importlib.import_module({module!r});"
    "print('\\n'.join(sorted(set(sys.modules) - before)))"
)


def _ancestors(module: str) -> set[str]:
    parts = module.split(".")
    return {".".join(parts[: i + 1]) for i in range(len(parts))}


@cache
def _imports_of(module: str, path: tuple[str, ...]) -> tuple[list[str] | None, list[str]]:
    """What importing a module in a process of its own ends with, or None, and which modules it imports.

    Components of a distribution share their module, so a process for each of them would say the same again.

    Args:
        module: its name. path: where Python looks for it.
    """
    first = f"import sys; sys.path[:0] = {list(path)!r};"
    done = subprocess.run(
        python_command("-c", first + _LIST_NEW.format(module=module)),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    failure = done.stderr.strip().splitlines()[-1:] if done.returncode else None
    return failure, done.stdout.split()


def expect_light_module(module: str) -> None:
    """Raise `CheckFailed` where importing a module fails, or imports more than every listing can bear."""
    failure, imported = _imports_of(module, tuple(entry for entry in sys.path if entry))
    expect(failure is None, f"importing {module} fails: {failure}")
    allowed = set().union(*map(_ancestors, (module, *_LIGHT)))
    heavy = [
        name
        for name in imported
        if name not in allowed
        and name.partition(".")[0] not in sys.stdlib_module_names
        and not any(name == light or name.startswith(f"{light}.") for light in _LIGHT)
    ]
    expect(not heavy, f"importing {module} imports {', '.join(heavy[:5])}")


def expect_light(group: str, name: str) -> None:
    """The same of the module that an entry point names; raises `NotApplicable` where no distribution brings it."""
    found = [entry for entry in entry_points(group) if entry.name == name]
    if not found:
        raise NotApplicable("the kernel brings it")
    expect_light_module(found[0].value.partition(":")[0].strip())
