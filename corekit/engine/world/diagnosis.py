"""What the engine knows of a step that was not accepted, for the sentences of `corekit.simulation.step_failure`."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.engine.contact.contact_jacobian import ContactJacobian
from corekit.engine.potentials.step_limit import StepLimit
from corekit.engine.step.theta_step import ThetaStep
from corekit.engine.world.world_terms import WorldTerms
from corekit.roles.body import Body

__all__ = ["StepDiagnosis"]

_LOST = 1e-6
"""Smallest singular value of what joints hold, relative to the largest, at which it is lost."""
_TAKES_PART = 0.1
"""Entry of a singular vector, of length 1, from which on a joint is named."""


@final
class StepDiagnosis:
    """Implements `corekit.roles.world.StepDiagnosis`.

    Args:
        world: the world's terms. theta: steps of the θ family. limit: of a contact potential, or None.
    """

    def __init__(self, world: WorldTerms, theta: ThetaStep, limit: StepLimit | None) -> None:
        self._world, self._theta, self._limit = world, theta, limit

    @property
    def passed_pair(self) -> tuple[int, int] | None:
        """Two shapes that pass each other unseen by a contact potential, or None."""
        return None if self._limit is None else self._limit.passed_pair

    @property
    def failed_body(self) -> int:
        """Index of the body whose matrix could not be factorised, −1 if none is known."""
        return self._world.factorisation.failed_body

    def force(self, b: int) -> Array:
        """f of a body where it was evaluated last, shape (nv,)."""
        return self._world.bodies[b].force

    def trial_state(self, start: State) -> State | None:
        """The state of the last iterate of the step from `start`, or None where there was none."""
        trial = self._theta.trial
        return trial if trial.time > start.time else None

    def lost_joints(self) -> tuple[str, ...]:
        """Names of the joints whose rows together hold less than at the start, where they were evaluated last."""
        joints = self._world.joints
        if joints is None:
            return ()
        left, size, _ = np.linalg.svd(joints.jacobian)
        if size[joints.rank - 1] > _LOST * size[0]:
            return ()
        weakest = left[:, joints.rank - 1]
        parts = zip(joints.joints, joints.rows, strict=True)
        return tuple(joint.name for joint, rows in parts if np.abs(weakest[rows]).max() > _TAKES_PART)

    def contact_culprit(self, state: State) -> str:
        """Which component wrote a number that is not finite about contacts at a finite state, in words, or empty."""
        pipeline, bodies = self._world.pipeline, [terms.body for terms in self._world.bodies]
        if pipeline is None:
            return ""
        contacts = pipeline.contacts_at_end(state)
        poses, n = pipeline.scene.poses, contacts.count
        for body in bodies:
            own = slice(body.first_frame, body.first_frame + len(body.description.frames))
            if not (_is_finite(poses.frame_position[own]) and _is_finite(poses.frame_rotation[own])):
                return _wrote(body, "compute_frame_poses")
        if not all(_is_finite(each[:n]) for each in (contacts.gap, contacts.normal, contacts.point)):
            names = " or ".join(dict.fromkeys(type(each).__name__ for each in pipeline.detectors))
            return f"a contact that the detector {names} found is not finite"
        jacobian = ContactJacobian(bodies, pipeline.width)
        jacobian.collect(state, contacts)
        for points in jacobian.points:
            if not _is_finite(points.values):
                body = next(each for each in bodies if each.first_v == points.first_v and each.nv)
                return _wrote(body, "compute_point_jacobians")
        return ""


def _is_finite(numbers: Array) -> bool:
    return bool(np.isfinite(numbers).all())


def _wrote(body: Body, method: str) -> str:
    return f"{method} of {type(body.model).__name__} (body {body.name!r}) wrote a number that is not finite"
