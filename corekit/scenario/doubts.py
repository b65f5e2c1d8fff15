"""What is improbable in a scenario, though it is no mistake: said before a run, and by `corekit check`."""

from __future__ import annotations

from collections.abc import Iterator

from corekit.hooks.installed import installed_hooks
from corekit.registry.resolve import call_target
from corekit.roles.contact import ContactPotential
from corekit.roles.joint import BodyFrame
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation

__all__ = ["find_doubts"]


def find_doubts(scenario: Scenario, simulation: Simulation) -> list[str]:
    """Return what overrides dropped, and what models and distributions find improbable in a scenario at its start."""
    own = [f"bodies.{body.name}: {each}" for body in simulation.bodies for each in body.description.doubts]
    for joint in simulation.system.joints:
        for end in (joint.first, joint.second):
            if isinstance(end, BodyFrame):
                name = end.body.description.frames[end.frame]
                if said := end.body.description.joint_doubts.get(name):
                    own.append(f"joint {joint.name!r}: {end.body.name}.{name} {said}")
    targets = installed_hooks().targets("corekit_scenario_doubts")
    others = [
        each
        for owner, target in targets
        for each in call_target(target, " ".join(owner), scenario, simulation)
    ]
    return [*scenario.dropped, *own, *_unheeded(scenario, simulation), *others]


def _unheeded(scenario: Scenario, simulation: Simulation) -> Iterator[str]:
    """Name what the scenario says of impulses, which a contact solver with a potential does not have."""
    contact, solver = scenario.contact, simulation.components.get("contact.solver")
    if contact is None or not isinstance(solver, ContactPotential):
        return
    for entry, is_given in (
        ("impact.level", contact.impact.level is not None),
        ("stabilisation", contact.stabilisation != type(contact.stabilisation)()),
    ):
        if is_given:
            yield (
                f"contact.{entry} has no effect: it says how impulses end an approach and push out, and the contact "
                f"solver {simulation.component_name(solver)!r} has a potential"
            )
