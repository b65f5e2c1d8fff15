"""Impacts: the velocities and the places of bodies after a step in which a contact closes.

Velocities. At position level a step closes a gap φ₀ exactly, w_n = v_n⁺ + φ₀/h ≥ 0, and leaves the rest of the
approach, v_n = −φ₀/h, to the next step. Friction acts in both, so that an impact depends on where in a step it falls:
on the share ϑ = φ₀/(h·|v_n⁻|) at every h. Here the position level decides where the bodies are, q⁺, and which contacts
have closed. Then the balance of momentum of the step is solved once more, from the velocities before any impulse, for

    v_n⁺ + e·min(v_n⁻, 0) ≥ 0  ⊥  λ_n ≥ 0,   friction(λ_t, v_t⁺; law, λ_n)                            (1)

with v⁻ the velocities at the start of the step and e Newton's coefficient of restitution. The contacts and their rows
stay. An iterate of the θ family is linearised at v⁺ again until what its momentum lacks, G·(ρ(v⁺) − Jᵀ·λ), is within
the tolerance of the step. So v⁺ does not depend on the matrix by which Newton's method came to q⁺. Where iterates go
round, as of a slender chain that friction jams along its axis, the step stays as at position level, with a status that
says so. Contacts that have not closed stay out; those that no body or joint connects with an impact stay as they were
solved.
The result does not contain φ₀, and q⁺ has no gap that the bodies would have to fall through once more. From the next
step on the contact rests at position level, so that nothing drifts.

A step has an impact where a contact carries an impulse, had none in the step before, and approached faster than the
smooth forces change its velocity in the step:

    −v_n⁻ > |J_n·(v_f − v⁻)|                                                                         (2)

v_f the velocities without any contact. What approaches slower begins to rest, and (1) would raise its energy: as q⁺
belongs to the impulses λ_p at position level, forces do the work λ_p·J·(v_f − v⁻) less than in (1), which takes away
½·λ·J·(v_f + v⁺) at least; by (2) the latter is larger, for one contact with e = 0.

Places. A contact row binds v⁺, and q⁺ follows from the mean velocity

    q⁺ = q₀ ⊕ h·v̄⁺,   v̄⁺ = (1 − θ)·v₀ + θ·v⁺                                                          (3)

At θ = 1 the row is a statement about q⁺. At θ = ½, which smooth motion needs for its second order, an impulse moves q⁺
by half of what it would if it acted from the start of the step on. This is right for forces, and an impact of which
nothing is known but that it falls into the step leaves the bodies ½·h·|v_n| deep, wherever they are. Slow push-out
mends that at an obstacle at rest. On one that turns, a ball that has sunk meets rows that are not those of the surface,
and sinks on. Hence positions have impulses ν of their own, normal ones that no velocity knows:

    q⁺ ← q⁺ ⊕ δ,   δ = G·J_nᵀ·ν,   0 ≤ ν ⊥ φ(q⁺) − min(φ₀, 0) + J_n·δ ≥ 0                            (4)

with φ(q⁺) = φ_k + h·J_n·(v̄⁺ − v̄) to first order, from the end state of the linearisation. At a contact that goes on, ν
is the curvature of its path, of order h³. What was deep at the start is left to the push-out of the rows.

Two shapes that the velocities of the start would bring past each other keep the contacts and rows of the start, since
a gap beyond counts from the wrong side. Such a row says φ₀ + h·J·v⁺ ≥ 0, which moves the bodies at θ = 1 alone. So
the impulses of these contacts, and no others, act on places from the start of the step on, at both levels:

    q⁺ ← q⁺ ⊕ h·(1 − θ)·G·J_cᵀ·λ_c                                                                  (5)

Sources: Moreau (1988), Unilateral contact and dry friction in finite freedom dynamics, for (1); Brüls, Acary, Cardona
(2014), Simultaneous enforcement of constraints at position and velocity levels in the nonsmooth generalized-α scheme,
Comput. Methods Appl. Mech. Engrg. 281, for the two levels, whose position-level multiplier is ν; Gear, Leimkuhler,
Gupta (1985), J. Comput. Appl. Math. 12-13, for the norm of the projection.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np
from attrs import evolve
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.state import State
from corekit.data.status import SolveInfo, Status
from corekit.engine.step.step_equation import StepEquation
from corekit.engine.step.theta_step import ThetaStep
from corekit.engine.step.two_levels import Placing
from corekit.engine.world.world_terms import WorldTerms
from corekit.roles.joint import BodyFrame

__all__ = ["place_apart", "resolve_impacts", "write_impact_bias"]

_TOUCHING = 1e-9
"""w_n below which a contact without impulse has closed too, and rounding in (2), relative to the velocities."""
_FAR = 1e3
"""Velocity with which contacts that have not closed are said to separate, relative to the others."""
_ITERATIONS: Final = 40
"""Most steps of Newton's method at velocity level, which begins at the answer of the position level."""
_MEMORY: Final = 3
"""Answers before the last one that tell where bodies are expanded next."""
_ALIKE: Final = 1e-10
"""Relative singular value below which changes of the answers are multiples of each other."""
_NEGLIGIBLE: Final = 1e-6
"""How deep a step may lead, relative to the margin up to which contacts are found."""


def resolve_impacts(
    world: WorldTerms, equation: StepEquation, theta: ThetaStep, start_velocity: Array, velocity: Array
) -> SolveInfo | None:
    """Solve a step in which contacts closed once more, for (1), and write v⁺; nothing is written where that fails.

    Args:
        world, equation, theta: after a step at position level.
        start_velocity: v⁻, shape (nv,).
        velocity: v⁺ of the step, shape (nv,).
    Returns:
        How it was solved; None where no impact is to be resolved.
    """
    pipeline, jacobian = world.pipeline, world.jacobian
    if pipeline is None or pipeline.restitution is None or not equation.contact_count:
        return None
    contacts, impulses = pipeline.contacts, equation.impulses
    new = impulses.find_new(contacts)
    if new is None:
        return None
    iterate = equation.point is not None and equation.point.is_iterated
    if iterate:
        theta.linearise_bodies(velocity)
    bias, rate = np.empty_like(equation.bias), equation.obstacle_velocity
    hit = np.empty(len(new), dtype=np.bool_)
    has_impact = write_impact_bias(
        new, impulses.of_contacts, jacobian.multiply(start_velocity), jacobian.multiply(equation.free_velocity()),
        jacobian.multiply(velocity), np.zeros_like(bias) if rate is None else rate, equation.bias,
        pipeline.restitution.of_contacts(contacts), bias, hit,
    )  # fmt: skip
    if not has_impact:
        return None
    reached = _reached(world, pipeline.scene.table.body[contacts.shape[: len(hit)]], hit)
    bias = np.where(reached[:, None], bias, equation.bias)
    path = _Path(velocity, equation.bound.scale)
    placing = Placing(velocity.copy(), impulses.impulse.copy(), impulses.of_constraints, equation.bias)
    info, left = equation.solve_again(bias, velocity), _ITERATIONS
    if not info.status.solved:
        return info
    equation.placing = placing
    while iterate:
        theta.linearise_bodies(velocity)
        info = evolve(info, residuals=evolve(info.residuals, equation=equation.momentum_residual()))
        change = equation.change_left()
        if world.factorisation.succeeded and theta.is_small(change, velocity):
            return info
        left -= 1
        theta.linearise_bodies(path.next(velocity))
        info = equation.solve_again(bias, velocity) if left else evolve(info, status=Status.ITERATION_LIMIT)
        if not info.status.solved:
            # no velocity that balances: the one at position level does
            equation.placing, equation.bias = None, placing.bias
            velocity[:], impulses.impulse = placing.velocity, placing.impulse
            impulses.of_constraints = placing.of_constraints
            theta.linearise_bodies(velocity)
            return evolve(info, residuals=evolve(info.residuals, equation=equation.momentum_residual()))
    return info


@final
class _Path:
    """The points x about which bodies were expanded, and the answers F(x) there, for Anderson's acceleration.

    The matrix of a step has the tangent of forces alone. Where M changes as a body bends, F(x) contracts by 0.3 to 0.5
    an iteration without acceleration, or not at all. What is left of speeds and of rates of turning is compared as that
    of the surface, by the `velocity_scale` of the world, so that the path does not depend on units.

    Source: Walker and Ni (2011), Anderson acceleration for fixed-point iterations, SIAM J. Numer. Anal. 49.
    """

    def __init__(self, point: Array, scale: Array) -> None:
        self._point, self._scale = point.copy(), scale
        self._points, self._answers = np.zeros((2, 0, len(point)))

    def next(self, answer: Array) -> Array:
        """Where to expand next: F(x) less the changes of F that together bring F(x) − x nearest to 0."""
        self._points = np.vstack([self._points[-_MEMORY:], self._point])
        self._answers = np.vstack([self._answers[-_MEMORY:], answer])
        left = (self._answers - self._points) * self._scale
        share = np.linalg.lstsq(np.diff(left, axis=0).T, left[-1], rcond=_ALIKE)[0]
        self._point = answer - share @ np.diff(self._answers, axis=0)
        return self._point


def _reached(world: WorldTerms, owner: IntArray, hit: BoolArray) -> BoolArray:
    """Return which contacts an impact reaches, shape (m,): through bodies that move, contacts and joints.

    Args:
        owner: bodies of the contacts, −1 for an obstacle, shape (m, 2).
        hit: contacts with an impact, shape (m,).
    """
    moves = np.array([bool(np.any(terms.free)) for terms in world.bodies])
    owner = np.where((owner >= 0) & moves[owner], owner, -1)
    joints = () if world.joints is None else world.joints.joints
    held = [
        (each.first.body.index, each.second.body.index)
        for each in joints
        if isinstance(each.second, BodyFrame)
    ]
    one, other = np.concatenate(
        [owner[(owner >= 0).all(axis=1)], np.array(held, dtype=np.int64).reshape(-1, 2)]
    ).T
    graph = coo_array((np.ones(len(one)), (one, other)), shape=(len(moves), len(moves)))
    _, label = connected_components(graph, directed=False)
    found = np.unique(label[owner[hit][owner[hit] >= 0]])
    return np.asarray(((owner >= 0) & np.isin(label[owner], found)).any(axis=1))


@compiled
def write_impact_bias(
    new: BoolArray, impulse: Array, start: Array, free: Array, end: Array, rate: Array, bias: Array,
    restitution: Array, out: Array, hit: BoolArray,
) -> bool:  # fmt: skip
    """Write the bias of (1) from velocities in contact axes, (m, width), and which contacts have an impact by (2)."""
    count, width = end.shape
    scale = 0.0
    for c in range(count):
        scale = max(scale, abs(start[c, 0]), abs(end[c, 0]), abs(bias[c, 0]))
    is_impact = False
    for c in range(count):
        approach, hit[c] = start[c, 0] - rate[c, 0], False
        for a in range(width):
            out[c, a] = -rate[c, a]
        if impulse[width * c] > 0.0 or end[c, 0] + bias[c, 0] <= _TOUCHING * scale:
            out[c, 0] += restitution[c] * min(approach, 0.0)
            hit[c] = new[c] and -approach > abs(free[c, 0] - start[c, 0]) + _TOUCHING * scale
            is_impact = is_impact or hit[c]
        else:
            out[c, 0] += _FAR * scale
    return is_impact


def place_apart(
    world: WorldTerms, equation: StepEquation, theta: ThetaStep, start: State, end: State
) -> SolveInfo | None:
    """Move the bodies by (4) at the end of a step, and by (5) where a pair would have passed.

    Args:
        world, equation, theta: after a step at position level.
        start: state at the start of the step.
        end: of the step, with v⁺; its coordinates are changed.
    Returns:
        How (4) was solved; None where nothing sank.
    """
    pipeline, point = world.pipeline, equation.point
    if pipeline is None or point is None or not equation.contact_count:
        return None
    share, step = point.share, point.step
    if share == 1.0:
        return None
    mean = (1.0 - share) * start.v + share * end.v
    if len(pipeline.held):
        late = (1.0 - share) * _response(world, equation, pipeline.is_held(pipeline.contacts))
        _displace(world, late, step, end)
        mean += late
    gap = pipeline.room + step * world.jacobian.normal_velocity(mean - equation.contact_mean)
    negligible = _NEGLIGIBLE * pipeline.margin
    if pipeline.restitution is None or gap.min() >= -negligible:
        return None
    if point.is_iterated:
        theta.linearise_bodies(end.v)
    info, separation = equation.solve_apart(gap, end.v)
    rate = separation.rate
    left = gap + step * world.jacobian.normal_velocity(rate)
    # a solver judges by the velocities of the problem, among which those of (4) may be the smallest
    if (
        info.status is Status.INACCURATE
        and info.residuals.normal * step <= negligible
        and left.min() >= -negligible
    ):
        info = evolve(info, status=Status.CONVERGED)
    if info.status.solved:
        equation.separation = separation
        _displace(world, rate, step, end)
    return info


def _response(world: WorldTerms, equation: StepEquation, some: BoolArray) -> Array:
    """G·J_cᵀ·λ_c of some contacts, (m,): what their impulses add to v⁺, shape (nv,)."""
    impulse = np.where(some[:, None], equation.impulses.of_contacts.reshape(len(some), -1), 0.0)
    columns = np.array(world.jacobian.multiply_transposed(impulse.ravel())[:, None], order="F")
    equation.refactor_late()
    world.factorisation.solve_columns(columns)
    return columns[:, 0]


def _displace(world: WorldTerms, rate: Array, step: float, state: State) -> None:
    """Move the coordinates of a state by a rate over h; its velocity stays."""
    moved = world.new_state()
    world.integrate(state, rate, step, state, moved)
    moved.v[:], moved.time = state.v, state.time
    world.set_prescribed_coordinates(moved)
    state.copy_from(moved)
