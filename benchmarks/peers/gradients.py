"""Gradients of runs by MuJoCo, Drake and soromox beside ours, each of its own program, on what it can do.

    pip install mujoco drake soromox          # a row of a program that is not installed is skipped, with a sentence
    python benchmarks/peers/gradients.py [--json]

`ball` is a sphere of 0.1 m and 2 kg that slides at 1 m/s on a floor, friction 0.3, for 80 steps of 1 ms. The gradient
is that of its end's y by its six velocities at the start. Coulomb's law has ∂y/∂v_y = T − μ·g·T²·v_x²/(2·|v|³).
`arm` is a cantilever of three segments of constant curvature with an elastic and a viscous material, 100 steps of 1 ms
without contact. The gradient is that of its tip's height by three curvatures and their rates at the start.

    run, gradient     processor time a step [ms], the least of several; a gradient includes its run
    ratio             gradient/run
    error             of the gradient against central differences of the program's own runs, over the largest entry
    coulomb           relative error of ∂y/∂v_y against the closed form

How each differentiates: ours, one sweep back over the run. MuJoCo, `mjd_transitionFD` of every step, centred, whose
matrices are multiplied. Drake, AutoDiffXd of a discrete plant (SAP), forward, with the six velocities as directions;
the run is that of doubles. soromox, `jax.grad` through steps of semi-implicit Euler in a compiled `lax.scan` of its own
dynamics. Compilation is not counted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.scenario.load import loads

STEP, FRICTION, GRAVITY, RADIUS, MASS = 1e-3, 0.3, 9.81, 0.1, 2.0
SLIDES, SWINGS = 80, 100
START = np.array([0.8, 0.6, 0.0, 0.0, 0.0, 0.0])
"""v and ω of the ball [m/s], [rad/s]."""
BENT = np.array([2.0, -1.0, 3.0, 0.0, 0.0, 0.0])
"""Curvatures of the arm [1/m] and their rates."""
LENGTH, THICKNESS, YOUNG, DENSITY, VISCOSITY = 0.1, 0.01, 1e6, 1100.0, 5e3
BALL = f"""
format = "corekit-scenario/1"
name = "ball"
time = {{ duration = 1.0, step = {STEP} }}
[[world.obstacles]]
name = "floor"
shape = "half-space"
[[world.friction]]
between = ["ball", "floor"]
value = {FRICTION}
[[bodies]]
name = "ball"
use = "rigid"
options = {{ shape = "sphere", size = [{RADIUS}], mass = {MASS} }}
initial = {{ position = [0.0, 0.0, {RADIUS}] }}
[contact]
detector = "sdf"
solver = "lcp"
[integrator]
use = "semi-implicit-euler"
"""
DIVISION = f"""
[[bodies.options.links.divisions]]
length = {LENGTH}
radius = {THICKNESS}
young = {YOUNG}
viscosity = {VISCOSITY}
density = {DENSITY}
strain = [{{ modes = ["bend-y"] }}]
"""
ARM = f"""
format = "corekit-scenario/1"
name = "arm"
time = {{ duration = 1.0, step = {STEP} }}
world = {{ gravity = [0.0, 0.0, -{GRAVITY}] }}
[integrator]
use = "semi-implicit-euler"
[[bodies]]
name = "arm"
use = "gvs"
[[bodies.options.links]]
name = "arm"
{3 * DIVISION}
"""
MUJOCO = f"""
<mujoco model="ball"><option timestep="{STEP}" gravity="0 0 -{GRAVITY}" cone="elliptic" tolerance="0" iterations="100"/>
<default><geom friction="{FRICTION} 0 0" condim="3"/></default>
<worldbody><geom type="plane" size="5 5 1"/><body name="ball" pos="0 0 {RADIUS}"><freejoint/>
<geom type="sphere" size="{RADIUS}" mass="{MASS}"/></body></worldbody></mujoco>
"""

Run = Callable[[Array], float]
Gradient = Callable[[Array], Array]


def measure(run: Run, gradient: Gradient, start: Array, steps: int, *, repeats: int = 3) -> dict[str, float]:
    """Times and the error of a gradient of a run."""
    found, slopes, size = gradient(start), np.zeros(len(start)), 1e-5
    for j in range(len(start)):
        move = size * (np.arange(len(start)) == j)
        slopes[j] = (run(start + move) - run(start - move)) / (2.0 * size)
    times = np.full(2, np.inf)
    for _ in range(repeats):
        for i, each in enumerate((run, gradient)):
            began = time.process_time()
            each(start)
            times[i] = min(times[i], 1e3 * (time.process_time() - began) / steps)
    error = float(np.abs(found - slopes).max() / np.abs(slopes).max())
    run_time, gradient_time = times.tolist()
    return {
        "run": run_time,
        "gradient": gradient_time,
        "ratio": gradient_time / run_time,
        "error": error,
        "y_by_vy": float(found[1]),
    }


def ours(document: str, frame: str, axis: int, steps: int, nv: int) -> tuple[Run, Gradient]:
    """A run of corekit by v, or by q and v of an arm."""
    simulation = loads(document).compose()
    kept = simulation.internal_state()

    def begin(start: Array) -> None:
        simulation.restore(kept)
        simulation.state.q[: len(start) - nv] = start[: len(start) - nv]
        simulation.state.v[:] = start[len(start) - nv :]

    def run(start: Array) -> float:
        begin(start)
        for _ in range(steps):
            simulation.step()
        return float(simulation.frame(frame).position[axis])

    def gradient(start: Array) -> Array:
        begin(start)
        found = simulation.gradient(
            lambda instant: instant.frame(frame).position[axis], until=steps * STEP
        ).initial
        return np.concatenate([found.displacement[: len(start) - nv], found.velocity])

    return run, gradient


def mujoco_ball() -> tuple[Run, Gradient]:
    """A run of MuJoCo, and the product of the matrices of its steps."""
    mujoco: Any = import_module("mujoco")
    model = mujoco.MjModel.from_xml_string(MUJOCO)
    data, nv = mujoco.MjData(model), model.nv
    settled = _rest(mujoco, model, data)

    def begin(start: Array) -> None:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = settled, start

    def run(start: Array) -> float:
        begin(start)
        for _ in range(SLIDES):
            mujoco.mj_step(model, data)
        return float(data.qpos[1])

    def gradient(start: Array) -> Array:
        begin(start)
        total, step = np.eye(2 * nv), np.zeros((2 * nv, 2 * nv))
        for _ in range(SLIDES):
            mujoco.mjd_transitionFD(model, data, 1e-6, True, step, None, None, None)
            total = step @ total
            mujoco.mj_step(model, data)
        return np.asarray(total[1, nv:])

    return run, gradient


def _rest(mujoco: Any, model: Any, data: Any) -> Array:
    """Where the ball rests in the floor, which is soft, shape (7,)."""
    for _ in range(2000):
        mujoco.mj_step(model, data)
    return np.array(data.qpos)


def drake_ball() -> tuple[Run, Gradient]:
    """A run of Drake in doubles and one in AutoDiffXd."""
    plants: Any = import_module("pydrake.multibody.plant")
    parsing: Any = import_module("pydrake.multibody.parsing")
    framework: Any = import_module("pydrake.systems.framework")
    numbers: Any = import_module("pydrake.autodiffutils")
    analysis: Any = import_module("pydrake.systems.analysis")
    builder = framework.DiagramBuilder()
    plant, _ = plants.AddMultibodyPlantSceneGraph(builder, STEP)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ball.xml"
        path.write_text(MUJOCO)
        parsing.Parser(plant).AddModels(str(path))
    plant.set_discrete_contact_approximation(plants.DiscreteContactApproximation.kSap)
    plant.Finalize()
    diagram = builder.Build()
    traced = diagram.ToAutoDiffXd()

    def end(system: Any, velocity: Array) -> Any:
        context = system.CreateDefaultContext()
        own = system.GetSubsystemByName("plant")
        mine = own.GetMyMutableContextFromRoot(context)
        place = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, RADIUS])
        own.SetPositions(mine, place)
        own.SetVelocities(mine, np.concatenate([velocity[3:], velocity[:3]]))
        kind = analysis.Simulator if system is diagram else analysis.Simulator_[numbers.AutoDiffXd]
        simulator = kind(system, context)
        simulator.Initialize()
        simulator.AdvanceTo(SLIDES * STEP)
        return own.GetPositions(mine)[5]

    def gradient(start: Array) -> Array:
        moved = numbers.InitializeAutoDiff(start).ravel()
        return np.asarray(end(traced, moved).derivatives())

    return lambda start: float(end(diagram, start)), gradient


def soromox_arm() -> tuple[Run, Gradient]:
    """Steps of semi-implicit Euler with soromox's dynamics, compiled."""
    jax: Any = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    planar: Any = import_module("soromox.systems.pcs.planar_pcs")
    links: Any = import_module("soromox.systems.components")
    structures: Any = import_module("soromox.systems.pcs.structures")
    jnp = jax.numpy
    link = links.LinkSpec.circular(
        length=LENGTH, radius=THICKNESS, density=DENSITY, reference_strain=[0.0, 1.0, 0.0], young_modulus=YOUNG,
        poisson_ratio=0.49, material_damping_coefficient=VISCOSITY,
    )  # fmt: skip
    robot = planar.PlanarPCS.from_links(
        [link] * 3,
        structure=structures.PlanarPCSStructure(strain_selector=jnp.array([True, False, False] * 3)),
        gravity=jnp.array([0.0, -GRAVITY]),
    )

    def end(start: Any) -> Any:
        def advance(y: Any, _: Any) -> tuple[Any, None]:
            v = y[3:] + STEP * robot.forward_dynamics(0.0, y)[3:]
            return jnp.concatenate([y[:3] + STEP * v, v]), None

        last, _ = jax.lax.scan(advance, start, None, length=SWINGS)
        return robot.forward_kinematics(last[:3], jnp.asarray(3.0 * LENGTH))[2]

    run, slope = jax.jit(end), jax.jit(jax.value_and_grad(end))
    return lambda start: float(run(start)), lambda start: np.asarray(slope(start)[1])


CASES: dict[str, dict[str, tuple[Callable[[], tuple[Run, Gradient]], str]]] = {
    "ball": {
        "corekit": (lambda: ours(BALL, "ball.body", 1, SLIDES, 6), ""),
        "MuJoCo": (mujoco_ball, "mujoco"),
        "Drake": (drake_ball, "drake"),
    },
    "arm": {
        "corekit": (lambda: ours(ARM, "arm.arm.tip", 2, SWINGS, 3), ""),
        "soromox": (soromox_arm, "soromox"),
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    as_json, out = parser.parse_args().json, {}
    closed = SLIDES * STEP - 0.5 * FRICTION * GRAVITY * (SLIDES * STEP) ** 2 * START[0] ** 2
    for case, programs in CASES.items():
        start, steps = (START, SLIDES) if case == "ball" else (BENT, SWINGS)
        for name, (make, package) in programs.items():
            try:
                which = f"{name} {version(package)}" if package else name
            except PackageNotFoundError:
                print(
                    f"{case}: {package} is not installed, its row is skipped: pip install {package}",
                    file=sys.stderr,
                )
                continue
            numbers = measure(*make(), start, steps)
            of_speed = numbers.pop("y_by_vy")
            if case == "ball":
                numbers["coulomb"] = abs(of_speed / closed - 1.0)
            out[f"{case}, {which}"] = numbers
            if not as_json:
                print(
                    f"{case}, {which}: {', '.join(f'{key} {value:.3g}' for key, value in numbers.items())}",
                    flush=True,
                )
    if as_json:
        print(json.dumps(out))


if __name__ == "__main__":
    main()
