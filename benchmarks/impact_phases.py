"""What an impact leaves by where in a step it falls, over ten phases, and whether gradients through it can be followed.

An impact falls at the share ϑ = φ₀/(h·|v_n|) of its step. The bodies are the same and start at ten places that differ
by h·|v_n|/10 along the normal, so that the motion before differs by less than a step. What differs behind the impact
by more than the order h is the scheme's doing, and makes the gradient of a run a sawtooth.

    slip, spin, energy   spread (largest less smallest) over the phases, relative to the largest of them before
                         the impact: speed [m/s], turning rate times the reach of the body [m/s], kinetic energy [J]
    order                of the larger of slip's and spin's spreads in h, from h and h/4: 1 is smooth, 0 a sawtooth

The reference is the spread at h/4, so that `ratio` is 4 of a smooth impact and 1 of a sawtooth.

With `--cosines`, for the rigid bodies: the exact gradient of v_x + reach·ω_y behind the impact, by height, tilt, slip,
speed and spin of the start, its mean over starts of all phases, beside the slope of a linear fit over those starts,
both by the spread of each: their cosine, and the ratio of their lengths. A gradient can be followed where the cosine is
near 1.

    python benchmarks/impact_phases.py [--json] [--scenes capsule,box] [--integrators semi-implicit-euler] [--fine 4]
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import corekit
from corekit.errors import CorekitError
from corekit.roles.derivatives import StateCovector
from corekit.scenario.load import from_document
from corekit_gradients.adjoint.world_derivatives import derivatives_of

PHASES = (np.arange(10) + 0.5) / 10
SPEED, SLIDE = 1.0, 0.3
INTEGRATORS = ("semi-implicit-euler", "implicit-euler", "implicit-midpoint", "verlet")
RIGID = {
    # shape, size, turn about y, from the centre down to what touches, reach
    "sphere": ("sphere", [0.1], 0.0, 0.1, 0.1),
    "box": ("box", [0.2, 0.1, 0.1], 0.4, 0.1 * math.sin(0.4) + 0.05 * math.cos(0.4), 0.1),
    "capsule": ("capsule", [0.01, 0.2], math.radians(50), 0.1 * math.cos(math.radians(50)) + 0.01, 0.1),
}  # fmt: skip
ARMS = ("arm-on-box", "arm-on-ball")


class Outcome(NamedTuple):
    """What an impact left: slip and spin [m/s], energy [J]."""

    slip: float
    spin: float
    energy: float


def rigid_scenario(shape: str, place: float, step: float, integrator: str, level: str) -> Any:
    """A rigid body that comes down at 1 m/s and touches the floor `place` m below where ten steps lead it."""
    kind, size, tilt, drop, _ = RIGID[shape]
    height = drop + 10 * step * SPEED + place
    return from_document(
        {
            "format": "corekit-scenario/1", "name": "phases", "time": {"duration": 1.0, "step": step},
            "world": {"gravity": [0.0, 0.0, -9.81], "obstacles": [{"name": "floor", "shape": "half-space"}]},
            "bodies": [{
                "name": "body", "use": "rigid", "options": {"shape": kind, "size": size, "mass": 1.0},
                "initial": {
                    "position": [0.0, 0.0, height], "rotation_rpy": [0.0, tilt, 0.0],
                    "velocity": [SLIDE, 0.0, -SPEED],
                },
            }],
            "contact": {
                "friction": 0.5, "detector": "sdf", "solver": {"use": "lcp"}, "impact": {"level": level},
            },
            "integrator": {"use": integrator}, "output": {"every": step},
        }
    )  # fmt: skip


def rigid_outcome(shape: str, place: float, step: float, integrator: str, level: str) -> Outcome:
    """Three steps behind the impact."""
    simulation = rigid_scenario(shape, place, step, integrator, level).compose()
    for _ in range(14):
        simulation.step()
    v, reach = simulation.state.v, RIGID[shape][4]
    energy = simulation.bodies[0].abilities.energy.compute_energies(simulation.state.body_states[0])[0]
    return Outcome(float(v[0]), float(v[4]) * reach, float(energy))


def arm_scenario(scene: str, place: float, step: float, integrator: str, level: str) -> Any:
    """An arm of CUSP that falls on an inclined box, or one that swings against a free ball, at a place [m] nearer."""
    name = "cusp/inclined-box" if scene == "arm-on-box" else "teaching/arm-pushes-ball"
    changes = [
        f"time.step={step}",
        f"integrator.use={integrator}",
        f"contact.impact={{level='{level}'}}",
        "output.every=0.1",
    ]
    if integrator != "semi-implicit-euler":
        changes.append("integrator.options={}")
    if scene == "arm-on-box":
        normal = np.array([0.0, -math.sin(math.pi / 4), math.cos(math.pi / 4)])
        position = np.array([0.0, -0.127, -0.297]) - place * normal
        changes += [f"world.obstacles[0].position={position.tolist()}", "time.duration=1.0"]
    else:
        changes += [f"bodies[1].base.position={[0.0, float(0.17 + place), 0.06]}", "time.duration=1.0"]
        # quick enough to strike the ball
        changes.append("bodies[0].inputs[0].signal.value=[0,40,-40,0,40,-40,0,40,-40]")
    return corekit.load(name, changes)


def arm_outcome(
    scene: str, place: float, step: float, integrator: str, level: str, steps: int | None
) -> tuple[Outcome, int, float]:
    """After `steps` steps, or three behind the first impact; also that number and the speed of approach there."""
    simulation = arm_scenario(scene, place, step, integrator, level).compose()
    arm, other = simulation.bodies[0], simulation.bodies[-1]
    frame = f"arm.{arm.description.frames[-1]}"
    count, approach, before = 0, 0.0, 0.0
    while steps is None or count < steps:
        before = np.linalg.norm(simulation.frame(frame).velocity)
        simulation.step()
        count += 1
        contacts = simulation.contacts()
        if steps is None and contacts.count and contacts.normal_impulse.max() > 0.0:
            touching = int(np.argmax(contacts.normal_impulse))
            approach = float(before)
            steps = count + 3
            del touching
    tip = simulation.frame(frame)
    state = simulation.state
    energy = sum(
        body.abilities.energy.compute_energies(own)[0]
        for body, own in zip(simulation.bodies, state.body_states, strict=True)
    )
    slip = tip.velocity if other is arm else state.body_states[1].v[:3]
    return (
        Outcome(float(np.linalg.norm(slip)), 0.06 * float(np.linalg.norm(tip.angular_velocity)), energy),
        count,
        approach,
    )


def spreads(scene: str, step: float, integrator: str, level: str) -> Outcome:
    """Spread of the outcome over ten phases, relative to the speed of approach and its energy."""
    if scene in RIGID:
        found = [rigid_outcome(scene, phase * step * SPEED, step, integrator, level) for phase in PHASES]
        speed, energy = math.hypot(SPEED, SLIDE), 0.5 * (SPEED**2 + SLIDE**2)
    else:
        _, count, speed = arm_outcome(scene, 0.0, step, integrator, level, None)
        found = [
            arm_outcome(scene, phase * step * speed, step, integrator, level, count + 1)[0]
            for phase in PHASES
        ]
        energy = max(each.energy for each in found)
    slip, spin, kinetic = np.ptp(np.array(found), axis=0)
    return Outcome(slip / speed, spin / speed, kinetic / energy)


def _at_end(end: int, last: StateCovector, k: int) -> StateCovector | None:
    """The derivative of a loss of the end of a tape."""
    return last if k == end else None


def cosine(shape: str, step: float, integrator: str, level: str, samples: int = 40) -> tuple[float, float]:
    """Cosine between mean exact gradient and slope over starts of all phases, and the ratio of their lengths."""
    simulation = rigid_scenario(shape, 0.0, step, integrator, level).compose()
    start, system, reach = simulation.state.copy(), simulation.system, RIGID[shape][4]
    # displacement of z, turn about y; velocities along x and z, spin about y
    spread = np.array([step * SPEED, 0.01, 0.02, 0.02, 0.1])
    draw = np.random.default_rng(0)
    changes = (draw.random((samples, 5)) - np.array([0.0, 0.5, 0.5, 0.5, 0.5])) * spread
    weights = np.zeros(system.nv)
    weights[0], weights[4] = 1.0, reach
    last = StateCovector(np.zeros(system.nv), weights)
    losses, gradients = [], []
    for change in changes:
        simulation.reset(state=start)
        moved, displacement = start.copy(), np.zeros(system.nv)
        displacement[2], displacement[4] = change[:2]
        derivatives = derivatives_of(system, simulation.state)
        derivatives.displace(start, displacement, moved)
        moved.v[0] += change[2]
        moved.v[2] += change[3]
        moved.v[4] += change[4]
        simulation.reset(state=moved)
        with simulation.record_steps() as tape:
            for _ in range(16):
                simulation.step()
        losses.append(float(weights @ simulation.state.v))
        found = derivatives_of(system, moved).sweep_back(tape, partial(_at_end, len(tape) - 1, last))
        gradients.append([found.place[2], found.place[4], *found.velocity[[0, 2, 4]]])
    centred = changes - changes.mean(axis=0)
    slope = np.linalg.lstsq(centred, np.array(losses) - np.mean(losses))[0] * spread
    exact = np.mean(gradients, axis=0) * spread
    return (
        float(exact @ slope / (np.linalg.norm(exact) * np.linalg.norm(slope))),
        float(np.linalg.norm(exact) / np.linalg.norm(slope)),
    )


def measure(scene: str, step: float, fine: int, integrator: str, level: str) -> dict[str, Any]:
    """Spreads at h and h/fine, and the order between them."""
    one, other = (spreads(scene, each, integrator, level) for each in (step, step / fine))
    large, small = max(one.slip, one.spin), max(other.slip, other.spin)
    ratio = large / small if small > 1e-12 else math.nan
    order = math.log(ratio) / math.log(fine) if ratio > 0 else math.nan
    return {
        "slip": one.slip, "spin": one.spin, "energy": one.energy, "slip_fine": other.slip, "spin_fine": other.spin,
        "energy_fine": other.energy, "order": order, "ratio": ratio,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object of all numbers")
    parser.add_argument("--scenes", default=",".join((*RIGID, *ARMS)))
    parser.add_argument("--integrators", default=",".join(INTEGRATORS))
    parser.add_argument("--step", type=float, default=1e-3, help="h [s]")
    parser.add_argument("--fine", type=int, default=4, help="how many times shorter the second step is")
    parser.add_argument("--cosines", action="store_true", help="gradients beside slopes, of the rigid bodies")
    given = parser.parse_args()
    if given.cosines:
        for scene in (each for each in given.scenes.split(",") if each in RIGID):
            for integrator in given.integrators.split(","):
                for level in ("velocity", "position"):
                    found = [
                        cosine(scene, step, integrator, level)
                        for step in (given.step, given.step / given.fine)
                    ]
                    text = "   ".join(f"cosine {one:6.3f}, ratio {ratio:7.3f}" for one, ratio in found)
                    print(f"{scene:12} {integrator:20} {level:9} {text}", flush=True)
        return
    report: Callable[[str], None] = (lambda _: None) if given.json else print
    report(f"{'scene':12} {'integrator':20} {'level':9} {'slip':>9} {'spin':>9} {'energy':>9} {'order':>6}")
    found = {}
    for scene in given.scenes.split(","):
        for integrator in given.integrators.split(","):
            for level in ("velocity", "position"):
                try:
                    row = measure(scene, given.step, given.fine, integrator, level)
                except CorekitError as error:
                    report(f"{scene:12} {integrator:20} {level:9} refused: {error}")
                    continue
                found[f"{scene}, {integrator}, {level}"] = row
                report(
                    f"{scene:12} {integrator:20} {level:9} {row['slip']:9.2e} {row['spin']:9.2e} "
                    f"{row['energy']:9.2e} {row['order']:6.2f}"
                )
    if given.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
