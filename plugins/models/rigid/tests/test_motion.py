"""Free motion against closed forms: fall, tumbling, precession; and what the equations' derivatives must be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ellipj

from corekit.geometry.frames import Pose, rotation_from_quat_wxyz, rotation_from_rpy
from corekit.roles.component import BuildContext
from corekit_rigid.config import RigidConfig, RigidInitial
from corekit_rigid.model import Rigid
from corekit_testing.rounding import rounding

from .conftest import BODIES, acceleration, evaluate, pose, runge_kutta, still_of

WEIGHTLESS = BuildContext(gravity=np.zeros(3))
TUMBLER = {"shape": "sphere", "size": (0.1,), "mass": 1.0, "inertia": (1.0, 2.0, 2.6)}


def started(options, context, **initial):
    model = Rigid(RigidConfig(**options), context)
    state = still_of(model)
    model.compute_initial_state(RigidInitial(**initial), state)
    return model, state


def test_a_thrown_body_s_centre_follows_the_parabola_and_its_origin_circles_it(context):
    model, state = started(BODIES["given"], context, velocity=(1.0, 2.0, 3.0))
    start = state.q[:3].copy()
    for _ in range(50):
        runge_kutta(model, state, 0.01)
    parabola = start + 0.5 * np.array([1.0, 2.0, 3.0]) + 0.125 * context.gravity
    np.testing.assert_allclose(state.q[:3], parabola, atol=1e-13)


def test_viscous_drag_lets_it_reach_its_terminal_velocity():
    options = {**BODIES["ball"], "linear_damping": 2.0, "angular_damping": 1e-3}
    model, state = started(options, BuildContext(), angular_velocity=(1.0, 0.0, 0.0))
    for _ in range(100):
        runge_kutta(model, state, 5e-3)
    m, moment = 0.2, 0.4 * 0.2 * 0.05**2
    assert state.v[2] == pytest.approx(-m * 9.81 / 2.0 * (1 - np.exp(-0.5 * 2.0 / m)), rel=1e-7)
    assert state.v[3] == pytest.approx(np.exp(-0.5 * 1e-3 / moment), rel=1e-6)


def test_torque_free_tumbling_is_jacobi_s_elliptic_solution():
    """Landau and Lifshitz, Mechanics, § 37: for L² > 2·E·I₂, with I₁ < I₂ < I₃ and ω₂(0) = 0."""
    I1, I2, I3 = 1.0, 2.0, 2.6
    w0 = np.array([0.4, 0.0, 1.5])
    model, state = started(TUMBLER, WEIGHTLESS, angular_velocity=tuple(w0))
    momentum = np.array([I1, I2, I3]) * w0
    E2, L2 = momentum @ w0, momentum @ momentum
    assert L2 > E2 * I2
    rate = np.sqrt((I3 - I2) * (L2 - E2 * I1) / (I1 * I2 * I3))
    m = (I2 - I1) * (E2 * I3 - L2) / ((I3 - I2) * (L2 - E2 * I1))
    for _ in range(2000):
        runge_kutta(model, state, 2e-3)
        if round(state.time * 500) % 400 == 0:
            sn, cn, dn, _ = ellipj(rate * state.time, m)
            w1 = np.sqrt((E2 * I3 - L2) / (I1 * (I3 - I1))) * cn
            w2 = np.sqrt((E2 * I3 - L2) / (I2 * (I3 - I2))) * sn
            w3 = np.sqrt((L2 - E2 * I1) / (I3 * (I3 - I1))) * dn
            np.testing.assert_allclose(state.v[3:], (w1, w2, w3), atol=1e-10)
            # and in the world the angular momentum stands still
            R = rotation_from_quat_wxyz(state.q[3:])
            np.testing.assert_allclose(R @ (np.array([I1, I2, I3]) * state.v[3:]), momentum, atol=1e-10)


def test_symmetric_body_precesses_about_its_angular_momentum():
    """Axis and ω circle L at rate L/I₁ (Goldstein 5.6)."""
    I1, I3 = 2.0, 3.0
    tilt, spin = 0.4, 5.0
    options = {**TUMBLER, "inertia": (I1, I1, I3)}
    w0 = spin * np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    model, state = started(options, WEIGHTLESS, angular_velocity=tuple(w0))
    momentum = np.array([I1, I1, I3]) * w0
    size = np.linalg.norm(momentum)
    about = momentum / size
    for _ in range(500):
        runge_kutta(model, state, 2e-3)
    angle = size / I1 * state.time
    axis = np.array([0.0, 0.0, 1.0])
    circled = (
        np.cos(angle) * axis
        + np.sin(angle) * np.cross(about, axis)
        + (1 - np.cos(angle)) * (about @ axis) * about
    )
    np.testing.assert_allclose(pose(model, state)[1][:, 2], circled, atol=1e-8)


def test_heavy_top_precesses_steadily_at_its_own_rate():
    """Steady precession Ω of a top at inclination θ: I₁·Ω²·cos θ − I₃·s·Ω + m·g·l = 0, s = ω along its axis."""
    options = {
        "shape": "disk",
        "size": (0.1, 0.01),
        "mass": 0.5,
        "fixed_centre": True,
        "pivot": (0, 0, -0.08),
    }
    theta, spin = 0.5, 200.0
    I3 = 0.5 * 0.5 * 0.01
    I1 = 0.5 * (0.25 * 0.01 + 1e-4 / 12 + 0.0064)
    weight = 0.5 * 9.81 * 0.08
    root = np.sqrt((I3 * spin) ** 2 - 4 * I1 * np.cos(theta) * weight)
    omega = (I3 * spin - root) / (2 * I1 * np.cos(theta))
    context = BuildContext(base=Pose(np.zeros(3), rotation_from_rpy((0.0, theta, 0.0))))
    axis = np.array([np.sin(theta), 0.0, np.cos(theta)])
    # the precession's own part along the axis is within the spin
    rate = (spin - omega * np.cos(theta)) * axis + np.array([0.0, 0.0, omega])
    model, state = started(options, context, angular_velocity=tuple(rate))
    for _ in range(1000):
        runge_kutta(model, state, 5e-4)
    turned = omega * state.time
    expected = (np.sin(theta) * np.cos(turned), np.sin(theta) * np.sin(turned), np.cos(theta))
    np.testing.assert_allclose(pose(model, state)[1][:, 2], expected, atol=1e-6)


def test_semi_implicit_steps_lose_energy_and_momentum_only_in_proportion_to_the_step():
    errors = []
    for count in (500, 1000, 2000):
        model, state = started(TUMBLER, WEIGHTLESS, angular_velocity=(0.4, 0.3, 1.5))
        energy, momentum = sum(model.compute_energies(state)), np.array([1.0, 2.0, 2.6]) * state.v[3:]
        step = 2.0 / count
        for _ in range(count):
            state.v += step * acceleration(model, state)
            model.integrate(state, state.v.copy(), step, state, state)
        now = rotation_from_quat_wxyz(state.q[3:]) @ (np.array([1.0, 2.0, 2.6]) * state.v[3:])
        errors.append((abs(sum(model.compute_energies(state)) - energy), np.linalg.norm(now - momentum)))
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    np.testing.assert_allclose(ratios, 2.0, atol=0.1)
    assert errors[-1][0] < 1e-3 * energy
    assert errors[-1][1] < 2e-3 * np.linalg.norm(momentum)


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32 - 1), speed=st.floats(0.0, 1e3))
def test_turning_at_a_constant_rate_is_exact_in_any_number_of_steps(seed, speed):
    random = np.random.default_rng(seed)
    model, state = started(BODIES["ball"], WEIGHTLESS, rotation_rpy=tuple(random.normal(size=3)))
    velocity = np.concatenate([random.normal(size=3), random.normal(size=3)])
    velocity[3:] *= speed / np.linalg.norm(velocity[3:])
    once, often = state.copy(), state.copy()
    model.integrate(state, velocity, 0.7, state, once)
    for _ in range(7):
        model.integrate(often, velocity, 0.1, often, often)
    # seven products of quaternions, each of an angle rounded as a number of its size
    np.testing.assert_allclose(often.q, once.q, rtol=0, atol=rounding(7 * 24, 1.0 + speed))
    w = velocity[3:]
    angle, axis = 0.7 * speed, w / max(np.linalg.norm(w), 1e-300)
    hat = np.cross(np.eye(3), axis)
    rodrigues = np.eye(3) + np.sin(angle) * hat + (1 - np.cos(angle)) * hat @ hat
    before, after = pose(model, state)[1], pose(model, once)[1]
    # the angle's own rounding grows with it
    np.testing.assert_allclose(after, before @ rodrigues, rtol=0, atol=rounding(48, 1.0 + speed))


def test_a_quaternion_keeps_length_one_through_a_hundred_thousand_steps():
    model, state = started(BODIES["box"], WEIGHTLESS)
    velocity = np.array([0.0, 0.0, 0.0, 3.0, -2.0, 1.0])
    for _ in range(100_000):
        model.integrate(state, velocity, 1e-3, state, state)
    assert np.linalg.norm(state.q[3:]) == pytest.approx(
        1.0, abs=rounding(8)
    )  # that of the last step and of the norm: none builds up


def test_tangents_are_the_force_s_derivatives(options, make):
    model, state, inputs = make(options)
    n, eps = state.v.size, 1e-5
    K, D = model.new_stiffness_and_damping()
    model.compute_stiffness_and_damping(state, inputs, K, D)
    forces = np.zeros((2, 2, n, n))
    for j in range(n):
        for side, sign in enumerate((1.0, -1.0)):
            unit = np.zeros(n)
            unit[j] = sign * eps
            moved, faster = state.copy(), state.copy()
            model.integrate(state, unit, 1.0, state, moved)
            faster.v += unit
            forces[0, side, :, j] = evaluate(model, moved, inputs)[1]
            forces[1, side, :, j] = evaluate(model, faster, inputs)[1]
    differences = (forces[:, 1] - forces[:, 0]) / (2 * eps)
    np.testing.assert_allclose(K.dense(), differences[0], atol=1e-8)
    np.testing.assert_allclose(D.dense(), differences[1], atol=1e-8)


def test_contact_rows_are_the_velocities_of_points(options, make):
    model, state, _ = make(options)
    local = np.random.default_rng(1).normal(size=(5, 3))
    n, eps = model.description.jacobian_width, 1e-6
    dofs, values = np.zeros((5, n), dtype=np.int64), np.full((5, 3, n), np.nan)
    model.compute_point_jacobians(state, np.zeros(5, dtype=np.int64), local, dofs, values)
    places = []
    for sign in (1, -1):
        moved = state.copy()
        model.integrate(state, state.v, sign * eps, state, moved)
        position, rotation = pose(model, moved)
        places.append(position + local @ rotation.T)
    velocities = np.einsum("cxk,ck->cx", values, state.v[dofs])
    np.testing.assert_allclose(velocities, (places[0] - places[1]) / (2 * eps), atol=1e-8)


def test_force_terms_sum_to_the_force(options, make):
    model, state, inputs = make(options)
    terms = model.compute_force_terms(state, inputs)
    assert set(terms) == {"gravity", "wrench", "gyroscopic", "damping"}
    np.testing.assert_allclose(sum(terms.values()), evaluate(model, state, inputs)[1], atol=1e-12)


def test_power_of_every_force_is_the_rate_of_energy(options, make):
    model, state, inputs = make(options)
    M, force = evaluate(model, state, inputs)
    kinetic, _ = model.compute_energies(state)
    assert kinetic == pytest.approx(0.5 * state.v @ M @ state.v, rel=1e-13)
    eps, potentials = 1e-5, []
    for sign in (1, -1):
        moved = state.copy()
        model.integrate(state, state.v, sign * eps, state, moved)
        potentials.append(model.compute_energies(moved)[1])
    terms = model.compute_force_terms(state, inputs)
    rate = (potentials[0] - potentials[1]) / (2 * eps)
    assert terms["gravity"] @ state.v == pytest.approx(-rate, abs=1e-7)
    assert terms["gyroscopic"] @ state.v == pytest.approx(0.0, abs=1e-12)
    assert terms["damping"] @ state.v <= 0.0
    assert terms["wrench"] @ state.v == pytest.approx((force - terms["gravity"] - terms["damping"]) @ state.v)


def test_what_is_drawn_lies_on_the_surface(make):
    for name, excess in (
        ("ball", lambda x: np.linalg.norm(x, axis=1) - 0.05),
        ("box", lambda x: np.max(np.abs(x) - (0.05, 0.1, 0.15), axis=1)),
        ("disk", lambda x: np.maximum(np.hypot(x[:, 0], x[:, 1]) - 0.1, np.abs(x[:, 2]) - 0.005)),
        (
            "capsule",
            lambda x: np.hypot(np.hypot(x[:, 0], x[:, 1]), np.maximum(np.abs(x[:, 2]) - 0.1, 0)) - 0.03,
        ),
    ):
        model, state, _ = make(BODIES[name])
        outline = model.compute_outline(state)
        position, rotation = pose(model, state)
        rounded = rounding(16, 1.0 + np.abs(position).max())  # into the world and back
        np.testing.assert_allclose(excess((outline.points[:-1] - position) @ rotation), 0.0, atol=rounded)
        np.testing.assert_allclose(outline.points[-1], state.q[:3], atol=rounded)
        assert len(outline.radius) == len(outline.points)


def test_a_box_is_drawn_by_its_twelve_edges(make):
    model, state, _ = make(BODIES["box"])
    outline = model.compute_outline(state)
    ends = outline.points[:-1].reshape(12, 2, 3)
    lengths = np.sort(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1))
    np.testing.assert_allclose(lengths, [0.1] * 4 + [0.2] * 4 + [0.3] * 4)
    assert outline.starts.tolist() == list(range(0, 25, 2))


def test_what_is_not_finite_shows_in_the_force(make):
    model, state, _ = make(BODIES["box"])
    state.v[4] = np.nan
    assert np.isnan(evaluate(model, state)[1]).any()
