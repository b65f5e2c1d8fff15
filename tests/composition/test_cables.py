"""A soft arm that sags under its weight while a cable is wound up, in three theories."""

import numpy as np
import pytest

from corekit.scenario.load import loads

pytest.importorskip("corekit_pcc")
pytest.importorskip("corekit_gvs")
pytest.importorskip("corekit_der")

SECTIONS, EDGES = 10, 40
SCENARIO = f"""
format = "corekit-scenario/1"
name = "cables"
start = "equilibrium"
time = {{ duration = 1e-3, step = 1e-3 }}
world = {{ gravity = [0.0, 0.0, -9.81] }}
integrator = {{ use = "implicit-midpoint" }}
output = {{ every = 1e-3 }}

[[bodies]]
name = "pcc"
use = "pcc"
base = {{ rotation_rpy = [0.0, 1.5707963267948966, 0.0] }}      # z along the world's x
inputs = [{{ channel = "length-top", signal = [WOUND] }}]
[bodies.options]
sections = {SECTIONS}
length = {0.2 / SECTIONS}
disks = 0
material = {{ young = 2e5, density = 1000.0, outer_radius = 0.015 }}
cables = [{{ name = "top", radius = 0.01, angle = 3.141592653589793, drive = "length", stiffness = 2e4 }}]

[[bodies]]
name = "gvs"
use = "gvs"
inputs = [{{ channel = "length-top", signal = [WOUND] }}]
[bodies.options]
cables = [{{ name = "top", link = "arm", z = 0.01, drive = "length", stiffness = 2e4 }}]
[[bodies.options.links]]
name = "arm"
divisions = [{{ length = 0.2, radius = 0.015, young = 2e5, density = 1000.0, strain = [
    {{ kind = "legendre", order = 4, modes = ["bend-y", "stretch"] }},
] }}]

[[bodies]]
name = "der"
use = "der"
inputs = [{{ channel = "length-top", signal = [WOUND] }}]
[bodies.options]
clamps = [{{ at = "rod.start" }}]
cables = [{{ name = "top", offset = [0.01, 0.0], drive = "length", stiffness = 2e4 }}]
[[bodies.options.limbs]]
start = [0, 0, 0]
end = [0.2, 0, 0]
nodes = {EDGES + 1}
radius = 0.015
young = 2e5
director = [0, 0, 1]
"""


def tips(wound):
    """Return the tips' positions of pcc, gvs and der [m], (3, 3)."""
    simulation = loads(SCENARIO.replace("WOUND", str(wound))).compose()
    frames = (f"pcc.section-{SECTIONS}-tip", "gvs.arm.tip", f"der.rod-{EDGES}")
    return np.array([simulation.frame(name).position for name in frames])


def test_three_theories_bend_alike_with_a_slack_and_with_a_wound_up_cable():
    """The cable of all three lies in the same place; at −1 m it is slack, and the arm hangs as without it."""
    slack, taut = tips(-1.0), tips(0.01)
    lift = float(taut[1, 2] - slack[1, 2])
    assert lift > 0.05
    # errors of h² of the sections and edges, of the sag and of the lift
    assert np.abs(slack - slack[1]).max() < float(np.abs(slack[1, 2])) / SECTIONS**2
    assert np.abs(taut[0] - taut[1]).max() < 2.0 * lift / SECTIONS**2
    # der leaves out the half edge at the free end where a cable stretches
    assert np.abs(taut[2] - taut[1]).max() < lift / (2 * EDGES) + lift / EDGES**2
