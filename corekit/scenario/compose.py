"""From a scenario to a simulation: resolve specs, check abilities, build components, assemble the world."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import attrs
import numpy as np
from attrs import define, field

from corekit.data.arrays import Array
from corekit.data.signals import as_signal
from corekit.errors import CompositionError, ConfigError, CorekitError, Mistake, PluginError
from corekit.geometry.frames import Pose
from corekit.geometry.shape_specs import shape_spec
from corekit.geometry.shapes import Shape
from corekit.registry.contract import contract_problem
from corekit.registry.discover import Installed, discover
from corekit.registry.resolve import load_target, resolve
from corekit.registry.spec import ComponentSpec
from corekit.roles.body import Body, stack_bodies
from corekit.roles.collision_scene import CollisionScene
from corekit.roles.component import BuildContext, Component, component_seed
from corekit.roles.contact import ContactSolver, ImpulseSolver
from corekit.roles.detector import ContactDetector
from corekit.roles.friction import COULOMB
from corekit.roles.integrator import Integrator
from corekit.roles.joint import Joint
from corekit.roles.model import Model
from corekit.roles.obstacles import Obstacle
from corekit.roles.options import ComponentRef
from corekit.roles.surface_pairs import RestitutionTable, check_axes_in_plane, friction_table
from corekit.roles.world import ContactSpec, Stabilisation, WorldSpec
from corekit.scenario.component_selection import (
    SelectedComponents,
    able_in_words,
    contact_components,
    impulse_errors,
    load_config,
    select_components,
)
from corekit.scenario.engines import make_world
from corekit.scenario.initial_states import enforce_prescribed, initialise, read_initials
from corekit.scenario.joints import base_pose, joints_of
from corekit.scenario.schema import Body as BodyTable
from corekit.scenario.schema import Obstacle as ObstacleTable
from corekit.scenario.schema import ScenarioTables
from corekit.simulation.installed_tools import equilibrium_finder
from corekit.simulation.loop import Simulation

__all__ = ["Builder", "compose", "models_without_gravity"]


@define
class Builder:
    """Builds components and stores them by path, because checkpoints hold their internal states."""

    scenario: ScenarioTables
    friction_law: str = COULOMB.name
    made: dict[str, Component] = field(factory=dict)
    names: dict[str, str] = field(factory=dict)
    _installed: tuple[Installed, ...] = field(factory=discover)
    _checked: dict[tuple[str, str], tuple[ComponentSpec, Any]] = field(factory=dict)

    def target(self, role: str, name: str, path: str) -> tuple[ComponentSpec, Any]:
        """Return the spec of a component and its class, which is checked once: a pile has one model for all bodies."""
        if (role, name) not in self._checked:
            spec = resolve(role, name, self._installed)
            target = load_target(spec.target)
            problem = contract_problem(target, spec)
            if problem:
                raise PluginError(
                    f"{path}: {problem}: a release of its distribution for this kernel is needed"
                )
            self._checked[role, name] = spec, target
        return self._checked[role, name]

    def build(
        self,
        role: str,
        use: ComponentRef,
        path: str,
        base: Pose | None = None,
        *,
        free_base: bool = False,
        config: Any = None,
    ) -> Any:
        """Build a component from its options, or from its config; it builds nested ones through its context."""
        spec, target = self.target(role, use.use, path)
        config = load_config(spec, use.options, f"{path}.options") if config is None else config
        context = BuildContext(
            path=path,
            base=base or Pose(),
            free_base=free_base,
            gravity=np.array(self.scenario.world.gravity, dtype=float),
            step=self.scenario.time.step,
            seed=component_seed(self.scenario.seed, path),
            friction_law=self.friction_law,
            build=lambda inner_role, inner: self.build(inner_role, inner, self._free(f"{path}/{inner.use}")),
            provides=lambda inner_role, inner: self.target(inner_role, inner.use, path)[0].provides,
        )
        try:
            component = target(config, context)
        except CorekitError:
            raise
        except ValueError as error:
            raise ConfigError([Mistake(f"{path}.options", dict(use.options), str(error))], path) from error
        except Exception as error:
            said = f"building {spec.target} raised {type(error).__name__}: {error}"
            raise PluginError(f"{path}: {said}: this is a mistake in the plugin") from error
        self.made[path], self.names[path] = component, use.use
        return component

    def build_model(self, table: BodyTable, config: Any = None) -> Model:
        """Build the model of a body, with another config than its options say if one is given."""
        use, pose = ComponentRef(table.use, table.options), base_pose(table.base)
        free = table.base.moves
        model = self.build("models", use, f"bodies.{table.name}", pose, free_base=free, config=config)
        return cast("Model", model)

    def _free(self, path: str) -> str:
        number, candidate = 1, path
        while candidate in self.made:
            number += 1
            candidate = f"{path}-{number}"
        return candidate


def _build_body(builder: Builder, table: BodyTable, selected: SelectedComponents) -> tuple[Any, ...]:
    path = f"bodies.{table.name}"
    signals = {entry.channel: entry.signal for entry in table.inputs}
    if len(signals) != len(table.inputs):
        raise CompositionError(f"{path}.inputs: a channel is given twice")
    model = builder.build_model(table, selected.configs[f"{path}.options"])
    return table.name, model, selected.models[table.name].provides, signals, table.friction


def _common_plane(bodies: tuple[Body, ...]) -> Array | None:
    """Return the common plane of a planar world, else None."""
    planes = [body.description.plane for body in bodies]
    first = planes[0]
    if first is None or any(plane is None or not np.allclose(plane, first) for plane in planes):
        return None
    return first


def _check_shape_pairs(
    scenario: ScenarioTables,
    scene: CollisionScene,
    detectors: list[ContactDetector],
    bodies: tuple[Body, ...],
) -> None:
    """Refuse shapes that may meet but that no detector can compare."""
    table = scene.table
    served = {pair for detector in detectors for pair in detector.supported_pairs}
    carried = {kind for kind, owner in zip(table.kind, table.body, strict=True) if owner >= 0}
    if all((a, b) in served or (b, a) in served for a in carried for b in set(table.kind)):
        return
    kinds = list(table.kind)
    owner = [int(b) for b in table.body]
    unserved: dict[tuple[str, str], str] = {}
    for i, kind in enumerate(kinds):
        if owner[i] < 0:
            break
        for other in dict.fromkeys(zip(kinds[i + 1 :], owner[i + 1 :], strict=True)):
            if other[1] == owner[i] and not table.self_contact[owner[i]]:
                continue
            pair = (kind, other[0])
            if pair not in served and pair[::-1] not in served:
                unserved.setdefault(pair, bodies[owner[i]].name)
    if unserved:
        pairs = "; ".join(
            f"{a} (of body {name!r}) against {b} ({able_in_words('contact_detectors', able)})"
            for ((a, b), name), able in zip(unserved.items(), _serving(scenario, unserved), strict=True)
        )
        raise CompositionError(
            f"no chosen contact detector serves {pairs}: name a further detector in `contact.detector`."
        )


def _serving(scenario: ScenarioTables, pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Names of the installed detectors that serve each pair of kinds, with their default options."""
    served: dict[str, frozenset[tuple[str, str]]] = {}
    for row in discover():
        if row.role != "contact_detectors" or not row.usable or row.reference:
            continue
        try:
            use = ComponentRef(f"{row.distribution}:{row.name}")
            detector: ContactDetector = Builder(scenario).build(row.role, use, "contact.detector")
            served[row.name] = detector.supported_pairs
        except Exception:  # noqa: BLE001, S112 - one that breaks, or needs options, is no advice
            continue
    return [[name for name, own in served.items() if own & {pair, pair[::-1]}] for pair in pairs]


def _build_contact(
    builder: Builder,
    scenario: ScenarioTables,
    bodies: tuple[Body, ...],
    obstacles: tuple[Obstacle, ...],
    joints: Sequence[Joint],
) -> tuple[ContactSpec | None, ContactSolver | None]:
    use, detectors = contact_components(scenario)
    if use is None or scenario.contact is None:
        return None, None
    many = len(detectors) > 1
    built: list[ContactDetector] = [
        builder.build("contact_detectors", each, f"contact.detector[{i}]" if many else "contact.detector")
        for i, each in enumerate(detectors)
    ]
    scene = CollisionScene(bodies, obstacles, joints)
    _check_shape_pairs(scenario, scene, built, bodies)
    explicit = {entry.between: entry.value for entry in scenario.world.pairs}
    friction = friction_table(scene, bodies, obstacles, explicit, scenario.contact.friction)
    builder.friction_law = friction.law.name
    solver: ContactSolver = builder.build("contact_solvers", use, "contact.solver")
    settings = scenario.contact.stabilisation
    impact = scenario.contact.impact
    has_impulses = isinstance(solver, ImpulseSolver)
    if not has_impulses and (impact.level == "velocity" or impact.restitution or impact.pairs):
        raise CompositionError(
            f"contact.impact asks for impulses, and the contact solver {use.use!r} has a potential: its contacts "
            "resolve an impact over the steps it lasts, with a restitution among the options of the solver, if it "
            "has one. Leave `impact` out, or choose a solver with impulses"
        )
    if not has_impulses and friction.resists_turning:
        raise CompositionError(
            f"torsional and rolling friction ask for impulses, and the contact solver {use.use!r} has a potential: "
            "leave them out, or choose a solver with impulses"
        )
    pairs = {entry.between: entry.value for entry in impact.pairs}
    restitution = RestitutionTable.of_world(scene.table, bodies, obstacles, impact.restitution, pairs)
    contact = ContactSpec(
        scene=scene,
        detectors=built,
        abilities=[
            builder.target("contact_detectors", each.use, "contact.detector")[0].provides
            for each in detectors
        ],
        friction=friction,
        restitution=restitution if has_impulses and impact.level != "position" else None,
        stabilisation=Stabilisation(settings.approach, settings.push_out, settings.cap),
        margin=scenario.contact.margin,
    )
    return contact, solver


def compose(scenario: ScenarioTables, selected: SelectedComponents) -> Simulation:
    """Build the simulation of a scenario, at its initial state.

    Args:
        scenario: what to build.
        selected: components of the scenario. `select_checked_components` refuses what cannot work before this
            file and its heavy imports.
    Raises:
        PluginError: a component is broken, or nothing finds the equilibrium that the scenario starts from.
        CompositionError: components that cannot work together, as only the built ones show.
        ConfigError: options that only the built component could judge.
        StaticsFailed: the scenario starts from its equilibrium, and none was found.
    """
    builder = Builder(scenario)
    bodies = stack_bodies([_build_body(builder, table, selected) for table in scenario.bodies])
    for body in bodies:
        body.inputs.check_bounds(scenario.time.duration)
    obstacles = obstacles_of(scenario.world.obstacles)
    joints = joints_of(scenario, bodies, obstacles)
    contact, solver = _build_contact(builder, scenario, bodies, obstacles, joints)
    plane = _common_plane(bodies)
    spec = WorldSpec(
        bodies=bodies, obstacles=obstacles, joints=joints, contact=contact, solver=solver, plane=plane
    )
    system = make_world(spec, scenario.engine)
    for part in system.terms.bodies:
        if len(part.bounded) and not isinstance(solver, ImpulseSolver):
            raise CompositionError(
                f"body {part.body.name!r} has rows with force bounds, which only a contact solver that gives "
                "impulses can hold: set `contact.solver`, for example to `lcp`."
            )
    # only the built model of a lone body shows whether impulses may act on it
    if any(part.body.description.self_contact or len(part.bounded) for part in system.terms.bodies):
        refused = impulse_errors(selected)
        if refused:
            raise CompositionError(refused[0])
    integrator: Integrator = builder.build("integrators", scenario.integrator, "integrator")
    controllers = [
        builder.build("controllers", ComponentRef(table.use, table.options), f"controllers.{table.name}")
        for table in scenario.controllers
    ]
    simulation = Simulation(
        system, integrator, obstacles, scenario.time.step, builder.made, component_names=builder.names
    )
    initialise(simulation, scenario, read_initials(scenario, selected.models), joints)
    if contact is not None and plane is not None and contact.friction.law.is_directional:
        contact.scene.update_poses(simulation.state)
        check_axes_in_plane(contact.friction, contact.scene, plane, [body.name for body in bodies])
    if scenario.start == "equilibrium":
        equilibrium_finder().move_to_equilibrium(
            simulation, 0.0, models_without_gravity=lambda: models_without_gravity(scenario)
        )
        for part, state in zip(system.terms.bodies, simulation.state.body_states, strict=True):
            enforce_prescribed(part, state)
    for table, own in zip(scenario.controllers, controllers, strict=True):
        simulation.add_controller(own, every=table.every, name=table.name)
    for controller, every, name in scenario.added:
        simulation.add_controller(controller, every=every, name=name)
    return simulation


def models_without_gravity(scenario: ScenarioTables) -> list[Model] | None:
    """Build the models of a scenario without gravity; None if it has no gravity."""
    if not any(scenario.world.gravity):
        return None
    builder = Builder(attrs.evolve(scenario, world=attrs.evolve(scenario.world, gravity=(0.0, 0.0, 0.0))))
    selected = select_components(scenario)
    return [_build_body(builder, table, selected)[1] for table in scenario.bodies]


def _obstacle_shape(table: ObstacleTable) -> Shape:
    """Return the kernel's shape of an obstacle: a file gives whole edges and lengths, a shape has halves."""
    spec = shape_spec(table.shape)
    size = tuple(
        factor * float(value) for factor, value in zip(spec.file_sizes.values(), table.size, strict=True)
    )
    vertices = None if not table.vertices else np.array(table.vertices, dtype=float)
    if vertices is not None and vertices.shape[1] == 2:  # of the local x–z plane
        vertices = np.insert(vertices, 1, 0.0, axis=1)
    return Shape(kind=table.shape, size=size, vertices=vertices)


def obstacles_of(tables: Sequence[ObstacleTable]) -> tuple[Obstacle, ...]:
    """Build the obstacles of `[[world.obstacles]]`."""
    return tuple(
        Obstacle(
            name=table.name,
            shape=_obstacle_shape(table),
            position=as_signal(table.position),
            rotation_rpy=as_signal(table.rotation_rpy),
            friction=table.friction,
        )
        for table in tables
    )
