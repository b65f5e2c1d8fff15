"""What GVS costs on the paper's arms, the cable arm (30 coordinates) beside soromox's, and all beside their bars.

The like arm: two divisions of 0.15 m, Legendre strains of order 4 in torsion and both bends, 5 Gauss points each, four
straight or oblique cables at constant tension, float64, one thread. Both evaluate v̇ and its Jacobian in q and v at the
same state, and both are integrated for a second by SciPy's BDF with the same tolerances and their own Jacobians. That
the arms are alike is checked: accelerations to 1e-5, ends to 0.1 mm. A first call includes the imports and, of soromox,
compiling, of ours loading machine code from the cache. The bars are the times the arm is to keep whatever the machine;
a ratio to one is ours over it.

soromox is optional (`pip install soromox`); without it the rest is measured.

    python benchmarks/gvs.py [--json]
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import BDF

import corekit
from corekit.data.arrays import Array
from corekit.scenario.load import loads
from corekit.simulation.loop import Simulation
from corekit_scenarios.cases.gvs.arms import MANIPULATOR_ELEMENTS, OCTOPUS_ELEMENTS
from corekit_statics.equilibria import move_to_equilibrium

ROUNDS = 300
RELATIVE, ABSOLUTE = 1e-4, 1e-6
TENSION = (3.0, 2.0, 4.0, 1.0)
SCENARIO = "gvs/cable-manipulator"
CABLES = (
    '{name="a", link="arm", divisions=[0], y=0.01}, {name="b", link="arm", divisions=[1], y=-0.01}, '
    '{name="c", link="arm", z=[0.01, -0.066667]}, {name="d", link="arm", z=-0.01}'
)
LIKE = (
    f"bodies[0].options.cables=[{CABLES}]",
    "bodies[0].inputs=["
    + ", ".join(
        f'{{channel="tension-{name}", signal={{kind="constant", value={tension}}}}}'
        for name, tension in zip("abcd", TENSION, strict=True)
    )
    + "]",
    "integrator.use=scipy-bdf",
    f"integrator.options={{relative={RELATIVE}, absolute={ABSOLUTE}}}",
    "time.step=0.01",
    "output.every=0.01",
)
ON_THE_FLOOR = """
format = "corekit-scenario/1"
name = "arm-on-the-floor"
time = { duration = 10.0, step = 1e-3 }
output = { every = 0.1 }
world = { obstacles = [{ name = "floor", shape = "half-space", position = [0.0, 0.0, -0.06] }] }
contact = { detector = "sdf", solver = "lcp", friction = 0.5 }
integrator = { use = "implicit-euler" }
[[bodies]]
name = "arm"
use = "gvs"
inputs = [{ channel = "tension-a", signal = { kind = "ramp", from = 0.0, to = 0.3, value = 2.0 } }]
[bodies.options]
cables = [{ name = "a", link = "arm", z = -0.008 }]
[[bodies.options.links]]
name = "arm"
collision = "spheres"
[[bodies.options.links.divisions]]
length = 0.3
radius = 0.012
young = 3e5
density = 1100.0
viscosity = 1e3
strain = [{ kind = "legendre", order = 3, modes = ["torsion", "bend-y", "bend-z"] }]
"""
"""12 coordinates, of which contacts with friction hold some."""
FRESH = """
import time
start = time.perf_counter()
import corekit, numpy
simulation = corekit.load("gvs/cable-manipulator").compose()
simulation.system.split.begin_step(simulation.state, 0.01)
simulation.system.smooth.compute_acceleration(simulation.state, numpy.zeros(30))
print(time.perf_counter() - start)
"""


def quickest(job: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The least time of a call [s]."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        job()
        best = min(best, time.perf_counter() - start)
    return best


def states(n: int) -> Array:
    """A bent and moving state, (q, v)."""
    return 0.2 * np.random.default_rng(0).normal(size=2 * n)


class Ours:
    """The like arm here."""

    def __init__(self) -> None:
        self.simulation = corekit.load(SCENARIO, LIKE).compose()
        self.n = self.simulation.system.nv
        self._trial, self._out = self.simulation.system.new_state(), np.zeros(self.n)
        self._by_q, self._by_v = np.zeros((self.n, self.n)), np.zeros((self.n, self.n))
        self._trial.copy_from(self.simulation.state)
        self._trial.q[:], self._trial.v[:] = np.split(states(self.n), 2)
        self.simulation.system.split.begin_step(self._trial, 0.01)
        self._nudge = 1e-12

    def _elsewhere(self) -> None:
        """Another state than the last: what is known of a state is not worked out again."""
        self._trial.q[0] += self._nudge
        self._nudge = -self._nudge

    def acceleration(self) -> Array:
        """v̇ at the state."""
        self._elsewhere()
        self.simulation.system.smooth.compute_acceleration(self._trial, self._out)
        return self._out

    def force(self) -> None:
        """M and f at the state."""
        self._elsewhere()
        body = self.simulation.bodies[0]
        part = self.simulation.system.terms.bodies[0]
        body.model.compute_mass_and_force(
            self._trial.body_states[0], body.inputs.value_at(0.0), part.mass, part.force
        )

    def tangent(self) -> None:
        """K and D at the state."""
        self._elsewhere()
        body = self.simulation.bodies[0]
        part = self.simulation.system.terms.bodies[0]
        model: Any = body.model
        model.compute_stiffness_and_damping(
            self._trial.body_states[0], body.inputs.value_at(0.0), part.stiffness, part.damping
        )

    def jacobian(self) -> None:
        """∂v̇/∂q and ∂v̇/∂v at the state."""
        self._elsewhere()
        self.simulation.system.smooth.compute_acceleration_jacobian(
            self._trial, 0.01, True, self._by_q, self._by_v
        )

    def second(self) -> Array:
        """Where the tip is after a second from rest; composed anew, which is not timed."""
        self.fresh.run(1.0)
        return tip(self.fresh)

    def renew(self) -> None:
        """Have a simulation at its start, with everything loaded."""
        self.fresh = corekit.load(SCENARIO, LIKE).compose()
        self.fresh.warm_up()


def tip(simulation: Simulation) -> Array:
    """Place of the arm's tip [m]."""
    body = simulation.bodies[0]
    place = np.zeros((len(body.description.frames), 3))
    body.model.compute_frame_poses(simulation.state.body_states[0], place, np.zeros((len(place), 3, 3)))
    return place[body.description.frames.index("arm.tip")]


def _optional(name: str) -> Any:
    """A module that need not be installed."""
    return importlib.import_module(name)


class Theirs:
    """The like arm in soromox."""

    def __init__(self) -> None:
        jax, jnp = _optional("jax"), _optional("jax.numpy")
        threads, systems = _optional("soromox.actuation.threadlike"), _optional("soromox.systems.gvs")
        joints, links = (_optional(f"soromox.systems.components.{name}") for name in ("joints", "links"))
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_platforms", "cpu")
        segments = [
            systems.GVSSegment(
                link=links.LinkSpec.circular(
                    length=0.15, density=1000.0, reference_strain=[0, 0, 0, 1, 0, 0], radius=0.015,
                    young_modulus=1e6, shear_modulus=1e6 / 3, material_damping_coefficient=1e4,
                ),
                joint=joints.JointSpec.fixed(),
                basis=systems.StrainBasisSpec("legendre", ("kappa_x", "kappa_y", "kappa_z"), 4),
                num_gauss_points=5,
            )
            for _ in range(2)
        ]  # fmt: skip
        routing = threads.ThreadlikeRouting.linear(
            intercept=jnp.array([[0, 0.01, 0], [0, -0.01, 0], [0, 0, 0.01], [0, 0, -0.01]]),
            slope=jnp.array([[0, 0, 0], [0, 0, 0], [0, 0, -0.066667], [0, 0, 0]]),
            start_segment_index=(0, 1, 0, 0),
            end_segment_index=(0, 1, 1, 1),
        )
        robot = systems.GVS.from_segments(
            segments, base_pose=jnp.array([0, 0, 0, 1.0, 0, 0, 0]), gravity=jnp.array([0, 0, -9.81]),
            scale_rotational_basis_by_length=True, actuators=threads.ThreadlikeActuator.tendons(routing),
        )  # fmt: skip
        self.n, self._robot = robot.num_internal_dofs, robot
        tension = jnp.array(TENSION)
        self._rate: Any = jax.jit(lambda y: robot.forward_dynamics(0.0, y, (tension,)))
        self._slope: Any = jax.jit(jax.jacfwd(lambda y: robot.forward_dynamics(0.0, y, (tension,))))
        self._state = jnp.array(states(self.n))

    def acceleration(self) -> Array:
        """v̇ at the state, waited for."""
        return self._rate(self._state).block_until_ready()[self.n :]

    def jacobian(self) -> None:
        """∂ẏ/∂y at the state, by forward differentiation."""
        self._slope(self._state).block_until_ready()

    def second(self) -> Array:
        """Where the tip is after a second from rest, by SciPy's BDF."""
        solver = BDF(
            lambda _t, y: np.asarray(self._rate(y)), 0.0, np.zeros(2 * self.n), 1.0, rtol=RELATIVE, atol=ABSOLUTE,
            jac=lambda _t, y: np.asarray(self._slope(y)),
        )  # fmt: skip
        while solver.status == "running":
            solver.step()
        return self._tip(solver.y)

    def _tip(self, y: Array) -> Array:
        pose = np.asarray(self._robot.forward_kinematics(y[: self.n], 0.3))
        return pose[:3, 3] if pose.ndim == 2 else pose[:3]


def beside_soromox(ours: Ours, found: dict[str, dict[str, float]]) -> None:
    """Times of both, in alternation, with our share of theirs."""
    start = time.perf_counter()
    theirs = Theirs()
    apart = np.max(np.abs(theirs.acceleration() - ours.acceleration())) / np.max(np.abs(ours.acceleration()))
    first = time.perf_counter() - start
    if not apart < 1e-5:
        raise SystemExit(f"soromox's arm is another one: accelerations differ by {apart:.1e}")
    found["first call, both fresh"] = {"seconds": fresh(), "soromox": first}
    jobs = {
        "acceleration": (ours.acceleration, theirs.acceleration, ROUNDS),
        "Jacobian": (ours.jacobian, theirs.jacobian, 30),
    }
    for name, (own, other, rounds) in jobs.items():
        own(), other()
        best = [float("inf"), float("inf")]
        for _ in range(5):
            best = [min(best[0], quickest(own, rounds)), min(best[1], quickest(other, rounds))]
        found[name] = {"seconds": best[0], "soromox": best[1]}
    own_tip, own_time = simulated(ours)
    theirs.second()
    start = time.perf_counter()
    other_tip = theirs.second()
    found["a second by BDF"] = {"seconds": own_time, "soromox": time.perf_counter() - start}
    if not np.linalg.norm(other_tip - own_tip) < 1e-4:
        raise SystemExit(f"soromox's tip ends {np.linalg.norm(other_tip - own_tip):.1e} m from ours")
    for numbers in found.values():
        numbers["ratio"] = numbers["seconds"] / numbers["soromox"]


def simulated(ours: Ours) -> tuple[Array, float]:
    """The tip after a simulated second, and the least time of three [s]."""
    best, place = float("inf"), np.zeros(3)
    for _ in range(3):
        ours.renew()
        start = time.perf_counter()
        place = ours.second()
        best = min(best, time.perf_counter() - start)
    return place, best


def fresh() -> float:
    """From the interpreter's first line to the first acceleration, machine code in the cache [s]."""
    run = [sys.executable, "-P", "-c", FRESH]
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return min(
        float(subprocess.run(run, capture_output=True, text=True, check=True, env=usual).stdout)
        for _ in range(4)
    )


def whole(scenario: str, *overrides: str) -> float:
    """The paper's whole run, everything loaded and nothing recorded [s]."""
    best = float("inf")
    for _ in range(5):
        loaded = corekit.load(scenario, overrides)
        simulation = loaded.compose()
        simulation.warm_up()
        start = time.perf_counter()
        simulation.run(loaded.time.duration)
        best = min(best, time.perf_counter() - start)
    return best


def touching() -> float:
    """An implicit step of an arm that lies on the floor and is pulled, mean of twenty [s]."""
    simulation = loads(ON_THE_FLOOR).compose()
    simulation.run(0.4)
    best = float("inf")
    for _ in range(30):
        start = time.perf_counter()
        for _ in range(20):
            simulation.step()
        best = min(best, (time.perf_counter() - start) / 20)
        if not simulation.contacts().normal_impulse.sum() > 0.0:
            raise SystemExit("the arm does not touch the floor")
    return best


def rest(before: float | None) -> float:
    """Statics of the paper's arm under its tensions of t = 6 s, from there at a time before, or straight [s]."""
    simulation = corekit.load(SCENARIO).compose()
    if before is not None:
        move_to_equilibrium(simulation, before)
    start = simulation.internal_state()
    best = float("inf")
    for _ in range(20):
        simulation.restore(start)
        begun = time.perf_counter()
        move_to_equilibrium(simulation, 6.0)
        best = min(best, time.perf_counter() - begun)
    return best


def beside_bars(ours: Ours, found: dict[str, dict[str, float]]) -> None:
    """The arms' own times, and the bars they are to keep."""
    bdf = ("integrator.use=scipy-bdf", "integrator.options={relative=1e-3}")
    octopus = "gvs/octopus"
    times = {
        "5.1, 8 s, generalised-α": (whole(SCENARIO), 0.5),
        "5.1, 8 s, elements": (whole(SCENARIO, *MANIPULATOR_ELEMENTS), 0.5),
        "5.1, 8 s, BDF 1e-3": (whole(SCENARIO, *bdf), 0.5),
        "5.4, 2 s, dependent": (whole(octopus), 1.0),
        "5.4, 2 s, elements": (whole(octopus, *OCTOPUS_ELEMENTS), 1.0),
        "one evaluation, M and f": (quickest(ours.force), 35e-6),
        "one tangent, K and D": (quickest(ours.tangent), 0.3e-3),
        "an implicit step in contact": (touching(), 0.5e-3),
        "statics of 5.1, from straight": (rest(None), 2e-3),
        "statics of 5.1, from 5.5 s": (rest(5.5), 2e-3),
        "first call from the cache": (fresh(), 3.0),
    }
    for name, (seconds, bar) in times.items():
        found[name] = {"seconds": seconds, "bar": bar, "ratio": seconds / bar}


def measure() -> dict[str, dict[str, float]]:
    """Seconds of every case beside those of soromox or a bar."""
    found: dict[str, dict[str, float]] = {}
    ours = Ours()
    if importlib.util.find_spec("soromox") is None:
        print(
            "soromox is not installed (`pip install soromox`): only the bars are measured.", file=sys.stderr
        )
    else:
        beside_soromox(ours, found)
    beside_bars(ours, found)
    return found


def said(seconds: float) -> str:
    """Seconds in a unit that suits them."""
    return f"{seconds:8.3f} s " if seconds >= 0.1 else f"{1e3 * seconds:8.4f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    wanted = parser.parse_args().json
    single = {"OPENBLAS_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
    if any(os.environ.get(name) != value for name, value in single.items()):
        # libraries count their threads when they are loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **single})
    found = measure()
    if wanted:
        print(json.dumps(found))
        return
    for name, numbers in found.items():
        other = "soromox" if "soromox" in numbers else "bar"
        print(
            f"{name:28} {said(numbers['seconds'])}   {other:7} {said(numbers[other])}   ratio {numbers['ratio']:.3f}"
        )


if __name__ == "__main__":
    main()
