"""Stiffness, damping and mass from material and geometry, against beams."""

from typing import Any

import numpy as np
import pytest
import scipy.linalg

from corekit.data.state import State
from corekit.errors import ConfigError
from corekit.roles.component import BuildContext
from corekit_pcc.config import PCCConfig
from corekit_pcc.material import Material
from corekit_pcc.model import PCC
from corekit_testing.conformance import conformance
from corekit_testing.rounding import rounding

YOUNG, DENSITY, OUTER, HOLE, AREA, OFFSET, LENGTH = 2e5, 1100.0, 0.02, 0.004, 4e-5, 0.012, 0.1
MATERIAL: dict[str, Any] = {
    "young": YOUNG, "density": DENSITY, "viscosity": 300.0, "outer_radius": OUTER, "inner_radius": HOLE,
    "chamber_area": AREA, "max_pressure": 5e4,
}  # fmt: skip
FLOATING = BuildContext(gravity=np.zeros(3))

test_arm_of_a_material = conformance(
    "models",
    "pcc",
    options={"sections": 2, "chambers": [4, 3], "chamber_radius": OFFSET, "material": MATERIAL},
)


def arm(sections=1, young=YOUNG, **more):
    options: dict[str, Any] = {**MATERIAL, "young": young}
    material = Material(**options)
    given: dict[str, Any] = {"length": LENGTH / sections, "chamber_radius": OFFSET, **more}
    config = PCCConfig(sections=sections, material=material, **given)
    return config, PCC(config, FLOATING)


def painted_section(chambers):
    """A and I of the section by counting the cells of a fine grid inside the material."""
    cells = 2000
    x = (np.arange(cells) + 0.5) * 2 * OUTER / cells - OUTER
    X, Y = np.meshgrid(x, x)
    inside = (X**2 + Y**2 < OUTER**2) & (X**2 + Y**2 > HOLE**2)
    for angle in 2 * np.pi * np.arange(chambers) / chambers:
        at = (X - OFFSET * np.cos(angle)) ** 2 + (Y - OFFSET * np.sin(angle)) ** 2
        inside &= at > AREA / np.pi
    cell = (x[1] - x[0]) ** 2
    return inside.sum() * cell, (X**2)[inside].sum() * cell


@pytest.mark.parametrize("chambers", [3, 5])
def test_pressure_in_one_chamber_deflects_as_a_beam_under_a_moment(chambers, evaluate):
    _, model = arm(chambers=chambers)
    area, inertia = painted_section(chambers)
    pressure, state = np.zeros(chambers), model_state(model)
    pressure[0] = 100.0
    stretch = pressure[0] * AREA * LENGTH / (YOUNG * area)
    deflection = pressure[0] * AREA * OFFSET * LENGTH**2 / (2 * YOUNG * inertia)
    K, D = model.new_stiffness_and_damping()
    model.compute_stiffness_and_damping(state, pressure, K, D)
    state.q[:] = np.linalg.solve(K.data, evaluate(model, state, pressure)[1])
    position = np.zeros((len(model.description.frames), 3))
    model.compute_frame_poses(state, position, np.zeros((len(position), 3, 3)))
    # 8000 of the 3e6 cells lie on a boundary, each off by less than a half, scattered: 1e-4; the arc's θ² is 4e-8
    assert position[-1, 0] == pytest.approx(-deflection, rel=3e-4)
    assert abs(position[-1, 1]) < rounding(64)
    assert position[-1, 2] - LENGTH == pytest.approx(stretch - 2 / 3 * deflection**2 / LENGTH, rel=3e-4)


def model_state(model):
    return State.zeros(len(model.description.coordinates), len(model.description.velocities))


def test_mass_is_density_times_volume(evaluate):
    config, model = arm(chambers=3)
    area, _ = painted_section(3)
    # moving along its axis by ΔL = 1 with s·ΔL at s, the kinetic energy is that of a uniform bar: m/3
    assert config.spread("mass") == pytest.approx([DENSITY * area * LENGTH], rel=2e-4)
    M, _ = evaluate(model, model_state(model))
    assert np.ones(3) @ M @ np.ones(3) == pytest.approx(DENSITY * area * LENGTH / 3, rel=2e-4)


def test_first_frequencies_and_damping_ratio_are_those_of_a_kelvin_voigt_cantilever(evaluate):
    _, model = arm(sections=10, chambers=4)
    state, inputs = model_state(model), np.zeros(40)
    area, inertia = painted_section(4)
    M, _ = evaluate(model, state)
    K, D = model.new_stiffness_and_damping()
    model.compute_stiffness_and_damping(state, inputs, K, D)
    squared, modes = scipy.linalg.eigh(K.data, M)
    bending = 1.8751040687**2 * np.sqrt(YOUNG * inertia / (DENSITY * area)) / LENGTH**2
    stretching = np.pi / 2 * np.sqrt(YOUNG / DENSITY) / LENGTH
    frequency = np.sqrt(squared)
    assert frequency[:2] == pytest.approx([bending] * 2, rel=1e-2)
    assert np.abs(frequency / stretching - 1).min() < 1e-2
    # one decrement for all modes, D = (3η/E)·K: ζ = 3·η·ω/(2·E)
    ratio = np.einsum("ia,ij,ja->a", modes, D.data, modes) / (2 * frequency)
    assert ratio == pytest.approx(1.5 * 300.0 / YOUNG * frequency, rel=1e-9)


@pytest.mark.parametrize(
    ("changed", "beside", "path", "said"),
    [
        ({"inner_radius": 0.03}, {}, "material.inner_radius", "smaller than the section"),
        ({"inner_radius": None, "wall": 0.03}, {}, "material.inner_radius", "smaller than the section"),
        ({"wall": 0.01}, {}, "material.wall", "give this or `inner_radius`"),
        ({}, {"chamber_radius": 0.019}, "chamber_radius", "between the hole of 0.004 m and the outer"),
        ({}, {"chamber_radius": 0.006}, "chamber_radius", "between the hole of 0.004 m and the outer"),
        ({}, {"chambers": 12}, "material.chamber_area", "must not overlap"),
        ({}, {"mass": 0.1}, "mass", "follows from `material`"),
        ({"young": (1e5, 2e5)}, {}, "material.young", "one a section"),
    ],
)
def test_what_cannot_be_made_is_refused(changed, beside, path, said):
    given: dict[str, Any] = {"sections": 1, "chamber_radius": OFFSET, **beside}
    with pytest.raises(ConfigError, match=said) as caught:
        PCCConfig(material=Material(**{**MATERIAL, **changed}), **given)
    assert [mistake.path for mistake in caught.value.mistakes] == [path]


def test_a_solid_arm_has_no_chambers():
    model = PCC(PCCConfig(material=Material()))
    assert model.description.inputs == ()
    assert model.description.shapes[0].size[0] == 0.02


def test_pressures_have_a_unit_and_bounds():
    (channel,) = arm()[1].description.inputs
    assert (channel.name, channel.unit, channel.size) == ("pressure", "Pa", 3)
    assert (channel.lower, channel.upper) == (-101325.0, 5e4)


def test_a_symbolic_arm_has_young_and_viscosity_as_parameters(moving, evaluate):
    casadi = pytest.importorskip("casadi")
    _, model = arm(sections=2)
    state, inputs = moving(model)
    symbolic = model.symbolic()
    assert {name: each.value for name, each in symbolic.parameters.items()} == {
        "material.young": YOUNG, "material.viscosity": 300.0,
    }  # fmt: skip
    q, expected = casadi.SX.sym("q", 6), evaluate(arm(sections=2, young=3e5)[1], state, inputs)[1]
    given = symbolic.with_parameters({"material.young": casadi.DM(3e5)})
    force = casadi.Function("force", [q], [given.force(q, casadi.DM(state.v), casadi.DM(inputs))])
    assert np.array(force(state.q)).ravel() == pytest.approx(expected, abs=1e-10)
