"""What `compiled-form` promises: C entries that compute what the model's methods compute, to the bit."""

from __future__ import annotations

from typing import Final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.compiled_form import MODEL_ENTRIES
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.entries import Entries
from corekit_testing.conformance.model_states import Probe, points_of
from corekit_testing.conformance.subject import Subject

__all__ = ["COMPILED"]

_NEEDED: Final = ("dynamics", "integrate", "poses")
_OF_ABILITY: Final = {"force-derivatives": "tangent", "dissipation": "dissipation", "point-jacobian": "rows"}
_OF_ROWS: Final = ("dofs", "values", "position_error", "target_rate", "compliance", "lower", "upper")
_STEP: Final = 1e-2


@check("compiled-form-is-the-model", "its entries compute what its methods do, to the bit", "compiled-form")
def compiled_form_is_the_model(subject: Subject) -> None:
    probe = Probe(subject)
    form, can = probe.model.compiled_form(), subject.spec.provides
    if isinstance(form, str):
        expect(bool(form.strip()), "it says nothing of why these options have no form")
        raise NotApplicable(f"has none with these options: {form}")
    needed = {*_NEEDED, *(entry for ability, entry in _OF_ABILITY.items() if ability in can)}
    entries = Entries(form, MODEL_ENTRIES)
    missing = sorted(name for name in needed if not form.entries.get(name))
    expect(not missing, f"its form has no entry {', '.join(missing)}")
    for state in probe.states:
        for name, found, expected in _answers(probe, entries, state, can):
            expect_close(f"{name} of the compiled form", found, expected, 0.0)


def _answers(
    probe: Probe, entries: Entries, state: State, can: frozenset[str]
) -> list[tuple[str, Array, Array]]:
    """What entries and methods answer at a state, in the order of a step."""
    model, n, frames = probe.model, state.v.size, len(probe.description.frames)
    here = state.q, state.v, state.aux
    position, rotation = np.zeros((frames, 3)), np.zeros((frames, 3, 3))
    entries.call("poses", *here, position, rotation)
    mass, force = model.new_mass_matrix(), np.zeros(n)
    entries.call("dynamics", *here, probe.inputs, mass.data, force)
    found = [
        ("positions", position, probe.poses(state)[0]),
        ("rotations", rotation, probe.poses(state)[1]),
        ("M", mass.dense(), probe.mass(state)),
        ("f", force, probe.force(state)),
    ]
    if "force-derivatives" in can:
        stiffness, damping = model.new_stiffness_and_damping()
        entries.call("tangent", *here, probe.inputs, stiffness.data, damping.data)
        both = probe.tangent(state)
        found += [("K", stiffness.dense(), both[0]), ("D", damping.dense(), both[1])]
    if "dissipation" in can:
        _, damping = model.new_stiffness_and_damping()
        _, expected = model.new_stiffness_and_damping()
        entries.call("dissipation", *here, probe.inputs, damping.data)
        model.compute_dissipation(state, probe.inputs, expected)
        found.append(("D₀", damping.dense(), expected.dense()))
    if "point-jacobian" in can and frames:
        frame, local = points_of(model, 1.0)
        k = probe.description.jacobian_width
        rows = [(np.zeros((len(frame), k), dtype=np.int64), np.zeros((len(frame), 3, k))) for _ in range(2)]
        entries.call("rows", *here, len(frame), frame, local, *rows[0])
        model.compute_point_jacobians(state, frame, local, *rows[1])
        found += [("dofs", rows[0][0], rows[1][0]), ("rows", rows[0][1], rows[1][1])]
    if entries.has("constraints") and probe.description.constraint_count:
        made, told = model.new_constraints(), probe.bilateral(state)
        columns = [getattr(made, name) for name in _OF_ROWS]
        entries.call("constraints", *here, probe.inputs, *columns)
        found += [
            (f"{name} of constraints", each, getattr(told, name))
            for name, each in zip(_OF_ROWS, columns, strict=True)
        ]
    ends = [state.copy() for _ in range(2)]
    entries.call("integrate", state.q, state.aux, state.v, _STEP, ends[0].q, ends[0].aux)
    model.integrate(state, state.v.copy(), _STEP, state, ends[1])
    changed = [state.copy() for _ in range(2)]
    if "reparametrisation" in can:
        changes = False
        if entries.has("reparametrise"):
            changes = bool(entries.call("reparametrise", changed[0].q, changed[0].v, changed[0].aux))
        found.append(
            ("whether it reparametrises", np.array(changes), np.array(model.reparametrise(changed[1])))
        )
        for name in ("q", "v", "aux"):
            found.append((f"{name} reparametrised", getattr(changed[0], name), getattr(changed[1], name)))
    return [*found, ("q", ends[0].q, ends[1].q), ("aux", ends[0].aux, ends[1].aux)]


COMPILED: tuple[Check, ...] = (compiled_form_is_the_model,)
