"""How much of its weight a body lays on its contacts, found without the contact solver that carries it.

Let d be the acceleration that gravity alone would give the body at its last state (bilateral rows and clamps held,
contacts left out). At rest f + J_bᵀ·λ_b + J_cᵀ·λ_c = 0, and d does no work on rows, so that

    fᵀ·d / g  =  −Σ F_c · (J_c·d) / g                                                                    (1)

with f the model's own force, F_c the force of each contact as it was recorded and J_c·d the way of its point along d.
Of a loose body d is g everywhere and (1) says that the contacts' forces along gravity are its weight; of a held one
both sides leave out what its base carries. The left side knows the model alone, the right side the contact solver's
answer: they agree if the body rests and the solver is right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit.scenario.load import from_document, loads
from corekit.simulation.loop import Simulation
from corekit_record.results import Results
from corekit_run.checkpoint import newest_checkpoint

__all__ = ["Carried", "carried", "forces"]


@frozen
class Carried:
    """Both sides of (1) [N].

    Args:
        weight: what the model lays on its contacts. contacts: what they carry.
    """

    weight: float
    contacts: float

    @property
    def error(self) -> float:
        """Difference as a share of the weight [–]."""
        return abs(self.contacts - self.weight) / abs(self.weight) if self.weight else float("inf")


def forces(record: ContactRecord, step: float) -> Array:
    """Force of each contact on the first of its two sides, over the step [N], shape (n, 3)."""
    second = np.cross(record.normal, record.tangent)
    sideways = record.tangential_impulse
    impulse = record.normal_impulse[:, None] * record.normal
    return (impulse + sideways[:, :1] * record.tangent + sideways[:, 1:] * second) / step


def carried(results: Results) -> Carried:
    """(1) at the end of a finished run of one body among fixed obstacles."""
    kept, _ = newest_checkpoint(results.path)
    if kept is None:
        return Carried(float("nan"), float("nan"))
    document = dict(loads(kept.scenario).document)
    document.pop("contact", None)
    document["world"] = {key: value for key, value in document["world"].items() if key != "obstacles"}
    ended = from_document(document).compose()
    ended.restore({name: value for name, value in kept.memory.items() if not name.startswith("contact")})
    gravity = np.array(document["world"]["gravity"], dtype=float)
    direction = _accelerations(ended, ended.state) - _accelerations(_weightless(document), ended.state)
    size = float(np.linalg.norm(gravity))
    body, part = ended.bodies[0], ended.state.body_states[0]
    force = np.zeros(body.nv)
    body.model.compute_mass_and_force(
        part, body.inputs.value_at(part.time), body.model.new_mass_matrix(), force
    )
    record = results.contacts(-1)
    way = _ways(ended, part, record, direction)
    contact = forces(record, float(results["step_length"][-1]))
    return Carried(weight=float(force @ direction) / size, contacts=-float(np.sum(contact * way)) / size)


def _weightless(document: dict[str, Any]) -> Simulation:
    return from_document(document, ["world.gravity=[0.0, 0.0, 0.0]"]).compose()


def _accelerations(simulation: Simulation, state: State) -> Array:
    """v̇ of a world at a state that may belong to a twin of it, shape (nv,)."""
    own = simulation.system.new_state()
    own.copy_from(state)
    out = np.zeros(len(own.v))
    simulation.system.split.begin_step(own, simulation.step_length)
    simulation.system.smooth.compute_acceleration(own, out)
    return out


def _ways(simulation: Simulation, part: State, record: ContactRecord, direction: Array) -> Array:
    """J_c·d: the velocity of each contact's point at velocities d, shape (n, 3)."""
    body = simulation.bodies[0]
    model: Any = body.model
    description = model.description
    position, rotation = np.zeros((len(description.frames), 3)), np.zeros((len(description.frames), 3, 3))
    model.compute_frame_poses(part, position, rotation)
    frame = np.array([description.shapes[shape].frame for shape in record.shape[:, 0]], dtype=np.int64)
    local = np.einsum("nji,nj->ni", rotation[frame], record.point - position[frame])
    dofs = np.zeros((record.count, description.jacobian_width), dtype=np.int64)
    values = np.zeros((record.count, 3, description.jacobian_width))
    model.compute_point_jacobians(part, frame, local, dofs, values)
    return np.einsum("nij,nj->ni", values, direction[dofs])
