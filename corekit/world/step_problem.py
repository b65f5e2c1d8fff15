"""The step equation (2)–(4) of the contract, built at an iterate and solved: the integrators' `System`.

    A·v⁺ = b + J_bᵀ·λ_b + J_cᵀ·λ_c                                                     (1)
    J_b·v⁺ + E_b·λ_b = r_b                                                             (2)
    w = W·λ + w₀,   W = J·G·Jᵀ,   w₀ = J·v_f − (obstacle velocity) + φ̃/h                 (3)

v_f solves (1)–(2) without contact; J stacks the contact rows and the bounded bilateral rows; G is the
inverse of (1)–(2). A is block diagonal over bodies; a contact potential adds low-rank terms that may
couple them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactMode, ContactRecord
from corekit.data.state import State
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import Memory
from corekit.roles.contact import ContactPotential, ContactSolver, ImpulseSolver
from corekit.world.bodies import Body
from corekit.world.body_system import BodySystem
from corekit.world.contact_forces import ContactForces
from corekit.world.contact_problem import StepContactProblem
from corekit.world.contact_stage import ContactStage, match
from corekit.world.smooth import smooth_acceleration

__all__ = ["StepSystem"]

_SLIDING = 1e-6
"""Slip speed above which a contact is said to slide [m/s]; below this impulse share it is separate."""


@final
class StepSystem:
    """The world as integrators see it; see `corekit.roles.integrator.System`.

    Args:
        bodies: stacked bodies.
        stage: contact detection and rows, or None without contact.
        solver: contact solver, or None without contact.
    """

    def __init__(
        self, bodies: Sequence[Body], stage: ContactStage | None, solver: ContactSolver | None
    ) -> None:
        self.bodies = tuple(bodies)
        impulses = isinstance(solver, ImpulseSolver)
        self.parts = tuple(BodySystem(body, symmetric=impulses) for body in bodies)
        self._one = self.parts[0] if len(self.parts) == 1 else None
        self.slices = tuple(slice(b.first_v, b.first_v + b.nv) for b in self.bodies)
        self.coordinates = sum(body.nq for body in self.bodies)
        self.velocities = n = sum(body.nv for body in self.bodies)
        self.stage = stage
        self.solver = solver
        self._impulses = solver if isinstance(solver, ImpulseSolver) else None
        self.forces = (
            ContactForces(solver, bodies, stage)
            if isinstance(solver, ContactPotential) and stage is not None
            else None
        )
        self.problem = StepContactProblem(stage.width if stage is not None else 3)
        self._has_rows = any(part.rows is not None for part in self.parts)
        self._has_prescribed = any(len(part.prescribed) for part in self.parts)
        self._recharts = tuple(body.model.rechart for body in self.bodies)
        self._trial, self._end, self.scratch = self.new_state(), self.new_state(), self.new_state()
        self._velocity = self._about = np.zeros(n)
        self._free = np.zeros(n)
        self._extra: Array | None = None
        self._contact_count = 0
        self._impulse, self._impulse_id = _NOTHING, _NO_ID
        self._bounded_impulse = np.zeros(sum(len(part.bounded) for part in self.parts))
        self._split = False
        self._accepted = np.zeros(n)
        self._kept = self._warm_start()
        self._first = True
        self._obstacle_rate: Array | None = None
        self._bias = np.zeros(0)
        self._coefficients = (0.0, 0.0)
        self._moving = np.zeros(n)
        self._report = SolveInfo()
        self._factorised = True

    # — states —

    def new_state(self) -> State:
        """A buffer for a state of the world."""
        return State.stacked([body.sizes for body in self.bodies])

    def advance(self, start: State, velocity: Array, step: float, near: State, out: State) -> None:
        """Move every body with v̄ over h; writes q, aux and time of `out`, prescribed coordinates set to p."""
        self._move(start, velocity, step, near, out)
        self._arrive(out, start.time + step)

    def correct(self, smooth: State, velocity: Array, step: float, out: State) -> None:
        """After the split problem: q⁺ = advance(q_f, ½·(v⁺ − v_f), h) for v⁺ = `velocity`, at the same time."""
        np.subtract(velocity, smooth.v, out=self._moving)
        self._moving *= 0.5
        self._move(smooth, self._moving, step, smooth, out)
        self._arrive(out, smooth.time)

    def _move(self, start: State, velocity: Array, step: float, near: State, out: State) -> None:
        if self._one is not None:
            self._one.body.model.advance(start.parts[0], velocity, step, near.parts[0], out.parts[0])
            return
        for part, where, a, b, c in zip(
            self.parts, self.slices, start.parts, near.parts, out.parts, strict=True
        ):
            part.body.model.advance(a, velocity[where], step, b, c)

    def _arrive(self, out: State, time: float) -> None:
        out.time = time
        if self._has_prescribed:
            for part, target in zip(self.parts, out.parts, strict=True):
                part.place(target, time)

    # — linearisations —

    def begin(self, start: State, step: float) -> None:
        """Find the contact candidates of the step from `start` and take the gaps φ(q₀).

        Warm starts are those of the last accepted step, so a repeated or a resumed step is the same.
        """
        self.problem.step = step
        self._first = True
        self._take_warm_start(self._kept)
        if self._has_prescribed:
            for part in self.parts:
                part.begin()
        if self.stage is not None:
            reach = 0.0
            if self.forces is not None:
                self.forces.clear()
                reach = self.forces.potential.reach
            self.stage.begin(start, step, self.scratch, reach)

    def linearise(
        self, start: State, velocity: Array, step: float, theta: float, tangent: float = 1.0
    ) -> None:
        """Build (1)–(3) of the coupled family at v_k = `velocity`, prescribed entries at ṗ(t + h)."""
        trial, stage, own = self._trial, self.stage, self._velocity
        own[:] = velocity
        self._reset(own, split=False)
        self._fix(own, start.time + step)
        moving = self._moving
        np.multiply(start.v, 1.0 - theta, out=moving)
        moving += theta * own
        # the last step's trial state is no neighbour: it may lie in another chart, or not be there at all
        near, near_end = (start, start) if self._first else (trial, self._end)
        self._first = False
        self.advance(start, moving, theta * step, near, trial)
        trial.v[:] = moving
        end = trial
        if theta != 1.0:
            end = self._end
            self.advance(start, moving, step, near_end, end)
            end.v[:] = moving
        if self._has_prescribed:
            for part, target in zip(self.parts, trial.parts, strict=True):
                part.impose(target, trial.time)
        for part, where, a, b, c in zip(
            self.parts, self.slices, start.parts, trial.parts, end.parts, strict=True
        ):
            part.assemble_coupled(a, b, c, own[where], step, theta, tangent)
        if stage is not None and stage.measure(trial):
            self._take_contacts(start, trial, end, step, theta)
        self._coefficients = (theta * step, tangent * theta * theta * step * step)
        if self.forces is not None and self._contact_count:
            forces = self.forces
            forces.evaluate(trial, trial.v, step, self._obstacle_rate)
            # b = A·v_k − ρ: the potential's own share of A·v_k and of ρ
            self._extra = step * forces.generalised() + forces.tangent_product(own, *self._coefficients)
        self._finish(step)

    def _reset(self, about: Array, split: bool) -> None:
        """Begin a linearisation about a velocity; a potential's last smooth evaluation counts in a split step."""
        self._about = about
        self._extra = None
        self._contact_count = 0
        self._obstacle_rate = None
        self._split = split
        if self.forces is not None and not split:
            self.forces.clear()

    def _fix(self, velocity: Array, time: float) -> None:
        """Set the prescribed entries of a stacked velocity to ṗ(time)."""
        if self._has_prescribed:
            for part, where in zip(self.parts, self.slices, strict=True):
                part.fix(time)
                velocity[where][part.prescribed] = part.fixed

    def _take_contacts(self, start: State, trial: State, end: State, step: float, theta: float) -> None:
        """Rows, obstacle velocities and gap terms of the contacts measured at the trial state."""
        stage = self.stage
        assert stage is not None
        self._contact_count = count = stage.contacts.count
        stage.build_rows(trial)
        t0, t1 = start.time, start.time + step
        over_step = stage.obstacle_velocity(trial.time, t0, t1, instant=False)
        self._obstacle_rate = rate = over_step
        if self._impulses is None:
            return
        if over_step is not None and theta != 1.0:
            self._obstacle_rate = rate = stage.obstacle_velocity(trial.time, t0, t1, instant=True)
        normal_velocity = stage.rows.velocity(trial.v)[:, 0]
        if over_step is not None:
            normal_velocity = normal_velocity - over_step[:, 0]
        end_gap = stage.contacts.gap[:count].copy()
        if end is not trial:
            found = stage.gap_at(end)
            onwards = end_gap + (1.0 - theta) * step * normal_velocity
            end_gap = np.where(np.isnan(found), onwards, found)
            stage.scene.place(trial)
        self._set_bias(stage.gap_term(end_gap, normal_velocity, step), rate, step)

    def _set_bias(self, gap_term: Array, obstacle_rate: Array | None, step: float) -> None:
        count, width = self._contact_count, self.problem.width
        bias = np.zeros((count, width))
        bias[:, 0] = gap_term / step
        if obstacle_rate is not None:
            bias -= obstacle_rate
        self._bias = bias.ravel()

    def linearise_start(
        self, start: State, step: float, beta: float, damping: bool, shift: float = 0.0
    ) -> None:
        """Build the one-solve problem at (q₀, v₀, t)."""
        stage = self.stage
        self._reset(start.v, split=False)
        for part, a, scratch in zip(self.parts, start.parts, self.scratch.parts, strict=True):
            part.assemble_start(a, scratch, step, beta, damping, shift)
        self._coefficients = (step if damping else 0.0, beta * step * step)
        if stage is not None and stage.take_start():
            self._contact_count = count = stage.contacts.count
            stage.build_rows(start)
            t0, t1 = start.time, start.time + step
            self._obstacle_rate = rate = stage.obstacle_velocity(t0, t0, t1, instant=False)
            if self._impulses is not None:
                self._set_bias(stage.stabilised(stage.contacts.gap[:count], step), rate, step)
            elif self.forces is not None:
                self.forces.evaluate(start, start.v, step, rate)
                self._extra = step * self.forces.generalised()
                self._extra += beta * step * step * self.forces.obstacle_stiffness_force()
                if damping:
                    self._extra += step * self.forces.damping_force(start.v)
        self._finish(step)

    def linearise_split(self, start: State, smooth: State, step: float) -> None:
        """Build the split problem about the smooth end state (q_f, v_f)."""
        stage = self.stage
        self._reset(smooth.v, split=True)
        for part, a, where in zip(self.parts, start.parts, smooth.parts, strict=True):
            part.assemble_split(a, where, step)
        self._coefficients = (0.0, 0.0)
        if stage is not None and self._impulses is not None and stage.measure(smooth):
            self._contact_count = count = stage.contacts.count
            stage.build_rows(smooth)
            t0, t1 = start.time, start.time + step
            self._obstacle_rate = rate = stage.obstacle_velocity(t1, t0, t1, instant=True)
            mean = 0.5 * (start.v + smooth.v)
            normal_velocity = stage.rows.velocity(mean)[:, 0]
            over_step = stage.obstacle_velocity(t1, t0, t1, instant=False)
            if over_step is not None:
                normal_velocity = normal_velocity - over_step[:, 0]
            term = stage.gap_term(stage.contacts.gap[:count].copy(), normal_velocity, step)
            self._set_bias(term, rate, step)
        self._finish(step)

    def acceleration(self, state: State, out: Array) -> bool:
        """Write v̇ of the smooth part at a state; see `corekit.world.smooth`."""
        return smooth_acceleration(self, state, out)

    # — solving —

    def _finish(self, step: float) -> None:
        """Factorise, and carry the warm start over to the new set of contacts."""
        self.problem.step = step
        self._factorised = True
        for part in self.parts:
            if not part.factorise():
                self._factorised = False
        if self._factorised and self.forces is not None and self._contact_count:
            self._factorised = self.forces.factorise(self._columns, *self._coefficients)
        if self._impulses is not None and self._contact_count:
            assert self.stage is not None
            ids = self.stage.contacts.id[: self._contact_count]
            if len(ids) != len(self._impulse_id) or np.count_nonzero(ids != self._impulse_id):
                position, found = match(ids, self._impulse_id)
                width = self.problem.width
                old = self._impulse.reshape(-1, width)
                fresh = np.zeros((len(ids), width))
                fresh[found] = old[position[found]]
                self._impulse = fresh.ravel()
                self._impulse_id = ids.copy()
        else:
            self._impulse, self._impulse_id = _NOTHING, _NO_ID

    def _columns(self, block: Array) -> None:
        """Overwrite `block` (nv, R) by (block diagonal G)·block."""
        if self._one is not None:
            self._one.columns(block)
            return
        for part, where in zip(self.parts, self.slices, strict=True):
            piece = np.array(block[where], order="F")
            part.columns(piece)
            block[where] = piece

    def _solve_parts(self, extra: Array | None, x: Array) -> None:
        """The same without the potential's terms in A."""
        if self._one is not None:
            self._one.solve(extra, x)
        else:
            for part, where in zip(self.parts, self.slices, strict=True):
                part.solve(None if extra is None else extra[where], x[where])

    def _solve_free(self, extra: Array | None, x: Array) -> None:
        """v of (1)–(2) with `extra` added to b and the potential's low-rank terms in A."""
        self._solve_parts(extra, x)
        if self.forces is not None and self._contact_count:
            if self._has_rows:
                # the rows' impulses answer the potential too
                share = self.forces.reply(x)
                self._solve_parts(share if extra is None else extra + share, x)
            else:
                self.forces.correct(x)

    def solve(self, velocity: Array) -> SolveInfo:
        """Solve the current problem; write v⁺."""
        if not self._factorised:
            velocity[:] = self._about
            self._report = SolveInfo(status=Status.SINGULAR, answered_by="factorisation")
            return self._report
        self._solve_free(self._extra, velocity)
        problem = self.problem
        problem.contacts = self._contact_count if self._impulses is not None else 0
        problem.bounded = len(self._bounded_impulse)
        if not problem.rows:
            self._report = self.forces.info if self.forces is not None else _DIRECT
            return self._report
        self._free[:] = velocity
        transposed = self._stack_rows(velocity)
        response = transposed.copy(order="F")
        self._columns(response)
        if self.forces is not None and self._contact_count:
            self.forces.correct(response)
        delassus = transposed.T @ response
        if problem.bounded:
            corner = delassus[-problem.bounded :, -problem.bounded :]
            corner[np.diag_indices(problem.bounded)] += np.concatenate(
                [part.bounded_compliance for part in self.parts]
            )
        problem.set_delassus(delassus)
        assert self._impulses is not None
        impulse = np.concatenate([self._impulse, self._bounded_impulse])
        info = self._impulses.solve(problem, impulse)
        split = len(impulse) - problem.bounded
        self._impulse, self._bounded_impulse = impulse[:split], impulse[split:]
        if problem.bounded:
            self._share_bounded()
        if self._has_rows:
            extra = transposed @ impulse
            self._solve_free(extra if self._extra is None else extra + self._extra, velocity)
        else:
            velocity += response @ impulse
        self._report = info
        return info

    def _stack_rows(self, free_velocity: Array) -> Array:
        """Jᵀ of contact and bounded rows, (nv, R) Fortran; fills the problem's vectors on the way."""
        problem, stage, count = self.problem, self.stage, self._contact_count
        if count and self._impulses is not None:
            assert stage is not None
            transposed = stage.rows.transposed()
            problem.id = stage.contacts.id[:count]
            problem.gap = stage.contacts.gap[:count]
            problem.friction = stage.contacts.friction[:count]
            problem.free = transposed.T @ free_velocity + self._bias
        else:
            transposed = np.zeros((self.velocities, 0), order="F")
            problem.id = _NO_ID
            problem.gap = problem.friction = problem.free = np.zeros(0)
        if not problem.bounded:
            problem.lower = problem.upper = np.zeros(0)
            problem.bounded_id = _NO_ID
            return transposed
        extra = np.zeros((self.velocities, problem.bounded), order="F")
        lower, upper, target, column = [], [], [], 0
        for part, where in zip(self.parts, self.slices, strict=True):
            if not len(part.bounded):
                continue
            dofs, values = part.bounded_rows()
            for d, value in zip(dofs, values, strict=True):
                np.add.at(extra[where, column], d, value)
                column += 1
            low, high = part.bounds(problem.step)
            lower.append(low)
            upper.append(high)
            target.append(part.bounded_target)
        problem.lower, problem.upper = np.concatenate(lower), np.concatenate(upper)
        problem.bounded_id = np.arange(problem.bounded)
        own = extra.T @ free_velocity - np.concatenate(target)
        problem.free = np.concatenate([problem.free, own])
        return np.concatenate([transposed, extra], axis=1)

    def _share_bounded(self) -> None:
        column = 0
        for part in self.parts:
            part.take_bounded(self._bounded_impulse[column : column + len(part.bounded)])
            column += len(part.bounded)

    def residual(self) -> float:
        """Largest residual of the step equation at the current coupled linearisation with the last impulses."""
        worst = 0.0
        total = np.zeros(self.velocities)
        for part, where in zip(self.parts, self.slices, strict=True):
            total[where] = part.rho
            row = np.zeros(part.body.nv)
            part.add_row_impulses(row)
            total[where] -= row
        total -= self._contact_impulse()
        for part, where in zip(self.parts, self.slices, strict=True):
            own = total[where][part.free_mask()]
            worst = max(worst, float(np.max(np.abs(own), initial=0.0)))
        return worst

    def _contact_impulse(self) -> Array:
        """J_cᵀ·λ_c of impulses, or h·Pᵀ·f_c of a potential, at the current linearisation, shape (nv,)."""
        if self._contact_count and self._impulses is not None and self.stage is not None:
            return self.stage.rows.matrix.T @ self._impulse
        if self._contact_count and self.forces is not None:
            return self.problem.step * self.forces.generalised()
        return np.zeros(self.velocities)

    @property
    def trial(self) -> State:
        """Where the last coupled linearisation was made."""
        return self._trial

    def contact_forces(self, b: int) -> dict[str, Array]:
        """A potential's force on body b at the step's last evaluation, by the name `contact`, if there was one."""
        if self.forces is None or not len(self.forces.terms.energy):
            return {}
        return {"contact": self.forces.generalised()[self.slices[b]]}

    def reaction(self) -> Array:
        """Impulses that held the prescribed coordinates in the last accepted step [N·s or N·m·s].

        Stacked over bodies in the order of their layouts: A·v⁺ − b − J_bᵀλ_b − J_cᵀλ_c at those rows. In a
        split step the smooth motion's share is h times the mean of its forces where they were evaluated.
        """
        extra = self._extra
        if self._impulses is not None:
            extra = self._contact_impulse()
        elif extra is not None and self.forces is not None:
            extra = extra - self.forces.tangent_product(self._accepted, *self._coefficients)
        held: list[Array] = [np.zeros(0)]
        for part, where in zip(self.parts, self.slices, strict=True):
            if len(part.prescribed):
                own = part.reaction(None if extra is None else extra[where], self._accepted[where])
                held.append(own + self.problem.step * part.smooth_reaction() if self._split else own)
        return np.concatenate(held)

    # — after acceptance —

    def accept(self, state: State) -> None:
        """Told once a step after acceptance: contact memory, charts."""
        self._accepted[:] = state.v
        if self._impulse is not self._kept.contact or self._has_rows:
            self._kept = self._warm_start()
        if self.stage is not None:
            self.stage.accept()
            if self.forces is not None:
                self.forces.potential.accepted(self.stage.contacts, self.problem.step)
        for rechart, own in zip(self._recharts, state.parts, strict=True):
            rechart(own)

    def record(self) -> ContactRecord:
        """What every contact of the last accepted step did."""
        n = self._contact_count if self.forces is None else len(self.forces.terms.energy)
        if self.stage is None or not n:
            return ContactRecord()
        stage = self.stage
        contacts, width = stage.contacts, self.problem.width
        absolute = stage.rows.velocity(self._accepted)
        rate = self._obstacle_rate if self.forces is None else self.forces.obstacle_velocity
        relative = absolute if rate is None else absolute - rate
        slip, tangential = np.zeros((n, 2)), np.zeros((n, 2))
        slip[:, : width - 1] = relative[:, 1:]
        residual = np.zeros(n)
        if self._impulses is not None:
            impulse = self._impulse.reshape(n, width)
            normal = impulse[:, 0].copy()
            tangential[:, : width - 1] = impulse[:, 1:]
            pressing = absolute[:, 0] + self._bias.reshape(n, width)[:, 0]
            residual = np.abs(np.minimum(normal, pressing))
        else:
            assert self.forces is not None
            normal = self.problem.step * self.forces.terms.normal_force
            tangential[:] = self.problem.step * self.forces.terms.tangential_force
        largest = float(np.max(np.abs(normal), initial=0.0))
        sliding = np.hypot(slip[:, 0], slip[:, 1]) > _SLIDING
        active = normal > max(_SLIDING * largest, 1e-15)
        mode = np.where(active, np.where(sliding, ContactMode.SLIDE, ContactMode.STICK), ContactMode.SEPARATE)
        return ContactRecord(
            id=contacts.id[:n].copy(),
            shape=contacts.shape[:n].copy(),
            gap=contacts.gap[:n].copy(),
            point=contacts.point[:n].copy(),
            normal=contacts.normal[:n].copy(),
            tangent=contacts.tangent[:n].copy(),
            normal_impulse=normal,
            tangential_impulse=tangential,
            slip=slip,
            mode=mode.astype(np.int64),
            residual=residual,
        )

    # — memory —

    def _warm_start(self) -> _WarmStart:
        """The impulses now; contact impulses are replaced by every solve, row impulses are rewritten."""
        rows = [part.row_impulse.copy() for part in self.parts] if self._has_rows else []
        return _WarmStart(self._impulse, self._impulse_id, self._bounded_impulse, rows)

    def _take_warm_start(self, kept: _WarmStart) -> None:
        self._impulse, self._impulse_id, self._bounded_impulse = kept.contact, kept.id, kept.bounded
        if self._has_rows:
            for part, impulse in zip(self.parts, kept.rows, strict=True):
                part.row_impulse[:] = impulse

    def memory(self) -> Memory:
        """Warm starts and contact memory as of the last accepted step, as named arrays."""
        own = self._kept
        kept: Memory = {"impulse": own.contact.copy(), "impulse_id": own.id.copy()}
        kept["bounded_impulse"] = own.bounded.copy()
        kept |= {f"row_impulse.{i}": impulse.copy() for i, impulse in enumerate(own.rows)}
        if self.stage is not None:
            kept |= {f"stage.{name}": array for name, array in self.stage.memory().items()}
        return kept

    def remember(self, memory: Memory) -> None:
        """Take over what `memory` gave; an empty one means a fresh start."""
        count = len(self._bounded_impulse)
        self._kept = _WarmStart(
            memory.get("impulse", np.zeros(0)).copy(),
            memory.get("impulse_id", np.zeros(0, dtype=np.int64)).copy(),
            memory.get("bounded_impulse", np.zeros(count)).copy(),
            [
                memory.get(f"row_impulse.{i}", np.zeros(len(part.row_impulse))).copy()
                for i, part in enumerate(self.parts)
            ]
            if self._has_rows
            else [],
        )
        self._take_warm_start(self._kept)
        if self.stage is not None:
            own = {name[6:]: array for name, array in memory.items() if name.startswith("stage.")}
            self.stage.remember(own)


class _WarmStart(NamedTuple):
    """Impulses of an accepted step: of contacts with their ids, of bounded rows, of every body's rows."""

    contact: Array
    id: IntArray
    bounded: Array
    rows: list[Array]


_NOTHING = np.zeros(0)
_NO_ID: IntArray = np.zeros(0, dtype=np.int64)
_DIRECT = SolveInfo(status=Status.CONVERGED, residuals=Residuals(), answered_by="factorisation")
