"""From bodies, contacts, a solver and joints to the terms of a world: the one place that joins abilities to the core.

The core (`bodies`, `contact`, `step` and the terms of a world) imports no ability. What a world has of them is made
here and handed to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.contact.contact_jacobian import ContactJacobian
from corekit.engine.contact.contact_pipeline import ContactPipeline
from corekit.engine.contact_areas import find_areas
from corekit.engine.internal_edges.joined_ends import find_joined_ends
from corekit.engine.internal_edges.seams import find_seams
from corekit.engine.islands.contact_islands import MANY_CONTACTS, ContactIslands
from corekit.engine.joint_elimination import JointElimination, find_clusters
from corekit.engine.joints import JointRows
from corekit.engine.look_ahead import LookAhead
from corekit.engine.potentials.coupled_step_matrix import CoupledStepMatrix
from corekit.engine.potentials.potential_forces import PotentialForces
from corekit.engine.potentials.potential_stage import PotentialStage
from corekit.engine.step.step_factorisation import StepFactorisation
from corekit.engine.world.world_terms import WorldTerms
from corekit.roles.body import Body
from corekit.roles.contact import ContactPotential, ContactSolver, ImpulseSolver, UnreducedStepSolver
from corekit.roles.joint import Joint
from corekit.roles.world import WorldSpec

__all__ = ["assemble_pipeline", "assemble_terms"]


def assemble_pipeline(spec: WorldSpec) -> ContactPipeline | None:
    """The contact detection of a world, or None without contact."""
    own = spec.contact
    if own is None:
        return None
    owner = 0 if own.restitution is None else own.restitution.owner
    surface = own.friction.surface + len(own.scene.table) * owner
    return ContactPipeline(
        spec.bodies, own.scene, own.detectors, own.friction, own.stabilisation, own.margin, spec.plane,
        own.restitution, abilities=own.abilities, seams=find_seams(own.scene, surface),
        areas=find_areas(spec.bodies, own.friction, 3 if spec.plane is None else 2),
    )  # fmt: skip


def assemble_terms(
    bodies: Sequence[Body],
    pipeline: ContactPipeline | None,
    solver: ContactSolver | None,
    joints: Sequence[Joint] = (),
    *,
    judges_bodies: bool = False,
) -> WorldTerms:
    """The terms of a world.

    Args:
        bodies: stacked bodies.
        pipeline: contact detection, or None without contact.
        solver: contact solver, or None without contact.
        joints: between bodies.
        judges_bodies: whether every body is factorised apart from a potential's terms too, and as a symmetric matrix
            unless it is dense, so that it can be judged body by body whether it is positive definite.
    """
    symmetric = isinstance(solver, ImpulseSolver)
    terms = [BodyTerms(body, symmetric=symmetric, symmetric_unless_dense=judges_bodies) for body in bodies]
    slices = [slice(body.first_v, body.first_v + body.nv) for body in bodies]
    nv = sum(body.nv for body in bodies)
    rows = JointRows(joints, nv) if joints else None
    width = 3 if pipeline is None else pipeline.width
    jacobian = ContactJacobian(bodies, width, by_entries=isinstance(solver, UnreducedStepSolver))
    forces: PotentialForces | None = None
    if isinstance(solver, ContactPotential) and pipeline is not None:
        forces = PotentialForces(solver, bodies, pipeline, jacobian)
    elif pipeline is not None:
        pipeline.joined = find_joined_ends(bodies, pipeline.scene)
    coupled = None if forces is None else CoupledStepMatrix(terms, slices, forces)
    clusters = find_clusters(slices, rows)
    coupled_joints: JointElimination | None = None
    if coupled is not None and rows is not None:
        coupled_joints = JointElimination(rows, range(len(rows.joints)), np.arange(nv))
    factorisation = StepFactorisation(
        terms, slices, clusters, coupled, coupled_joints, judges_bodies=judges_bodies
    )
    world = WorldTerms(terms, slices, pipeline, solver, jacobian, factorisation, rows, forces)
    if pipeline is not None:
        world.look_ahead = LookAhead(world, pipeline)
        if forces is not None:
            world.stage = PotentialStage(world, forces, pipeline)
        elif len(clusters) > 1:
            world.islands, world.many_contacts = ContactIslands, MANY_CONTACTS
    return world
