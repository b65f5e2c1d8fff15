"""Rods of `gvs` and `der` with sections by their outlines, in scenarios."""

import numpy as np
import pytest

from corekit.errors import ConfigError
from corekit.geometry import section_solvers
from corekit.scenario.doubts import find_doubts
from corekit.scenario.load import loads

pytest.importorskip("corekit_sections")
pytest.importorskip("corekit_gvs")
pytest.importorskip("corekit_der")

HEAD = """
format = "corekit-scenario/1"
name = "twist"
time = { duration = 1.0, step = 5e-3 }
world = { gravity = [0.0, 0.0, 0.0] }
integrator = { use = "implicit-midpoint" }
[[bodies]]
name = "rod"
"""
GVS = (
    HEAD
    + """
use = "gvs"
[[bodies.options.links]]
name = "rod"
[[bodies.options.links.divisions]]
length = 0.1
young = 1e6
poisson = 0.45
strain = [{ kind = "legendre", order = 2 }]
SECTION
"""
)
DER = (
    HEAD
    + """
use = "der"
[bodies.options]
clamps = [{ at = "rod.start" }]
[[bodies.options.limbs]]
name = "rod"
start = [0, 0, 0]
end = [0.1, 0, 0]
nodes = 21
young = 1e6
poisson = 0.45
director = [0, 1, 0]
SECTION
"""
)
HALF_ROUND = """section = "outline"
outline = [[0.01, 0.0, 1.0], [-0.01, 0]]"""
TAPERED_BOX = """section = "outline"
outline = [[-0.01, -0.001], [0.01, -0.001], [0.01, 0.001], [-0.01, 0.001]]
scale = SCALE"""


def stiffness_and_mass(text, section):
    """K and M of the body at rest, of what is not prescribed."""
    sim = loads(text.replace("SECTION", section)).compose()
    (body,), (state,) = sim.bodies, sim.state.body_states
    inputs = np.zeros(body.description.input_size)
    derivatives = body.abilities.force_derivatives
    assert derivatives is not None
    K, D = derivatives.new_stiffness_and_damping()
    derivatives.compute_stiffness_and_damping(state, inputs, K, D)
    M = body.model.new_mass_matrix()
    body.model.compute_mass_and_force(state, inputs, M, np.zeros(body.nv))
    free = np.setdiff1d(np.arange(body.nv), body.description.prescribed_velocity_index)
    return K.dense()[np.ix_(free, free)], M.dense()[np.ix_(free, free)]


def lowest(text, section, count=4):
    K, M = stiffness_and_mass(text, section)
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)[:count]) / (2 * np.pi)


def test_a_half_round_rod_rings_as_its_constants_say():
    """1.875²·√(E·I/(ρ·A))/(2·π·L²) across and along its flat side, √(G·J/(ρ·I_p))/(4·L) in twist."""
    r, L, rho, E = 0.01, 0.1, 1000.0, 1e6
    area, across, along = np.pi * r**2 / 2, (np.pi / 8 - 8 / (9 * np.pi)) * r**4, np.pi / 8 * r**4
    bends = 1.8751040687**2 * np.sqrt(E * np.array([across, along]) / (rho * area)) / (2 * np.pi * L**2)
    torsion = (np.pi / 2 - 4 / np.pi) * r**4
    twist = np.sqrt(E / 2.9 * torsion / (rho * (across + along))) / (4 * L)
    # the third mode bends across once more
    found = [lowest(text, HALF_ROUND)[[0, 1, 3]] for text in (GVS, DER)]
    # sections of gvs turn as they bend: Rayleigh's factor is about 1 − 2.3·I/(A·L²)
    assert found[0] == pytest.approx([*bends, twist], rel=2.4 * along / (area * L**2))
    # der errs by second order in the length of an edge, (1/20)²
    assert found[1] == pytest.approx([*bends, twist], rel=2.0 / 20**2)


@pytest.mark.parametrize(
    ("text", "whole", "taper"),
    [
        (GVS, 'section = "rectangle"\nheight = [0.02, -0.01]\nwidth = [0.002, -0.001]', "[1.0, -0.5]"),
        (DER, 'section = "rectangle"\nwidth = [0.02, 0.01]\nheight = [0.002, 0.001]', "[1.0, 0.5]"),
    ],
    ids=["gvs", "der"],
)
def test_an_outlined_strip_is_a_rectangle_tapered_too(text, whole, taper):
    """But for 2e-5, the accuracy of the numerical constants."""
    found = stiffness_and_mass(text, TAPERED_BOX.replace("SCALE", taper))
    for one, other in zip(found, stiffness_and_mass(text, whole), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5 * np.abs(other).max())


@pytest.mark.parametrize("text", [GVS, DER], ids=["gvs", "der"])
@pytest.mark.parametrize(
    ("section", "said"),
    [
        ('section = "outline"', "three vertices"),
        ('section = "outline"\noutline = [[0, 0], [1, 0], [0, 1, 0, 0]]', r"\[y, z, bulge\]"),
        ('section = "outline"\noutline = [[0, 0], [0.02, 0], [0, 0.01]]', "turn the vertices by"),
        ("outline = [[0, 0], [1, 0], [0, 1]]", "unless the section is 'outline'"),
    ],
    ids=["none", "four-numbers", "oblique", "circle"],
)
def test_a_wrong_outline_is_a_mistake_of_the_scenario(text, section, said):
    with pytest.raises(ConfigError, match=f"outline.*{said}"):
        loads(text.replace("SECTION", section)).compose()


def test_without_a_solver_its_distribution_is_named(monkeypatch):
    monkeypatch.setattr(section_solvers.Extensions, "names", lambda self: ())
    with pytest.raises(ConfigError, match="pip install corekit-sections"):
        loads(GVS.replace("SECTION", HALF_ROUND)).compose()


@pytest.mark.parametrize("text", [GVS, DER], ids=["gvs", "der"])
def test_check_says_that_the_twist_by_forces_beside_the_shear_centre_is_left_out(text):
    """Of a half round of 10 mm the shear centre is (8/5 − 4/3)·r/π = 0.849 mm from the centroid, of a box at it."""
    scenario = loads(text.replace("SECTION", HALF_ROUND))
    (said,) = [each for each in find_doubts(scenario, scenario.compose()) if "shear centre" in each]
    assert "outline" in said and "0.849 mm" in said
    scenario = loads(text.replace("SECTION", TAPERED_BOX.replace("SCALE", "1.0")))
    assert not [each for each in find_doubts(scenario, scenario.compose()) if "shear centre" in each]
