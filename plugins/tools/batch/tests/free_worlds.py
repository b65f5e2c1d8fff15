"""Small worlds in free motion, one a model."""

from corekit.scenario.load import loads

HEAD = """
format = "corekit-scenario/1"
name = "free"
time = { duration = 1.0, step = %s }
integrator = { use = "semi-implicit-euler", options = { form = "%s" } }
"""
TOP = """
[[bodies]]
name = "top"
use = "rigid"
options = { shape = "box", size = [0.1, 0.2, 0.3], mass = 1.2, linear_damping = 0.1 }
initial = { velocity = [1.0, 0.2, 3.0], angular_velocity = [1.0, 5.0, 0.2] }
[[bodies.inputs]]
channel = "wrench"
signal = { kind = "ramp", from = 0.01, to = 0.0305, value = [0.1, 0, 0, 0.01, 0.02, 0] }
"""
PENDULUM = """
[[bodies]]
name = "pendulum"
use = "rigid"
options = { shape = "box", size = [0.1, 0.2, 0.3], mass = 1.2, fixed_centre = true, pivot = [0, 0, 0.1] }
initial = { rotation_rpy = [0.3, 0.0, 0.0] }
"""
PCC = """
[[bodies]]
name = "arm"
use = "pcc"
options = { sections = 3 }
[[bodies.inputs]]
channel = "chamber-force"
signal = { kind = "sine", amplitude = [4.0, 0, 0, 4.0, 0, 0, 4.0, 0, 0], frequency = 7.0 }
"""
GVS = """
[[bodies]]
name = "finger"
use = "gvs"
[[bodies.options.links]]
name = "base"
kind = "rigid"
mass = 0.2
inertia = [1e-3, 1e-3, 1e-3]
joint = { kind = "revolute", axis = "y", stiffness = 0.5, damping = 0.01 }
tip = [0.1, 0.0, 0.0]
[[bodies.options.links]]
name = "soft"
on = "base.tip"
[[bodies.options.links.divisions]]
length = 0.3
radius = 0.01
young = 1e6
density = 1000.0
viscosity = 1e3
strain = [{ kind = "legendre", modes = ["bend-y", "bend-z"], order = 1 }]
"""
ROD = """
[[bodies]]
name = "rod"
use = "der"
base = { position = [0.0, 0.0, 0.3], rotation_rpy = [0.1, 0.2, 0.3] }
[bodies.options]
limbs = [{ name = "rod", start = [0, 0, 0], end = [0.1, 0, 0], nodes = 8, radius = [0.004], young = [2e5], \
density = [1000.0], viscous_drag = 0.1, curvature_input = "uniform" }]
clamps = [{ at = "rod.start" }]
forces = [{ name = "tip", at = "rod.end" }]
collision = "capsules"
[[bodies.inputs]]
channel = "curvature-rod"
signal = { kind = "sine", amplitude = [12.0, 5.0, 9.0], frequency = 7.0 }
[[bodies.inputs]]
channel = "force-tip"
signal = [0.0, 0.4, 0.6]
"""


def scenario_of(bodies, form="linearly-implicit"):
    step = "1e-3" if form == "linearly-implicit" else "2e-5"  # below what stiff models are stable for
    return loads(HEAD % (step, form) + bodies)


def make_steps(simulation, count):
    for _ in range(count):
        simulation.step()
    return simulation.state
