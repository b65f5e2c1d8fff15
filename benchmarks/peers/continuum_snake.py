"""PyElastica's continuum snake beside `teaching/continuum-snake`: how fast both crawl, and what it costs.

Muscles bend a rod of 0.35 m on a floor in a wave; friction that differs forward, backward and sideways pushes it on.
The two programs have different laws of friction. With A = diag(µ of the direction, µ sideways), a slip w, a pressure N,

    here, by maximum dissipation    −N·A²·w/|A·w|          PyElastica    −N·A·w/|w|                             (1)

which agree where w is along an axis of the body and differ where it is oblique, as it is all along a snake. PyElastica
does not stop its rod from rolling about its axis. So its rod runs twice: with its own friction, as in its example, and
with the law of here on a rod that does not roll, which is the one to compare with. The speed is that of the centre of
mass, averaged over a period, in the last of the periods.

    pip install "corekit-study[peers]"
    python benchmarks/peers/continuum_snake.py [--json]
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from peer_script import run_script

from corekit.data.arrays import Array
from corekit.scenario.load import load

MISSING = 'PyElastica is not installed: pip install "corekit-study[peers]"'
LENGTH, DENSITY, YOUNG, POISSON, GRAVITY = 0.35, 1000.0, 1e6, 0.5, 9.80665
RADIUS, PERIOD, FROUDE = 0.011 * LENGTH, 2.0, 0.1
MU = LENGTH / (PERIOD**2 * GRAVITY * FROUDE)
FRICTION = np.array([MU, 1.5 * MU, 2.0 * MU])
"""Forward, backward, sideways."""
GAIT = np.array([3.4e-3, 3.3e-3, 4.2e-3, 2.6e-3, 3.6e-3, 3.5e-3])
"""Coefficients of the spline of the muscles' moments, from tail to head [N·m]: those of PyElastica's example."""
ELEMENTS, STEP, DAMPING = 50, 1e-4, 2e-3
PERIODS, INSTANTS = 5, 20
REGULAR = 1e-5
"""Slip below which the law of here is smoothed on PyElastica's rod [m/s]."""


def speed_of(centres: Array) -> float:
    """Of the mean over the last period against the mean over the one before [m/s]; centres (instants, 3)."""
    before, last = (centres[len(centres) - k * INSTANTS :][:INSTANTS].mean(axis=0) for k in (2, 1))
    return float(np.linalg.norm(last - before)) / PERIOD


def theirs(own_law: bool, periods: int = PERIODS) -> tuple[float, float]:
    """Speed [m/s] and processor time [s] of PyElastica's rod, by position Verlet, with a law of (1)."""
    ea: Any = import_module("elastica")  # not among the tools that everybody installs

    class Simulator(ea.BaseSystemCollection, ea.Constraints, ea.Forcing, ea.Damping, ea.Contact): ...

    class MaximumDissipation(ea.NoForces):
        """Friction of the law of here at every node, which carries its own weight; the rod lies in the plane y = 0."""

        def apply_forces(self, system: Any, time: float = 0.0) -> None:
            velocity, tangents = system.velocity_collection, system.tangents
            along = np.zeros_like(velocity)
            along[:, :-1] += tangents
            along[:, 1:] += tangents
            along /= np.linalg.norm(along, axis=0)
            across = np.array([along[2], np.zeros_like(along[0]), -along[0]])
            forward, sideways = (velocity * along).sum(axis=0), (velocity * across).sum(axis=0)
            lengthwise = np.where(forward >= 0.0, FRICTION[0], FRICTION[1])
            power = np.sqrt(
                (lengthwise * forward) ** 2 + (FRICTION[2] * sideways) ** 2 + (FRICTION[2] * REGULAR) ** 2
            )
            pressure = system.mass * GRAVITY / power
            system.external_forces -= pressure * lengthwise**2 * forward * along
            system.external_forces -= pressure * FRICTION[2] ** 2 * sideways * across

    simulator, up = Simulator(), np.array([0.0, 1.0, 0.0])
    rod = ea.CosseratRod.straight_rod(
        ELEMENTS, np.zeros(3), np.array([0.0, 0.0, 1.0]), up, LENGTH, RADIUS, DENSITY,
        youngs_modulus=YOUNG, shear_modulus=YOUNG / (1.0 + POISSON),
    )  # fmt: skip
    simulator.append(rod)
    simulator.add_forcing_to(rod).using(
        ea.MuscleTorques, base_length=LENGTH, b_coeff=GAIT, period=PERIOD, wave_number=2.0 * np.pi, phase_shift=0.0,
        rest_lengths=rod.rest_lengths, ramp_up_time=PERIOD, direction=up, with_spline=True,
    )  # fmt: skip
    if own_law:
        simulator.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=-GRAVITY * up)
        floor = ea.Plane(plane_origin=-RADIUS * up, plane_normal=up)
        simulator.append(floor)
        simulator.detect_contact_between(rod, floor).using(
            ea.RodPlaneContactWithAnisotropicFriction, k=1.0, nu=1e-6, slip_velocity_tol=1e-8,
            static_mu_array=np.zeros(3), kinetic_mu_array=FRICTION,
        )  # fmt: skip
    else:
        simulator.add_forcing_to(rod).using(MaximumDissipation)
    simulator.dampen(rod).using(ea.AnalyticalLinearDamper, damping_constant=DAMPING, time_step=STEP)
    simulator.finalize()
    stepper, now, centres = ea.PositionVerlet(), 0.0, []
    begin = time.thread_time()
    for _ in range(periods * INSTANTS):
        for _ in range(round(PERIOD / INSTANTS / STEP)):
            now = float(stepper.step(simulator, np.float64(now), np.float64(STEP)))
        centres.append(rod.compute_position_center_of_mass())
    return speed_of(np.array(centres)), time.thread_time() - begin


def ours(overrides: tuple[str, ...] = ()) -> tuple[float, float]:
    """The same of the shipped scenario."""
    simulation = load("teaching/continuum-snake", overrides).compose()
    simulation.warm_up()
    body = simulation.bodies[0]
    count = len(body.model.description.frames)
    position, rotation, centres = np.zeros((count, 3)), np.zeros((count, 3, 3)), []
    begin = time.thread_time()
    for instant in range(1, PERIODS * INSTANTS + 1):
        simulation.run(instant * PERIOD / INSTANTS)
        body.model.compute_frame_poses(simulation.state.body_states[0], position, rotation)
        # nodes at the ends carry half a mass
        centres.append((position.sum(axis=0) - 0.5 * (position[0] + position[-1])) / (count - 1))
    return speed_of(np.array(centres)), time.thread_time() - begin


def measure() -> dict[str, float]:
    """Numbers for `corekit bench`."""
    for own_law in (True, False):
        theirs(own_law, 2)  # compiles
    (own, spent_own), (same, spent_same), (speed, spent) = theirs(True), theirs(False), ours()
    return {
        "ratio": spent / spent_own, "s": spent, "theirs": spent_own, "theirs by our law": spent_same,
        "speed": speed, "their speed by our law": same, "their speed": own, "difference": abs(speed / same - 1.0),
    }  # fmt: skip


def name_of_case() -> str:
    try:
        return f"{PERIODS} periods, {ELEMENTS} elements of PyElastica {version('pyelastica')}"
    except PackageNotFoundError:
        sys.exit(MISSING)


if __name__ == "__main__":
    run_script(__doc__, name_of_case, measure)
