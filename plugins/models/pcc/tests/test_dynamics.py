from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corekit.data.state import State
from corekit.geometry.frames import Pose, rotation_from_rpy
from corekit.roles.component import BuildContext
from corekit_pcc.config import PCCConfig
from corekit_pcc.model import PCC
from corekit_testing.rounding import rounding

HANGING = BuildContext(base=Pose(np.zeros(3), rotation_from_rpy((np.pi, 0.0, 0.0))))
FLOATING = BuildContext(gravity=np.zeros(3))


def test_mass_matrix_is_the_hessian_of_an_independent_kinetic_energy(options, build, moving, evaluate):
    model, reference = build(**options)
    state, _ = moving(model)
    mass, _ = evaluate(model, state)
    expected = reference.mass(state.q, options.get("mass_nodes", 3))
    # of two derivatives of poses each
    assert mass == pytest.approx(expected, rel=0, abs=2 * reference.rounding(expected))
    kinetic, _ = model.compute_energies(state)
    assert kinetic == pytest.approx(0.5 * state.v @ mass @ state.v, rel=1e-13)


def test_three_nodes_integrate_the_arc(build, moving, evaluate):
    model, reference = build()
    state, _ = moving(model)
    mass, _ = evaluate(model, state)
    exact = reference.mass(state.q, 12)
    assert mass == pytest.approx(exact, abs=1e-4 * np.abs(exact).max())
    smallest = np.linalg.eigvalsh(exact)[0]
    assert np.linalg.eigvalsh(mass)[0] == pytest.approx(smallest, rel=1e-3)


@settings(deadline=None, max_examples=30)
@given(
    st.integers(1, 5),
    st.sampled_from([3, 4, 6]),
    st.integers(0, 2**31),
    st.floats(0.0, 0.1),
)
def test_mass_matrix_is_symmetric_positive_definite(sections, chambers, seed, bend):
    model = PCC(PCCConfig(sections=sections, chambers=(chambers,), mass=(0.4,)), FLOATING)
    state = State.zeros(3 * sections, 3 * sections)
    state.q[:] = np.random.default_rng(seed).uniform(-bend / 2, bend, 3 * sections)
    mass, force = model.new_mass_matrix(), np.zeros(3 * sections)
    model.compute_mass_and_force(state, np.zeros(model.description.input_size), mass, force)
    assert np.array_equal(mass.data, mass.data.T)
    assert np.linalg.eigvalsh(mass.data)[0] > 0.0


@pytest.mark.parametrize("seed", range(4))
def test_three_nodes_condition_the_mass_matrix_and_one_does_not(seed, evaluate):
    # theory note 2.1: 9e2 to 1.7e3 with a smallest eigenvalue of about 0.013 kg at three nodes
    state = State.zeros(9, 9)
    state.q[:] = np.random.default_rng(seed).uniform(-0.02, 0.06, 9)
    three = np.linalg.eigvalsh(evaluate(PCC(PCCConfig()), state)[0])
    one = np.linalg.eigvalsh(evaluate(PCC(PCCConfig(mass_nodes=1)), state)[0])
    assert 0.010 < three[0] < 0.016
    assert 800 < three[-1] / three[0] < 1700
    assert one[-1] / one[0] > 4e4


def test_gravity_is_minus_the_derivative_of_the_weights_potential(options, build, moving, evaluate):
    model, reference = build(**options)
    state, inputs = moving(model)
    nodes = options.get("mass_nodes", 3)
    expected = -reference.derivative(lambda q: reference.weight_potential(q, nodes), state.q)
    gravity = model.compute_force_terms(state, inputs)["gravity"]
    assert gravity == pytest.approx(expected, rel=0, abs=reference.rounding(expected))
    elastic = -0.5 * state.q @ model.compute_force_terms(state, inputs)["stiffness"]
    weight = float(np.real(reference.weight_potential(state.q, nodes)))
    assert model.compute_energies(state)[1] == pytest.approx(weight + elastic, abs=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"sections": 1, "mass": 0.8},
        {"sections": 2, "mass": (0.9, 0.6), "chambers": (4, 5)},
        {"sections": 2, "mass": 0.5, "plate_thickness": 0.03, "disk_inertia": (4e-3, 2e-3), "disks": 1},
    ],
)
def test_coriolis_forces_are_lagranges(options, build, moving, evaluate):
    # C(q, v)·v = (dM/dt)·v − ½·∂(vᵀMv)/∂q, from the reference mass matrix by central differences
    model, reference = build(**options, coriolis=True)
    state, inputs = moving(model)
    q, v, step = state.q, state.v, 1e-4

    def slope(function, direction):
        return (function(q + step * direction) - function(q - step * direction)) / (2 * step)

    rate = slope(lambda x: reference.mass(x, 3) @ v, v)
    gradient = [slope(lambda x: 0.5 * v @ reference.mass(x, 3) @ v, e) for e in np.eye(q.size)]
    assert model.compute_force_terms(state, inputs)["coriolis"] == pytest.approx(gradient - rate, abs=1e-6)


def test_velocity_forces_are_absent_unless_asked_for(build, moving):
    model, _ = build()
    state, inputs = moving(model)
    assert np.array_equal(model.compute_force_terms(state, inputs)["coriolis"], np.zeros(9))


def _drift(coriolis: bool, step: float) -> float:
    """Largest change of the energy of an undamped swinging arm over 0.2 s of Runge–Kutta's steps."""
    options: dict[str, Any] = {"sections": 2, "mass": 0.3, "damping": 0.0, "disk_inertia": 1e-3, "disks": 1}
    model = PCC(PCCConfig(coriolis=coriolis, **options), HANGING)
    state, mass, force = State.zeros(6, 6), model.new_mass_matrix(), np.zeros(6)
    q, v = np.array([0.03, -0.02, 0.01, -0.02, 0.03, 0.0]), np.array([1.0, -1.0, 0.3, 0.5, 0.5, -1.0])
    inputs = np.zeros(6)

    def rates(q, v):
        state.q[:], state.v[:] = q, v
        model.compute_mass_and_force(state, inputs, mass, force)
        return v, np.linalg.solve(mass.data, force)

    def energy():
        state.q[:], state.v[:] = q, v
        return sum(model.compute_energies(state))

    start, worst = energy(), 0.0
    for _ in range(round(0.2 / step)):
        a1, b1 = rates(q, v)
        a2, b2 = rates(q + step / 2 * a1, v + step / 2 * b1)
        a3, b3 = rates(q + step / 2 * a2, v + step / 2 * b2)
        a4, b4 = rates(q + step * a3, v + step * b3)
        q, v = q + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4), v + step / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
        worst = max(worst, abs(energy() - start))
    return worst


def test_energy_is_conserved_with_coriolis_forces_to_the_order_of_the_integrator():
    coarse, fine = _drift(coriolis=True, step=1e-3), _drift(coriolis=True, step=5e-4)
    assert fine < 1e-5
    assert coarse / fine > 12  # fourth order: 16, in energy often 32


def test_energy_drifts_at_any_step_without_coriolis_forces():
    assert _drift(coriolis=False, step=5e-4) == pytest.approx(_drift(coriolis=False, step=1e-3), rel=0.05)
    assert _drift(coriolis=False, step=5e-4) > 1e-2


def test_common_factor_of_masses_and_forces_leaves_the_motion(build, moving, evaluate):
    factor = 7.0
    model, _ = build(coriolis=True, disk_inertia=1e-3)
    scaled, _ = build(
        coriolis=True,
        disk_inertia=1e-3 * factor,
        mass=tuple(factor * m for m in (1.17, 0.54, 0.265)),
        stiffness=265.0 * factor,
        damping=125.0 * factor,
    )
    state, inputs = moving(model)
    mass, force = evaluate(model, state, inputs)
    scaled_mass, scaled_force = evaluate(scaled, state, factor * inputs)
    motion = np.linalg.solve(mass, force)
    assert np.linalg.solve(scaled_mass, scaled_force) == pytest.approx(motion, rel=1e-9)


def test_turning_base_and_gravity_together_changes_nothing(moving, evaluate):
    turn = rotation_from_rpy((0.7, -0.2, 1.9))
    gravity = np.array([0.3, -4.0, -9.0])
    model = PCC(PCCConfig(coriolis=True), BuildContext(gravity=gravity))
    turned = PCC(
        PCCConfig(coriolis=True),
        BuildContext(base=Pose(np.array([5.0, 3.0, 1.0]), turn), gravity=turn @ gravity),
    )
    state, inputs = moving(model)
    for ours, theirs in zip(evaluate(model, state, inputs), evaluate(turned, state, inputs), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-12)


def _rest(model: PCC, inputs: np.ndarray) -> np.ndarray:
    """Coordinates at rest by Newton's method on f = 0."""
    n = len(model.description.coordinates)
    state, force, mass = State.zeros(n, n), np.zeros(n), model.new_mass_matrix()
    K, D = model.new_stiffness_and_damping()
    for _ in range(30):
        model.compute_mass_and_force(state, inputs, mass, force)
        model.compute_stiffness_and_damping(state, inputs, K, D)
        state.q += np.linalg.solve(K.data, force)
    assert np.abs(force).max() < 1e-11
    return state.q


@pytest.mark.parametrize("chambers", [3, 4, 6])
def test_forty_newtons_on_every_chamber_stretch_it_by_force_over_stiffness(chambers):
    model = PCC(PCCConfig(chambers=chambers), FLOATING)
    rest = _rest(model, np.full(model.description.input_size, 40.0)).reshape(3, 3)
    extension = rest.mean(axis=1) if chambers == 3 else rest[:, 0]
    assert extension == pytest.approx(np.full(3, 40.0 / 265.0), rel=1e-12)
    assert pytest.approx(0.151, abs=1e-4) == 40.0 / 265.0


def test_hanging_arm_stretches_by_the_weight_below_each_section():
    # half a section's own weight and all of the later ones' pull at it: 17.2, 6.6 and 1.6 mm
    masses, stiffness = np.array([1.17, 0.54, 0.265]), 3 * 265.0
    below = np.cumsum(masses[::-1])[::-1] - masses
    rest = _rest(PCC(PCCConfig(), HANGING), np.zeros(9)).reshape(3, 3)
    assert rest == pytest.approx(np.outer(9.81 * (below + masses / 2) / stiffness, np.ones(3)), rel=1e-12)
    assert rest[:, 0] == pytest.approx([0.0172, 0.0066, 0.0016], abs=5e-5)
    # the axial force where each section starts, the whole weight from there on, is 19.4 N at the base; divided by
    # the axial stiffness it is the strain scale of the theory note (11.11): 24, 10 and 3 mm
    at_start = 9.81 * (below + masses)
    assert at_start[0] == pytest.approx(19.4, abs=0.05)
    assert at_start / stiffness == pytest.approx([0.024, 0.010, 0.003], abs=5e-4)


def test_upright_arm_buckles_and_hanging_arm_does_not():
    smallest = []
    for context in (BuildContext(), HANGING):
        model = PCC(PCCConfig(), context)
        K, D = model.new_stiffness_and_damping()
        model.compute_stiffness_and_damping(State.zeros(9, 9), np.zeros(9), K, D)
        smallest.append(np.linalg.eigvalsh(K.data)[0])
    assert smallest[0] < 0.0 < smallest[1]


def test_equal_elongations_give_pure_extension():
    model = PCC(PCCConfig())
    state = State.zeros(9, 9)
    state.q[:] = 0.03
    position, rotation = (
        np.zeros((len(model.description.frames), 3)),
        np.zeros((len(model.description.frames), 3, 3)),
    )
    model.compute_frame_poses(state, position, rotation)
    assert position[-1] == pytest.approx([0.0, 0.0, 3 * 0.18], abs=rounding(32))
    assert rotation == pytest.approx(np.broadcast_to(np.eye(3), rotation.shape), abs=rounding(32))
