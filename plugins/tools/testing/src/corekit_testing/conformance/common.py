"""Checks of every role: the light spec and the options."""

from __future__ import annotations

from typing import Any

from corekit.registry.contract import contract_problem
from corekit.registry.resolve import load_target
from corekit.registry.spec import ABILITIES
from corekit_testing.conformance.check import Check, check, expect
from corekit_testing.conformance.light import expect_light_module
from corekit_testing.conformance.options import OPTIONS
from corekit_testing.conformance.subject import Subject

__all__ = ["PAPER"]


@check(
    "light-spec",
    "importing the spec imports nothing but the standard library, attrs, the registry, and what states laws and shapes",
)
def light_spec(subject: Subject) -> None:
    expect_light_module(subject.entry.partition(":")[0].strip())


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
