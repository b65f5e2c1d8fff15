"""Checks that build nothing: the light spec and the options."""

from __future__ import annotations

import subprocess
import sys
from abc import ABCMeta
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from corekit.data.signal_base import Signal
from corekit.errors import Mistake
from corekit.registry.resolve import load_target
from corekit.roles.abilities import ABILITIES
from corekit.roles.contact import ContactSolver
from corekit.roles.detector import ContactDetector
from corekit.roles.estimator import Estimator
from corekit.roles.integrator import Integrator
from corekit.roles.model import Model
from corekit.roles.options import Use
from corekit.roles.planner import Planner
from corekit.roles.problem import LCPSolver, QPSolver
from corekit.roles.viewer import Viewer
from corekit.scenario.plain import plain
from corekit.scenario.structure import structure
from corekit_testing.conformance.check import Check, check, expect
from corekit_testing.conformance.subject import Subject

__all__ = ["PAPER"]

_ROLE_CLASSES: Mapping[str, ABCMeta] = {
    "models": Model,
    "contact_detectors": ContactDetector,
    "contact_solvers": ContactSolver,
    "integrators": Integrator,
    "lcp_solvers": LCPSolver,
    "qp_solvers": QPSolver,
    "planners": Planner,
    "estimators": Estimator,
    "viewers": Viewer,
}
_LIGHT = ("attr", "attrs", "corekit.registry")
_LIST_NEW = (
    "import sys; before = set(sys.modules); import importlib; importlib.import_module({module!r});"
    "print('\\n'.join(sorted(set(sys.modules) - before)))"
)


def _ancestors(module: str) -> set[str]:
    parts = module.split(".")
    return {".".join(parts[: i + 1]) for i in range(len(parts))}


@check("light-spec", "importing the spec imports nothing but the standard library, attrs and the registry")
def light_spec(subject: Subject) -> None:
    module = subject.entry.partition(":")[0].strip()
    path = f"import sys; sys.path[:0] = {[entry for entry in sys.path if entry]!r};"
    done = subprocess.run(
        [sys.executable, "-c", path + _LIST_NEW.format(module=module)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    expect(done.returncode == 0, f"importing {module} fails: {done.stderr.strip().splitlines()[-1:]}")
    allowed = _ancestors(module) | {"corekit"}
    heavy = [
        name
        for name in done.stdout.split()
        if name not in allowed
        and name.partition(".")[0] not in sys.stdlib_module_names
        and not any(name == light or name.startswith(f"{light}.") for light in _LIGHT)
    ]
    expect(not heavy, f"importing {module} imports {', '.join(heavy[:5])}")


@check("spec-true", "the spec names a final class of its role, known abilities, and a summary")
def spec_true(subject: Subject) -> None:
    spec = subject.spec
    target: Any = subject.target or load_target(spec.target)
    base = _ROLE_CLASSES[spec.role]
    expect(isinstance(target, type) and issubclass(target, base), f"{spec.target} is no {base.__name__}")
    expect(getattr(target, "__final__", False), f"{spec.target} is not marked final")
    left = sorted(getattr(target, "__abstractmethods__", ()))
    expect(not left, f"{spec.target} leaves {', '.join(left)} abstract")
    unknown = sorted(word for word in spec.provides if word not in ABILITIES and ":" not in word)
    expect(not unknown, f"unknown abilities {', '.join(unknown)}; third parties write vendor:name")
    expect(spec.summary.strip(), "has no summary")


@check("options-described", "options are frozen, keyword-only and each says what it means")
def options_described(subject: Subject) -> None:
    made = [subject.config()]
    if subject.spec.initial is not None:
        made.append(load_target(subject.spec.initial)())
    for config in made:
        for instance in _attrs_values(config):
            cls = type(instance)
            for each in attrs.fields(cls):
                where = f"{cls.__name__}.{each.name}"
                expect(str(each.metadata.get("help", "")).strip(), f"{where} has no help")
                expect("unit" in each.metadata, f"{where} says nothing of its unit; use `option`")
                expect(each.kw_only, f"{where} is not keyword-only")
            expect(cls.__setattr__ is not object.__setattr__, f"{cls.__name__} is not frozen")


def _attrs_values(value: Any) -> Iterator[Any]:
    """A config and the configs inside it, without other components and signals."""
    if isinstance(value, (tuple, list)):
        for entry in value:
            yield from _attrs_values(entry)
    elif attrs.has(type(value)) and not isinstance(value, (Use, Signal)):
        yield value
        for each in attrs.fields(type(value)):
            yield from _attrs_values(getattr(value, each.name))


@check("options-round-trip", "options written to a file's values and read again are equal")
def options_round_trip(subject: Subject) -> None:
    config = subject.config()
    mistakes: list[Mistake] = []
    table = plain(config, "options", mistakes)
    expect(not mistakes, f"cannot be written to a file: {'; '.join(map(str, mistakes))}")
    again = structure(subject.config_class(), table, "options", mistakes)
    expect(not mistakes, f"its own values are refused: {'; '.join(map(str, mistakes))}")
    expect(again == config, f"read again they are {again}, they were {config}")


PAPER: tuple[Check, ...] = (light_spec, spec_true, options_described, options_round_trip)
"""Checks that build nothing."""
