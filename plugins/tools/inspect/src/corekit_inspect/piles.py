"""Worlds with more contacts than their solvers serve: steps that take seconds are known before the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from corekit.data.contacts import ContactRecord, ContactSet
from corekit.errors import CorekitError
from corekit.registry.discover import discover
from corekit.registry.resolve import load_spec, resolve
from corekit.registry.spec import ComponentSpec
from corekit.roles.options import ComponentRef
from corekit.scenario.component_selection import load_config
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation

__all__ = ["connected_contacts", "contacts_at_start", "pile_doubts"]


def pile_doubts(
    scenario: Scenario,
    simulation: Simulation,
    contacts: ContactSet | ContactRecord,
    when: str = "at the start",
) -> Iterator[str]:
    """Yield a sentence for every solver that serves fewer contacts than the world has, or will have once at rest.

    Args:
        contacts: those at some time. when: that time, in words.
    """
    if scenario.contact is None or scenario.contact.solver is None:
        return
    touching = connected_contacts(simulation, contacts)
    shaped = sum(bool(body.description.shapes) for body in simulation.bodies)
    count = max(touching, shaped)
    found = f"{touching} touch {when}" if count == touching else f"{shaped} bodies rest on one at least"
    main, *inner = _chosen("contact_solvers", scenario.contact.solver, "contact.solver")
    too_small = [
        (path, spec) for path, spec in (main, *inner) if spec.serves is not None and spec.serves < count
    ]
    if not too_small:
        return
    named = " or ".join(_for_any_number(main[1]))
    advice = f"; any number is served by contact solver {named}" if named else ""
    for path, spec in too_small:
        yield (
            f"{path}: {spec.name} serves some {spec.serves} contacts that bodies connect, and {found}: "
            f"steps may take seconds{advice}"
        )


def contacts_at_start(simulation: Simulation) -> ContactSet | None:
    """Find the contacts at the start, None without a contact solver; they are the current ones then."""
    pipeline = simulation.system.pipeline
    if pipeline is None:
        return None
    try:
        return pipeline.contacts_of_step(simulation.state, simulation.step_length)
    except CorekitError:  # a detector says so when the scenario is run
        return None


def connected_contacts(simulation: Simulation, contacts: ContactSet | ContactRecord) -> int:
    """The largest number of contacts that bodies connect, directly or through others."""
    owner = {number: number for number in range(len(simulation.bodies))}

    def first(number: int) -> int:
        while owner[number] != number:
            number = owner[number]
        return number

    names = {body.name: number for number, body in enumerate(simulation.bodies)}
    touching = [
        [
            names[name]
            for shape in pair
            if (name := simulation.shape_owner(int(shape)).partition(".")[0]) in names
        ]
        for pair in contacts.shape[: contacts.count]
    ]
    for bodies in touching:
        for other in bodies[1:]:
            owner[first(other)] = first(bodies[0])
    counts: dict[int, int] = {}
    for bodies in touching:
        if bodies:
            counts[first(bodies[0])] = counts.get(first(bodies[0]), 0) + 1
    return max(counts.values(), default=0)


def _chosen(role: str, use: ComponentRef, path: str) -> Iterator[tuple[str, ComponentSpec]]:
    """A component and the first of each kind that its options name: the others are its fallbacks."""
    spec = resolve(role, use.use)
    yield path, spec
    config: Any = load_config(spec, use.options, "")
    for each in attrs.fields(type(config)):
        value, inner = getattr(config, each.name), each.metadata.get("role")
        if inner and isinstance(value, ComponentRef):
            yield from _chosen(inner, value, f"{path}.options.{each.name}")


def _for_any_number(instead: ComponentSpec) -> list[str]:
    """Installed solvers for impulses without a limit."""
    rows = [row for row in discover() if row.role == "contact_solvers" and row.usable and not row.reference]
    specs = [load_spec(row) for row in rows]
    return sorted(
        spec.name for spec in specs if spec.serves is None and "impulses" in spec.provides & instead.provides
    )
