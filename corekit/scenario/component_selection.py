"""Components that a scenario selects, and whether they can work together, decided from their light specs.

A wrong selection is refused before heavy imports: abilities are words, matched by set inclusion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import attrs
from attrs import field, frozen

from corekit.errors import CompositionError, ConfigError, Mistake, PluginError
from corekit.registry.discover import discover
from corekit.registry.resolve import load_spec, load_target, missing_abilities, resolve
from corekit.registry.spec import ABILITIES, ROLES, ComponentSpec
from corekit.roles.friction import COULOMB, surface_friction
from corekit.roles.options import ComponentRef
from corekit.scenario.schema import ScenarioTables
from corekit.scenario.structure import structure

__all__ = [
    "SelectedComponents",
    "able_in_words",
    "check_composition",
    "composition_errors",
    "contact_components",
    "impulse_errors",
    "load_config",
    "read_options",
    "select_checked_components",
    "select_components",
]


@frozen
class SelectedComponents:
    """Components of a run, by spec.

    Args:
        models: body name → spec of its model.
        detectors: contact detectors, in order of preference.
        solver: contact solver, or None without contact.
        integrator: of the run.
        others: controllers and nested components (LCP solvers, …).
        touching: whether anything is there to touch. A lone body without obstacles may still touch itself or
            have bounded rows, which only its built model shows: `impulse_errors` is called again then.
        friction_laws: path in the scenario → name of the friction law that it needs, other than Coulomb's.
        mounted, joined: names of bodies whose base moves, and of those that joints hold.
        configs: path of a component's options in the scenario → what was read from them.
    """

    models: Mapping[str, ComponentSpec]
    detectors: Sequence[ComponentSpec]
    solver: ComponentSpec | None
    integrator: ComponentSpec
    others: Sequence[ComponentSpec] = ()
    touching: bool = True
    friction_laws: Mapping[str, str] = field(factory=dict)
    mounted: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    configs: Mapping[str, Any] = field(factory=dict)

    def of_role(self, role: str) -> list[tuple[str, ComponentSpec]]:
        """List the components of a role, with the words that name them."""
        if role == "models":
            return [(f"body {name!r} ({spec.name})", spec) for name, spec in self.models.items()]
        return [(f"{ROLES[role]} {spec.name!r}", spec) for spec in self.everyone if spec.role == role]

    @property
    def everyone(self) -> list[ComponentSpec]:
        """Every spec of the scenario."""
        extra = [self.solver] if self.solver is not None else []
        return [*self.models.values(), *self.detectors, *extra, self.integrator, *self.others]


def _nested(value: Any) -> Iterator[tuple[str, ComponentRef]]:
    """Find the components that a config names, as (role, reference)."""
    if not attrs.has(type(value)):
        return
    for each in attrs.fields(type(value)):
        role = each.metadata.get("role")
        inner = getattr(value, each.name, None)
        if role is not None and inner is not None:
            for use in inner if isinstance(inner, tuple) else (inner,):
                yield role, use


def load_config(spec: ComponentSpec, options: Mapping[str, Any], path: str) -> Any:
    """Make the component's config from its options."""
    return read_options(load_target(spec.config), options, path)


def read_options(cls: Any, table: Mapping[str, Any], path: str) -> Any:
    """Make an attrs instance from a table.

    Raises:
        ConfigError: all mistakes in it.
    """
    mistakes: list[Mistake] = []
    made = structure(cls, table, path, mistakes)
    if mistakes:
        raise ConfigError(mistakes, path)
    return made


def contact_components(scenario: ScenarioTables) -> tuple[ComponentRef | None, tuple[ComponentRef, ...]]:
    """Return the contact solver and the detectors; none without a solver."""
    contact = scenario.contact
    if contact is None or contact.solver is None:
        return None, ()
    return contact.solver, contact.detector


def select_components(scenario: ScenarioTables) -> SelectedComponents:
    """Select the specs of all components of a scenario, nested ones included."""
    solver, detectors = contact_components(scenario)
    others: list[ComponentSpec] = []
    configs: dict[str, Any] = {}
    resolve_once = cache(partial(resolve, installed=discover()))

    def gather(spec: ComponentSpec, options: Mapping[str, Any], path: str) -> ComponentSpec:
        configs[path] = load_config(spec, options, path)
        for role, use in _nested(configs[path]):
            inner = resolve_once(role, use.use)
            others.append(inner)
            gather(inner, use.options, f"{path}.{use.use}")
        return spec

    def named(role: str, use: ComponentRef, path: str) -> ComponentSpec:
        return gather(resolve_once(role, use.use), use.options, path)

    for each in scenario.controllers:
        path = f"controllers.{each.name}.options"
        others.append(gather(resolve_once("controllers", each.use), each.options, path))
    mounted = tuple(body.name for body in scenario.bodies if body.base.moves)
    held = [
        *(body.base.mount or "" for body in scenario.bodies),
        *(end for each in scenario.joints for end in each.between),
    ]
    joined = {*mounted, *(end.partition(".")[0] for end in held)}
    return SelectedComponents(
        mounted=mounted,
        joined=tuple(body.name for body in scenario.bodies if body.name in joined),
        models={
            body.name: gather(resolve_once("models", body.use), body.options, f"bodies.{body.name}.options")
            for body in scenario.bodies
        },
        detectors=[named("contact_detectors", use, "contact.detector.options") for use in detectors],
        solver=None if solver is None else named("contact_solvers", solver, "contact.solver.options"),
        integrator=named("integrators", scenario.integrator, "integrator.options"),
        others=others,
        touching=bool(scenario.world.obstacles) or len(scenario.bodies) > 1,
        friction_laws=_friction_laws(scenario),
        configs=configs,
    )


def _friction_laws(scenario: ScenarioTables) -> dict[str, str]:
    """Return path → name of the law, of every friction in a scenario that is not a coefficient."""
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
    selected = select_components(scenario)
    check_composition(selected)
    return selected


def _alternatives(role: str, *needed: Iterable[str]) -> str:
    """List the installed components of a role that offer the abilities of one of these sets, in words."""
    sets = [frozenset(each) for each in needed]
    names: list[str] = []
    for row in discover():
        if row.role != role or not row.usable or row.reference:
            continue
        try:
            spec = load_spec(row)
        except PluginError:
            continue
        if any(wanted <= spec.provides for wanted in sets):
            names.append(row.name)
    return able_in_words(role, names)


def able_in_words(role: str, names: Iterable[str]) -> str:
    """Say which installed components of a role would do."""
    listed = ", ".join(sorted(set(names)))
    return f"installed and able: {listed}" if listed else f"no installed {ROLES[role]} does"


def _with_article(words: str) -> str:
    return f"an {words}" if words[0] in "aeiouL" else f"a {words}"


def _meaning(ability: str) -> str:
    return f"{ability!r} ({ABILITIES[ability]})" if ability in ABILITIES else f"{ability!r}"


def _lacking(spec: ComponentSpec, ability: str) -> str:
    """Why an ability that the plugin has in principle is not there, e.g. a missing module."""
    why = missing_abilities(spec).get(ability)
    return f" ({why})" if why else ""


def composition_errors(selected: SelectedComponents) -> list[str]:
    """Return one sentence per reason why the components cannot work together."""
    found: list[str] = []
    for spec in selected.everyone:
        for role, needed in spec.requires.items():
            present = selected.of_role(role)
            if not present:
                found.append(
                    f"{ROLES[spec.role]} {spec.name!r} needs {_with_article(ROLES[role])}, and none is chosen: "
                    f"{_alternatives(role, needed)}."
                )
            found.extend(
                f"{ROLES[spec.role]} {spec.name!r} needs {_meaning(ability)}, which {name} does not "
                f"offer{_lacking(other, ability)}: {_alternatives(role, needed)}."
                for name, other in present
                for ability in sorted(needed - other.provides)
            )
    for ability, names in (("free-base", selected.mounted), ("point-jacobian", selected.joined)):
        found.extend(
            f"body {name!r} ({spec.name}) is held by a joint and needs {_meaning(ability)}, which its model does not "
            f"offer{_lacking(spec, ability)}: {_alternatives('models', {ability})}."
            for name in names
            if ability not in (spec := selected.models[name]).provides
        )
    found.extend(_contact_errors(selected))
    return list(dict.fromkeys(found))


def _contact_errors(selected: SelectedComponents) -> list[str]:
    solver, integrator = selected.solver, selected.integrator
    found: list[str] = []
    if solver is None:
        for name, spec in selected.models.items():
            if "bounded-constraints" in spec.provides and "constraints" not in spec.provides:
                found.append(
                    f"body {name!r} ({spec.name}) has only bounded rows, which need a contact solver: "
                    f"{_alternatives('contact_solvers', {'impulses'})}."
                )
        return found
    for name, spec in selected.models.items():
        if "point-jacobian" not in spec.provides:
            found.append(
                f"contact needs {_meaning('point-jacobian')}, which body {name!r} ({spec.name}) does not "
                f"offer{_lacking(spec, 'point-jacobian')}: {_alternatives('models', {'point-jacobian'})}."
            )
    if not selected.detectors:
        found.append(
            f"contact solver {solver.name!r} needs a contact detector, and none is chosen: set contact.detector; "
            f"{_alternatives('contact_detectors', ())}."
        )
    kind = "impulses" if "impulses" in solver.provides else "potential"
    if kind not in integrator.provides:
        found.append(
            f"contact solver {solver.name!r} gives {kind}, which integrator {integrator.name!r} cannot carry: "
            f"{_alternatives('integrators', {kind})}."
        )
    found.extend(
        f"{path} asks for {_meaning(law)}, which contact solver {solver.name!r} does not support: "
        f"{_alternatives('contact_solvers', {law}, {'convex-friction'})}."
        for path, law in selected.friction_laws.items()
        if not {law, "convex-friction"} & solver.provides
    )
    found += impulse_errors(selected) if selected.touching else []
    return found


def impulse_errors(selected: SelectedComponents) -> list[str]:
    """Why impulses at contacts are unsound with these components, if they are.

    The impulses of a split step know the mass alone. With K and D in the smooth step only, a damped body at rest is
    carried by 1/(1 + ½·h·d) of its weight. Whether a body has some K or D its spec does not say, but that it may.
    """
    solver, integrator = selected.solver, selected.integrator
    stiff = [
        f"{name!r} ({spec.name})"
        for name, spec in selected.models.items()
        if "force-derivatives" in spec.provides
    ]
    impulses = solver is not None and "impulses" in solver.provides
    if not (impulses and {"split", "implicit"} <= integrator.provides and stiff):
        return []
    sentence = (
        f"integrator {integrator.name!r} steps the smooth part implicitly and then corrects it by impulses that know "
        f"the mass alone, which is unsound where a model may be stiff or damped, as that of body {stiff[0]}; "
        f"choose a coupled integrator: {_alternatives('integrators', {'coupled', 'impulses'})}."
    )
    return [sentence]


def check_composition(selected: SelectedComponents) -> None:
    """Raise CompositionError with every reason why the components cannot work together."""
    found = composition_errors(selected)
    if found:
        raise CompositionError("\n".join(found))
