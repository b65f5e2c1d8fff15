"""Components that a scenario selects, by light spec: a wrong selection is refused before heavy imports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from corekit.errors import ConfigError, Mistake
from corekit.registry.resolve import load_target, resolve
from corekit.registry.spec import ComponentSpec
from corekit.roles.friction import COULOMB, surface_friction
from corekit.roles.options import ComponentRef
from corekit.scenario.composition_check import SelectedComponents, check_composition
from corekit.scenario.schema import ScenarioTables
from corekit.scenario.structure import structure

__all__ = ["config_of", "contact_components", "select_checked_components", "select_components", "structured"]


def _nested(value: Any) -> Iterator[tuple[str, ComponentRef]]:
    """Components named inside a config, as (role, use)."""
    if not attrs.has(type(value)):
        return
    for each in attrs.fields(type(value)):
        role = each.metadata.get("role")
        inner = getattr(value, each.name, None)
        if role is not None and inner is not None:
            for use in inner if isinstance(inner, tuple) else (inner,):
                yield role, use


def config_of(spec: ComponentSpec, options: Mapping[str, Any], path: str) -> Any:
    """The component's options as its attrs class."""
    return structured(load_target(spec.config), options, path)


def structured(cls: Any, table: Mapping[str, Any], path: str) -> Any:
    """A table as an attrs class, every mistake in it at once."""
    mistakes: list[Mistake] = []
    made = structure(cls, table, path, mistakes)
    if mistakes:
        raise ConfigError(mistakes, path)
    return made


def contact_components(scenario: ScenarioTables) -> tuple[ComponentRef | None, tuple[ComponentRef, ...]]:
    """The contact solver and the detectors; none without a solver."""
    contact = scenario.contact
    if contact is None or contact.solver is None:
        return None, ()
    return contact.solver, contact.detector


def select_components(scenario: ScenarioTables) -> SelectedComponents:
    """Select the specs of all components of a scenario, nested ones included."""
    solver, detectors = contact_components(scenario)
    others: list[ComponentSpec] = []

    def gather(spec: ComponentSpec, options: Mapping[str, Any], path: str) -> ComponentSpec:
        for role, use in _nested(config_of(spec, options, path)):
            inner = resolve(role, use.use)
            others.append(inner)
            gather(inner, use.options, f"{path}.{use.use}")
        return spec

    def named(role: str, use: ComponentRef, path: str) -> ComponentSpec:
        return gather(resolve(role, use.use), use.options, path)

    return SelectedComponents(
        models={
            body.name: gather(resolve("models", body.use), body.options, f"bodies.{body.name}.options")
            for body in scenario.bodies
        },
        detectors=[named("contact_detectors", use, "contact.detector.options") for use in detectors],
        solver=None if solver is None else named("contact_solvers", solver, "contact.solver.options"),
        integrator=named("integrators", scenario.integrator, "integrator.options"),
        others=others,
        touching=bool(scenario.world.obstacles) or len(scenario.bodies) > 1,
        friction_laws=_friction_laws(scenario),
    )


def _friction_laws(scenario: ScenarioTables) -> dict[str, str]:
    """Path → name of the law, of every friction in a scenario that is not a coefficient."""
    world = scenario.world
    given = {f"bodies.{each.name}.friction": each.friction for each in scenario.bodies}
    given |= {f"world.obstacles.{each.name}.friction": each.friction for each in world.obstacles}
    given |= {f"world.friction[{i}].value": each.value for i, each in enumerate(world.pairs)}
    laws = {path: friction.law for path, value in given.items() if (friction := surface_friction(value))}
    return {path: law.name for path, law in laws.items() if law is not COULOMB}


def select_checked_components(scenario: ScenarioTables) -> SelectedComponents:
    """Select the components of a scenario and check that they can work together.

    Raises:
        PluginError: a component is missing or broken.
        CompositionError: components that cannot work together.
        ConfigError: options of a component that are wrong.
    """
    cast = select_components(scenario)
    check_composition(cast)
    return cast
