"""Joints between bodies: which frames they hold to each other, and their rows in the step equation.

With the origins x_A, x_B and axes R_A, R_B of both frames, the place d and axes N of the joint in A, and its place
p = R_Bᵀ·(x_A + R_A·d − x_B) and axes M = R_Bᵀ·R_A·N in B as they stood when it was made, a_j = R_A·N·e_j and
b_k = R_B·M·e_k,

    c = x_A + R_A·d − x_B − R_B·p   three rows, world axes                                             (1)
    c = a_j·b_k                     (j, k) of the kind of joint                                        (2)

Their rates are those of material points, which every model with `point-jacobian` gives. With ȧ_j the velocity of the
point at a_j from the joint less that of the joint, and ḃ_k likewise,

    ċ = ẋ_A(d) − ẋ_B(p),       ċ = ȧ_j·b_k + ḃ_k·a_j,       together  ċ = J·v − u                           (3)

u is the part of a given motion. At a point of a θ step (see `linearisation`) J·Δ = r with

    r = J·(v̄ − v_k) + s·u(t + h) − ((1 − s)·c(q_k, t + h) + s·c(q_k, t))/h,     s = 2 − 2·θ               (4)

where the time of c is that of the given motion. s = 0 puts the end of the step in its place; at θ = ½ the end
velocity is that of the motion, which keeps the order. In the smooth dynamics, with Baumgarte's time τ,

    J·v̇ = −d(J·v − u)/dt|_v − (2/τ)·(J·v − u) − c/τ²                                                  (5)

whose errors tend to ċ = −c/τ. After a smooth motion J·v⁺ = J·v_f, or where a given rate jumped in the step
J·v⁺ = u(t + h) − c/τ. Newton's increment of an acceleration that moves displacements by g_q has J·Δ = −c/g_q.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.instants import same_instant
from corekit.data.state import State
from corekit.engine.bodies.body_constraints import BAUMGARTE_STEPS
from corekit.engine.bodies.prescribed_motion import rate_jumps
from corekit.engine.step.linearisation import LinearisationPoint
from corekit.errors import CompositionError
from corekit.roles.body import Body
from corekit.roles.joint import JOINT_KINDS, BodyFrame, Joint, JointForce
from corekit.roles.model_abilities import PointJacobianAbility
from corekit.roles.obstacles import GivenMotion

__all__ = ["JointRows"]

_TURNS = 3
"""First row (2) of a joint, after its rows (1)."""
_ROUNDING = 1e-9
"""Velocity of a row that is rounding, relative to the sum of its terms."""


class _Side(NamedTuple):
    """One of the two frames of a joint, on a body, with the points that (3) needs: origin or p, and ends of axes.

    Row r is direction[r]·(ẋ of the point plus[r] − ẋ of the point minus[r]), without the latter if that is −1.
    """

    joint: int
    which: int
    body: Body
    model: PointJacobianAbility
    frame: IntArray
    local: Array
    plus: IntArray
    minus: IntArray
    direction: Array
    dofs: IntArray
    values: Array


@compiled
def _add_rows(
    first_row: int, first_v: int, plus: IntArray, minus: IntArray, direction: Array, dofs: IntArray, values: Array,
    out: Array,
) -> None:  # fmt: skip
    """Add the rows of a side to J, shape (rows, nv)."""
    for r in range(plus.size):
        for k in range(dofs.shape[1]):
            ahead = behind = 0.0
            for x in range(3):
                ahead += direction[r, x] * values[plus[r], x, k]
                if minus[r] >= 0:
                    behind += direction[r, x] * values[minus[r], x, k]
            out[first_row + r, first_v + dofs[plus[r], k]] += ahead
            if minus[r] >= 0:
                out[first_row + r, first_v + dofs[minus[r], k]] -= behind


def _axes_about(axis: Sequence[float]) -> Array:
    """Orthonormal axes as columns, the third along `axis`."""
    third = np.array(axis, dtype=float) / np.linalg.norm(axis)
    across = np.cross(third, np.eye(3)[int(np.argmin(np.abs(third)))])
    first = across / np.linalg.norm(across)
    return np.column_stack([first, np.cross(third, first), third])


def _side(i: int, which: int, end: BodyFrame, turns: Sequence[tuple[int, int]]) -> _Side:
    """A side of joint i, its points and directions still to be written."""
    rows, width = 3 + len(turns), end.body.description.jacobian_width
    plus, minus = np.zeros(rows, dtype=np.int64), np.full(rows, -1, dtype=np.int64)
    for r, pair in enumerate(turns, start=_TURNS):
        plus[r], minus[r] = 1 + pair[which], 0
    direction = np.zeros((rows, 3))
    direction[:3] = np.eye(3) if which == 0 else -np.eye(3)
    model = end.body.abilities.point_jacobian
    assert model is not None  # composition refuses to join others
    return _Side(
        i, which, end.body, model, np.full(4, end.frame, dtype=np.int64), np.zeros((4, 3)), plus, minus, direction,
        np.zeros((4, width), dtype=np.int64), np.zeros((4, 3, width)),
    )  # fmt: skip


@final
class JointRows:
    """J, r and the impulses of all joints of a world.

    Args:
        joints: at least one.
        velocities: nv of the world.

    Attributes:
        joints: as given. count: number of rows. rows: where those of each joint stand. rank: number of those that
            count, fewer where a loop holds something twice, as one of hinges in a plane. independent: those of each
            joint that hold what those before it do not.
        given: the motions that carry something.
        jacobian: J, shape (rows, nv). target: r, shape (rows,). impulse: λ [N·s or N·m·s], shape (rows,).
    """

    def __init__(self, joints: Sequence[Joint], velocities: int) -> None:
        self.joints = tuple(joints)
        self._turns = [JOINT_KINDS[joint.kind] for joint in self.joints]
        ends = np.cumsum([0, *(3 + len(each) for each in self._turns)]).tolist()
        self.rows = [slice(a, b) for a, b in pairwise(ends)]
        self.count = self.rank = int(ends[-1])
        self.independent = np.diff(ends).tolist()
        self.given = [joint.second for joint in self.joints if isinstance(joint.second, GivenMotion)]
        self.jacobian = np.zeros((self.count, velocities))
        self.target, self.impulse = np.zeros((2, self.count))
        both = [
            (i, which, end)
            for i, joint in enumerate(self.joints)
            for which, end in enumerate((joint.first, joint.second))
        ]
        self._sides = [
            _side(i, which, end, self._turns[i]) for i, which, end in both if isinstance(end, BodyFrame)
        ]
        self._motions = [(i, end) for i, _, end in both if isinstance(end, GivenMotion)]
        self._bodies = {side.body.index: side.body for side in self._sides}
        n = len(self.joints)
        self._place, self._axes = np.zeros((2, n, 3)), np.zeros((2, n, 3, 3))
        self._place[0] = [joint.place for joint in self.joints]
        self._axes[0] = [_axes_about(joint.axis) for joint in self.joints]
        # x and R of the frames A and B of every joint, and a or b as columns
        self._origin, self._rotation, self._turned = (
            np.zeros((2, n, 3)),
            np.zeros((2, n, 3, 3)),
            np.zeros((2, n, 3, 3)),
        )

    # — c, J and u —

    def attach(self, state: State) -> None:
        """Make the joints: p and M are as the frames stand at a state, the given motions at its time."""
        self._place_frames(state, state.time)
        (x_a, x_b), (r_a, r_b) = self._origin, self._rotation
        self._place[1] = np.einsum(
            "nji,nj->ni", r_b, x_a + np.einsum("nij,nj->ni", r_a, self._place[0]) - x_b
        )
        self._axes[1] = np.einsum("nji,njk,nkl->nil", r_b, r_a, self._axes[0])
        for side in self._sides:
            side.local[0] = self._place[side.which, side.joint]
            side.local[1:] = side.local[0] + self._axes[side.which, side.joint].T

    def check_independent(self, state: State, free: BoolArray) -> None:
        """Count what the rows hold; refuse a joint that adds nothing, or of which a given motion has a part already.

        Args:
            free: which velocities of the world are not prescribed, shape (nv,).
        Raises:
            CompositionError: naming the first such joint.
        """
        self._write_jacobian(state)
        own = self.jacobian[:, free]
        counts = [0, *(int(np.linalg.matrix_rank(own[: rows.stop])) for rows in self.rows)]
        self.rank, self.independent = counts[-1], np.diff(counts).tolist()
        is_given = any(each.moving for each in self.given) or self.rank < np.linalg.matrix_rank(self.jacobian)
        for joint, rows, (before, after) in zip(self.joints, self.rows, pairwise(counts), strict=True):
            size, added = rows.stop - rows.start, after - before
            if not added or (added < size and (is_given or np.linalg.matrix_rank(own[rows]) < size)):
                raise CompositionError(
                    f"joint {joint.name!r} holds what other joints or prescribed motions hold already, or what does "
                    "not move on its own (a node of a rod does not turn): leave it out, or let it hold "
                    "less (kind = 'ball')"
                )

    def _place_frames(self, state: State, time: float) -> None:
        """Write x, R, a and b at a state, given motions at a time [s]."""
        poses = {}
        for index, body in self._bodies.items():
            frames = len(body.description.frames)
            poses[index] = position, rotation = np.zeros((frames, 3)), np.zeros((frames, 3, 3))
            body.model.compute_frame_poses(state.body_states[index], position, rotation)
        for side in self._sides:
            position, rotation = poses[side.body.index]
            self._origin[side.which, side.joint] = position[side.frame[0]]
            self._rotation[side.which, side.joint] = rotation[side.frame[0]]
        self._place_motions(time)
        np.matmul(self._rotation, self._axes, out=self._turned)

    def _place_motions(self, time: float) -> None:
        for i, motion in self._motions:
            motion.place(time, self._origin[1, i], self._rotation[1, i])
            np.matmul(self._rotation[1, i], self._axes[1, i], out=self._turned[1, i])

    def _errors(self) -> Array:
        """c of (1) and (2) where the frames were placed last, a new array (rows,)."""
        out = np.zeros(self.count)
        at = self._origin + np.einsum("wnij,wnj->wni", self._rotation, self._place)
        for i, (rows, turns) in enumerate(zip(self.rows, self._turns, strict=True)):
            a, b = self._turned[:, i]
            out[rows] = [*(at[0, i] - at[1, i]), *(a[:, j] @ b[:, k] for j, k in turns)]
        return out

    def errors(self, state: State, time: float | None = None) -> Array:
        """c at a state, a new array (rows,) [m or -].

        Args:
            time: of the given motions [s]; that of the state if None.
        """
        self._place_frames(state, state.time if time is None else time)
        return self._errors()

    def _write_jacobian(self, state: State) -> Array:
        """Write J at a state, and return c there."""
        error = self.errors(state)
        self.jacobian.fill(0.0)
        for side in self._sides:
            other = self._turned[1 - side.which, side.joint]
            for r, pair in enumerate(self._turns[side.joint], start=_TURNS):
                side.direction[r] = other[:, pair[1 - side.which]]
            side.model.compute_point_jacobians(
                state.body_states[side.body.index], side.frame, side.local, side.dofs, side.values
            )
            _add_rows(
                self.rows[side.joint].start, side.body.first_v, side.plus, side.minus, side.direction,
                side.dofs, side.values, self.jacobian,
            )  # fmt: skip
        return error

    def jacobian_at(self, state: State) -> Array:
        """J at a state, shape (rows, nv); it is kept as `jacobian`."""
        self._write_jacobian(state)
        return self.jacobian

    def _rates(self, time: float) -> Array:
        """u at a time [s], the bodies' frames where they were placed last, a new array (rows,)."""
        out = np.zeros(self.count)
        self._place_motions(time)
        for i, motion in self._motions:
            velocity, spin = motion.twist(time)
            a, b = self._turned[:, i]
            moved = velocity + np.cross(spin, self._rotation[1, i] @ self._place[1, i])
            out[self.rows[i]] = [*moved, *(-a[:, j] @ np.cross(spin, b[:, k]) for j, k in self._turns[i])]
        return out

    # — r —

    def linearise(self, point: LinearisationPoint) -> None:
        """Write J and r at a linearisation point of the world."""
        error, h = self._write_jacobian(point.at), point.step
        if point.is_after_smooth_motion:
            self._keep_smooth_motion(point, error)
            return
        late = 2.0 - 2.0 * point.rate_factor / h if self._motions else 0.0
        if point.end is not point.at or self._motions:
            error = self.errors(point.end, point.end_time)
        self.target[:] = self.jacobian @ (point.mean - point.velocity)
        if late:
            self._place_motions(point.end_time - h)
            held = self._errors()
            self.target += late * (self._rates(point.end_time) - held / h)
        self.target -= (1.0 - late) * error / h

    def _keep_smooth_motion(self, point: LinearisationPoint, error: Array) -> None:
        """Write r of the end of a split step; schemes that do not know of a rate's jump get its impulse here."""
        kept = np.zeros(self.count)
        if point.momentum is not None:
            kept = self.jacobian @ (point.momentum - point.velocity)
        self.target[:] = kept
        near = same_instant(point.end_time)
        jumped = [
            i
            for i, motion in self._motions
            if motion.breakpoints(point.end_time - point.step - near, point.end_time - near)
        ]
        if jumped:
            closing = self._rates(point.end_time) - error / (BAUMGARTE_STEPS * point.step)
            closing -= self.jacobian @ point.velocity
            for i in jumped:
                self.target[self.rows[i]] = closing[self.rows[i]]

    def linearise_acceleration(self, point: LinearisationPoint) -> None:
        """Write J and r of a Newton step of an acceleration."""
        self.target[:] = -self._write_jacobian(point.at) / point.position_factor

    def stabilise(self, state: State, around: State, tau: float) -> None:
        """Write J and r by (5) at a world state; `around` is scratch.

        Args:
            tau: τ [s].
        """
        low, high, now = self._window(state, 1e-5 * tau)
        drift = self._closing(state, around, high) - self._closing(state, around, low)
        error = self._write_jacobian(state)
        speed = self.jacobian @ state.v - self._rates(now)
        self.target[:] = -drift / (high - low) - 2.0 * speed / tau - error / (tau * tau)

    def _window(self, state: State, small: float) -> tuple[float, float, float]:
        """Instants about that of a state between which no given motion has a breakpoint, and one for u [s].

        At a breakpoint they are on the side on which the state's own rates are.
        """
        time, near = state.time, 2.0 * same_instant(state.time)
        low, high, now = time - small, time + small, time
        for kink in (each for motion in self.given for each in motion.breakpoints(low - near, high)):
            if abs(kink - time) > near:
                low, high = (max(low, kink + near), high) if kink < time else (low, min(high, kink))
                continue
            self._write_jacobian(state)
            speed = self.jacobian @ state.v
            before, after = (np.abs(speed - self._rates(at)).max() for at in (kink, kink + near))
            if after < before:
                low = now = kink + near
            else:
                high = now = kink
        return low, high, now

    def _closing(self, state: State, around: State, time: float) -> Array:
        """J·v − u at the state moved along its own velocity until a time [s], v held."""
        for index, body in self._bodies.items():
            own, moved = state.body_states[index], around.body_states[index]
            body.model.integrate(own, own.v, time - state.time, own, moved)
        around.time = time
        self._write_jacobian(around)
        return self.jacobian @ state.v - self._rates(around.time)

    def jump_rates(self, state: State) -> bool:
        """Write J at a state and r = u behind its time; return whether the rate of a given motion jumps there."""
        time, near = state.time, same_instant(state.time)
        kinks = [kink for motion in self.given for kink in motion.breakpoints(time - near, time + near)]
        self._write_jacobian(state)
        behind = max(time, *kinks) + 2.0 * near if kinks else time
        before = self.jacobian @ state.v
        # rounding of the rows' own velocities is none
        before[np.abs(before) <= _ROUNDING * (np.abs(self.jacobian) @ np.abs(state.v))] = 0.0
        jumps = bool(kinks) and rate_jumps(before, time, behind, self._rates)
        self.target[:] = self._rates(behind)
        return jumps

    def force(self, i: int, state: State, row_forces: Array) -> JointForce:
        """What joint i gives its first frame at a state, for the forces of all rows, shape (rows,) [N or N·m]."""
        self._place_frames(state, state.time)
        given = row_forces[self.rows[i]]
        a, b = self._turned[:, i]
        arms = [np.cross(a[:, j], b[:, k]) for j, k in self._turns[i]]
        torque = sum((arm * each for arm, each in zip(arms, given[_TURNS:], strict=True)), np.zeros(3))
        return JointForce(given[:3].copy(), torque)
