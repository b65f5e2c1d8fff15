"""Checks of every role: the light spec and the options."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import Any

from corekit.interpreters import python_command
from corekit.registry.contract import contract_problem
from corekit.registry.resolve import load_target
from corekit.registry.spec import ABILITIES
from corekit_testing.conformance.check import Check, check, expect
from corekit_testing.conformance.options import OPTIONS
from corekit_testing.conformance.subject import Subject

__all__ = ["PAPER"]

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


@check(
    "light-spec",
    "importing the spec imports nothing but the standard library, attrs, the registry, and what states laws and shapes",
)
def light_spec(subject: Subject) -> None:
    module = subject.entry.partition(":")[0].strip()
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


@check(
    "spec-true", "the spec names a final class that has what its role and abilities ask for, and a summary"
)
def spec_true(subject: Subject) -> None:
    spec = subject.spec
    target: Any = subject.target or load_target(spec.target)
    problem = contract_problem(target, spec)
    expect(not problem, problem)
    expect(getattr(target, "__final__", False), f"{spec.target} is not marked final")
    unknown = sorted(word for word in spec.provides if word not in ABILITIES and ":" not in word)
    expect(not unknown, f"unknown abilities {', '.join(unknown)}; third parties write vendor:name")
    expect(spec.summary.strip(), "has no summary")


PAPER: tuple[Check, ...] = (light_spec, spec_true, *OPTIONS)
"""Checks of every role."""
