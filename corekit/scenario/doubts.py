"""What is improbable in a scenario, though it is no mistake: said before a run, and by `corekit check`."""

from __future__ import annotations

from corekit.hooks.installed import installed_hooks
from corekit.registry.resolve import call_target
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
    return [*scenario.dropped, *own, *others]
