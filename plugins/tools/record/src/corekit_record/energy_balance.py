"""Energy growth that no known work explains, as an unstable step size or a wrong plugin causes it.

    G(t) = E(t) − E(0) − W(t),     E = Σ kinetic + potential of bodies + contact potentials     (1)

Dissipation only lowers G. W is the work of what drives the world:

    inputs               ∫ v·(f(q, v, u) − f(q, v, 0)) dt, trapezoids between samples           (2)
    moving obstacles     Σ impulse·(their velocity at the contact), every step                  (3)
    prescribed motion    Σ reaction·(mean velocity over the step), every step, and what energy enters where
                         its rate jumps: by impulses of the drives, or by a model's decree      (4)

Energy grows without work if G has risen above its lowest value so far by more than

    limit·max(peak kinetic energy, range of the potential energy, peak |W|) + Σ ½·|ΔP|·Δt        (5)

where the last sum bounds what (2) may have missed. The growth itself does not count in the two peaks: what comes from
nothing is judged by the energy that was there before. A scheme of first order errs by up to |v·f|·Δt in the first
samples, from which the motion starts; that is allowed there. An explicit scheme beyond its limit multiplies E by a
factor per step, so the bound is passed while all values are still of the size of the motion. What cannot be known is
not judged: `unknown` is the reason.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.state import State
from corekit.roles.body import Body
from corekit.roles.model import ChannelKind
from corekit.roles.obstacles import GivenMotion
from corekit.roles.world_terms import BodyTerms
from corekit.simulation.loop import Simulation

__all__ = ["EnergyBalance"]

_FIRST_SAMPLES = 2
"""Samples in which a start from rest may err by its own energy: explicit Euler's fall gains 1/n of it in n steps."""
_ROUNDING = 1e-9
_COUNTERS = (
    "count", "time", "first", "lowest", "work", "peak_work", "power", "peak_kinetic", "potential_low",
    "potential_high", "missed", "driven_work",
)  # fmt: skip


@final
class EnergyBalance:
    """The balance (1)–(5) of a simulation.

    Args:
        simulation: at its initial state.

    Attributes:
        unknown: why there is no balance; empty if there is one.
        every_step: whether (3) or (4) need it at every step; else any samples do.
        excess: left side of (5) minus its right side without `limit`: growth [J].
        scale: what `limit` multiplies in (5) [J].
        culprit: index of the body whose energy grew most.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._parts = simulation.system.terms.bodies
        self._world = simulation.system.terms
        self.unknown = _why_unknown(simulation)
        pipeline = simulation.system.pipeline
        self._obstacles_move = pipeline is not None and any(
            obstacle.moving for obstacle in simulation.obstacles
        )
        self._prescribed = any(len(part.prescribed) for part in self._parts)
        self.every_step = self._obstacles_move or self._prescribed
        self.excess = self.scale = 0.0
        self._at_first = np.zeros(len(self._parts))
        self._now = np.zeros(len(self._parts))
        self._velocity = simulation.state.v.copy()
        self._buffers = [(part.body.model.new_mass_matrix(), np.zeros(part.body.nv)) for part in self._parts]
        self._without = [np.zeros(part.body.nv) for part in self._parts]
        self._sums: dict[str, float] = dict.fromkeys(_COUNTERS, 0.0)
        if not self.unknown:
            self._start(simulation)

    @property
    def culprit(self) -> int:
        """The body whose energy grew most."""
        return int(np.argmax(self._now - self._at_first))

    def _start(self, simulation: Simulation) -> None:
        pipeline, forces = simulation.system.pipeline, self._world.forces
        if pipeline is not None and forces is not None:
            # no step has looked for contacts yet, and what touches at the start stores energy
            pipeline.detect_anew(simulation.state, forces.potential.activation_distance)
        kinetic, potential = self._energy(simulation)
        self._at_first[:] = self._now
        sums = self._sums
        sums["time"], sums["power"] = simulation.time, self._power(simulation)
        sums["first"], sums["peak_kinetic"] = kinetic + potential, kinetic
        sums["potential_low"] = sums["potential_high"] = potential

    def _energy(self, simulation: Simulation) -> tuple[float, float]:
        kinetic = potential = 0.0
        for b, (part, state) in enumerate(zip(self._parts, simulation.state.body_states, strict=True)):
            moving, stored = _energies(part.body, state)
            self._now[b] = moving + stored
            kinetic, potential = kinetic + moving, potential + stored
        step = simulation.report.step_size or simulation.step_length
        return kinetic, potential + self._world.contact_energy(simulation.state, step)

    def _power(self, simulation: Simulation) -> float:
        """Return the integrand of (2) now [W]."""
        power = 0.0
        for part, state, (mass, force), without in zip(
            self._parts, simulation.state.body_states, self._buffers, self._without, strict=True
        ):
            inputs = part.body.inputs.value_at(state.time)
            if not inputs.any():
                continue
            part.body.model.compute_mass_and_force(state, inputs, mass, force)
            part.body.model.compute_mass_and_force(state, np.zeros_like(inputs), mass, without)
            power += float(state.v @ (force - without))
        return power

    def _smooth_power(self, simulation: Simulation) -> float:
        """Return Σ |v·f| of all bodies now [W], without contact."""
        power = 0.0
        for part, state, (mass, force) in zip(
            self._parts, simulation.state.body_states, self._buffers, strict=True
        ):
            part.body.model.compute_mass_and_force(state, part.body.inputs.value_at(state.time), mass, force)
            power += float(np.abs(state.v) @ np.abs(force))
        return power

    def add_step(self, simulation: Simulation) -> None:
        """Add the work (3) and (4) of the last step."""
        system = simulation.system
        done = 0.0
        pipeline = system.pipeline
        if self._obstacles_move and pipeline is not None and pipeline.contacts.count:
            record, now = system.record(by_point=True), simulation.time
            velocity = pipeline.obstacle_velocity(
                pipeline.contacts, now, now - simulation.report.step_size, now, instant=False
            )
            if velocity is not None and record.count == len(velocity):
                done += float(record.normal_impulse @ velocity[:, 0])
                across = velocity[:, 1:]
                done += float(np.sum(record.tangential_impulse[:, : across.shape[1]] * across))
        if self._prescribed:
            start, jumped = system.jump() or (self._velocity, 0.0)
            mean = 0.5 * (start + system.accepted)
            held = [
                mean[where][part.prescribed] for part, where in zip(self._parts, system.slices, strict=True)
            ]
            done += float(system.reaction() @ np.concatenate(held)) + self._decreed(simulation)
            done += jumped
            self._velocity[:] = simulation.state.v
        self._sums["driven_work"] += done

    def _decreed(self, simulation: Simulation) -> float:
        """Return the kinetic energy of rates that a model changed after the step, without a known force [J]."""
        system, gained = simulation.system, 0.0
        for part, where, state in zip(self._parts, system.slices, simulation.state.body_states, strict=True):
            held, before = state.v[part.prescribed], system.accepted[where][part.prescribed]
            if len(held) and (held != before).any():
                gained += _energies(part.body, state)[0]
                state.v[part.prescribed] = before
                gained -= _energies(part.body, state)[0]
                state.v[part.prescribed] = held
        return gained

    def sample(self, simulation: Simulation) -> None:
        """Compute the balance now: sets `excess` and `scale`."""
        sums = self._sums
        kinetic, potential = self._energy(simulation)
        power, elapsed = self._power(simulation), simulation.time - sums["time"]
        sums["work"] += 0.5 * elapsed * (power + sums["power"])
        sums["missed"] += 0.5 * elapsed * abs(power - sums["power"])
        sums["time"], sums["power"] = simulation.time, power
        work = sums["work"] + sums["driven_work"]
        growth = kinetic + potential - sums["first"] - work
        sums["lowest"] = min(sums["lowest"], growth)
        unexplained = growth - sums["lowest"]
        sums["peak_kinetic"] = max(sums["peak_kinetic"], kinetic - unexplained)
        sums["peak_work"] = max(sums["peak_work"], abs(work))
        sums["potential_low"] = min(sums["potential_low"], potential)
        sums["potential_high"] = max(sums["potential_high"], potential - unexplained)
        sums["count"] += 1
        stretch = sums["potential_high"] - sums["potential_low"]
        allowed = sums["missed"] + _ROUNDING * (abs(potential) + abs(sums["first"]))
        if sums["count"] <= _FIRST_SAMPLES:
            allowed += elapsed * self._smooth_power(simulation)
        self.scale = max(sums["peak_kinetic"], stretch, sums["peak_work"])
        self.excess = unexplained - allowed

    def exceeds(self, limit: float) -> bool:
        """Whether (5) was passed at the last sample."""
        return self.excess > limit * self.scale

    # — for resuming —

    def internal_state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the sums so far, for a checkpoint."""
        return {
            "sums": np.array(json.dumps(self._sums)),
            "at_first": self._at_first.copy(),
            "velocity": self._velocity.copy(),
        }

    def restore(self, state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore what `internal_state` returned."""
        self._sums = json.loads(str(state["sums"]))
        self._at_first[:], self._velocity[:] = state["at_first"], state["velocity"]


def _energies(body: Body, state: State) -> tuple[float, float]:
    """Return kinetic and potential energy [J] of a body that `_why_unknown` does not name."""
    own = body.abilities.energy
    assert own is not None
    return own.compute_energies(state)


def _why_unknown(simulation: Simulation) -> str:
    carriers = [joint.second for joint in simulation.system.joints]
    if any(isinstance(each, GivenMotion) and each.moving for each in carriers):
        return "the work of what moves a base is not known"
    for part in simulation.system.terms.bodies:
        body: Body = part.body
        if body.abilities.energy is None:
            return f"the model of {body.name!r} cannot tell its energy"
        if body.description.untracked_work:
            return f"the work of {body.description.untracked_work} of {body.name!r} is not known"
        for channel in body.description.inputs:
            if channel.kind is not ChannelKind.EFFORT:
                return f"the work of input {channel.name!r} of {body.name!r}, a {channel.kind.value}, is not known"
        if part.rows is not None and not _rows_are_idle(part, simulation):
            return f"the work of the driven, compliant or bounded rows of {body.name!r} is not known"
    return ""


def _rows_are_idle(part: BodyTerms, simulation: Simulation) -> bool:
    """Whether a body's bilateral rows do no work and store none: rigid position rows without bounds."""
    rows, own, body = part.rows, part.constraints, part.body
    assert rows is not None
    assert own is not None
    state = next(
        s
        for p, s in zip(simulation.system.terms.bodies, simulation.state.body_states, strict=True)
        if p is part
    )
    own.evaluate(state, body.inputs.value_at(state.time))
    return not (rows.is_velocity_level.any() or rows.bounded.any() or rows.compliance.any())
