"""The contact potential against differences, closed forms and Coulomb's law."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corekit.data.contacts import ContactSet
from corekit.roles.contact import PotentialTerms
from corekit_imc.barrier import barrier, slip_factors
from corekit_imc.config import ImplicitContactConfig
from corekit_imc.imc import ImplicitContact
from corekit_imc.segments import closest_parameters
from corekit_testing.rounding import rounding

LAYER, STIFFNESS, SLIP = 0.01, 1e3, 0.05


def potential(**options):
    defaults: dict[str, Any] = {
        "distance_tolerance": LAYER, "stiffness": STIFFNESS, "slip_tolerance": SLIP, "adapt": False, "damping": 0.0,
    }  # fmt: skip
    return ImplicitContact(ImplicitContactConfig(**(defaults | options)))


def edge_contact(x, radii, friction=0.0):
    """The contact of edges x[0]x[1] and x[2]x[3] whose radii sum to `radii`, and its parameters."""
    a, b, c, d = x
    s, t = closest_parameters(tuple(b - a), tuple(d - c), tuple(a - c))
    w = (1 - s) * a + s * b - (1 - t) * c - t * d
    distance = np.linalg.norm(w)
    contacts = ContactSet(1)
    contacts.count, contacts.gap[0], contacts.normal[0] = 1, distance - radii, w / distance
    tangent = np.cross(w, [0.3, 0.5, 0.8])
    contacts.tangent[0], contacts.friction[0] = tangent / np.linalg.norm(tangent), friction
    contacts.frame[0], contacts.weight[0] = [0, 1, 2, 3], [1 - s, s, t - 1, -t]
    return contacts, (s, t), distance


def terms(contacts, position, velocity, model=None):
    out = PotentialTerms(
        np.zeros(1), np.zeros((1, 12)), np.zeros((1, 12, 12)), np.zeros((1, 12, 12)), np.zeros(1), np.zeros((1, 2))
    )  # fmt: skip
    (model or potential()).evaluate(contacts, position[None], velocity[None], 1e-3, out)
    return out


def slope(function, x, size):
    """Central difference of fourth order along every coordinate, stacked last."""
    columns = []
    for k in range(x.size):
        shift = np.zeros(x.size)
        shift[k] = size
        shift = shift.reshape(x.shape)
        shifted = function(x + shift) - function(x - shift)
        far = function(x + 2 * shift) - function(x - 2 * shift)
        columns.append((8 * shifted - far) / (12 * size))
    return np.stack(columns, axis=-1)


# — the functions —


@given(gap=st.floats(-0.5, 0.00999), layer=st.just(LAYER))
@settings(max_examples=30, deadline=None)
def test_barrier_and_its_derivatives_equal_those_of_the_formula(gap, layer):
    def energy(g):
        rate = mpmath.mpf(15) / layer
        return (mpmath.log(1 + mpmath.exp(-rate * g)) / rate) ** 2

    with mpmath.workdps(40):
        expected = [energy(mpmath.mpf(gap)), mpmath.diff(energy, gap, 1), mpmath.diff(energy, gap, 2)]
    assert barrier(gap, layer) == pytest.approx([float(value) for value in expected], rel=1e-9)


def test_deep_inside_the_barrier_is_a_spring_and_never_overflows():
    for gap in (-0.02, -1.0, -1e6):
        phi, first, second = barrier(gap, LAYER)
        assert phi == pytest.approx(gap * gap, rel=1e-7)
        assert first == pytest.approx(2 * gap, rel=1e-7)
        assert second == pytest.approx(2.0, rel=1e-6)


def test_the_jump_at_the_end_of_the_layer_is_negligible():
    inside, outside = barrier(LAYER * (1 - 1e-12), LAYER), barrier(LAYER, LAYER)
    assert outside == (0.0, 0.0, 0.0)
    assert abs(inside[0]) < 1e-13 * LAYER**2
    assert abs(inside[1]) < 1e-12 * LAYER


@given(speed=st.floats(0.0, 10.0))
def test_the_slip_factor_is_the_hyperbolic_tangent_with_its_limit(speed):
    gamma, ratio, gamma_slope = slip_factors(speed, SLIP)
    rate = 15.0 / SLIP
    assert gamma == pytest.approx(math.tanh(0.5 * rate * speed), abs=rounding(8))
    assert 0.0 <= gamma <= 1.0
    assert gamma_slope == pytest.approx(0.5 * rate * (1 - gamma * gamma), rel=1e-12)
    assert ratio == pytest.approx(gamma / speed if speed > 1e-9 else 0.5 * rate, rel=1e-7)


# — derivatives —


def test_force_and_hessian_equal_differences_for_every_class_of_edge_pairs():
    """To 1e-6 relative at 60 random pairs: edge–edge, point–edge and point–point all occur."""
    rng, classes_seen = np.random.default_rng(0), set()
    zero_velocity = np.zeros((4, 3))
    for _ in range(60):
        x = rng.normal(size=(4, 3))
        _, parameters, distance = edge_contact(x, 0.0)
        if any(0 < abs(p - edge) < 1e-3 for p in parameters for edge in (0.0, 1.0)):
            continue  # a difference across a class boundary includes the jump of the Hessian
        radii = distance - LAYER * rng.uniform(-0.6, 0.6)

        def energy(y, radii=radii):
            return terms(edge_contact(y, radii)[0], y, zero_velocity).energy

        def force(y, radii=radii):
            return terms(edge_contact(y, radii)[0], y, zero_velocity).force[0]

        terms_at = terms(edge_contact(x, radii)[0], x, zero_velocity)
        force_norm = slope(energy, x, 5e-6)[0]
        assert np.abs(force_norm + terms_at.force[0]).max() < 1e-6 * np.abs(force_norm).max()
        stiffness = slope(force, x, 5e-6)
        assert np.abs(stiffness + terms_at.stiffness[0]).max() < 1e-6 * np.abs(stiffness).max()
        classes_seen.add(sum(0 < p < 1 for p in parameters))
    assert classes_seen == {0, 1, 2}


class Damped:
    """A potential whose contacts have a dashpot of their own, as `contact_springs` chooses it, and a moved spring."""

    def __init__(self, dashpot, shift=0.0):
        self.inner = potential(damping=None)
        self.inner.springs = lambda contacts: np.tile((STIFFNESS, shift, dashpot), (contacts.count, 1))

    def evaluate(self, *arguments):
        return self.inner.evaluate(*arguments)


@pytest.mark.parametrize("kind", ["approach alone", "both ways", "both ways, moved"])
@pytest.mark.parametrize("sign", [-1.0, 0.5])
def test_a_dashpot_adds_its_share_and_its_slopes_equal_differences(kind, sign):
    """σ·(2·k·S + b·a), never below 0; with friction, whose normal load includes the dashpot."""
    shift = 0.3 * LAYER if kind.endswith("moved") else 0.0
    model = potential(damping=30.0) if kind == "approach alone" else Damped(30.0, shift)
    x = np.array([[-1.0, 0, 0.3], [1, 0, 0.3], [0.1, -1, 0], [0.2, 1, 0]])
    contacts, _, _ = edge_contact(x, 0.295 + shift, friction=0.4)
    directions = contacts.weight[0][:, None] * contacts.normal[0]
    v = sign * 0.2 * directions + 0.02 * np.array([[1.0, 0.5, 0], [0.3, 1, 0], [0, 0, 0], [0, 0, 0]])
    approach = -float(np.sum(directions * v))
    exponential = math.exp(-15.0 * (contacts.gap[0] + shift) / LAYER)
    fraction, depth = exponential / (1.0 + exponential), math.log1p(exponential) * LAYER / 15.0
    if kind == "approach alone":
        approach = max(0.0, approach)
    expected = fraction * max(0.0, 2.0 * STIFFNESS * depth + 30.0 * approach)
    terms_at = terms(contacts, x, v, model)
    assert terms_at.normal_force[0] == pytest.approx(expected, rel=1e-12)
    assert (expected == 0.0) == (sign > 0.0 and kind != "approach alone")

    def force(u):
        return terms(contacts, x, u.reshape(4, 3), model).force[0]

    slopes = slope(force, v.ravel(), 1e-6).reshape(12, 12)
    assert np.abs(slopes + terms_at.damping[0]).max() <= 1e-6 * np.abs(slopes).max()
    shifted = []
    for change in (1e-8, -1e-8):
        moved, _, _ = edge_contact(x, 0.295 + shift - change, friction=0.4)
        shifted.append(terms(moved, x, v, model).force[0])
    by_gap = (shifted[0] - shifted[1]) / 2e-8
    found = -terms_at.stiffness[0] @ directions.ravel() / np.sum(directions**2)
    assert np.abs(by_gap - found).max() <= 1e-4 * np.abs(by_gap).max()


@given(
    gap=st.floats(-1.2, 1.2), speed=st.floats(-3.0, 3.0), dashpot=st.floats(0.0, 1e3), friction=st.floats(0.0, 2.0)
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_a_contact_only_pushes_and_beside_its_store_only_takes(gap, speed, dashpot, friction):
    """λ ≥ 0, K along the normal is no spring that pushes apart, and (λ − λ of the spring)·(rate of approach) ≥ 0."""
    x = np.array([[0.0, 0, 0], [-1, 0, 0.5], [0.0, -1, -0.1], [0.0, 1, -0.1]])
    contacts, _, distance = edge_contact(x, 0.0, friction)
    contacts.gap[0] = gap * LAYER
    n = contacts.normal[0]
    v = np.array([-speed * n, np.zeros(3), np.zeros(3), np.zeros(3)])
    damped, plain = terms(contacts, x, v, Damped(dashpot)), terms(contacts, x, v)
    load = damped.normal_force[0]
    assert load >= 0.0
    assert (load - plain.normal_force[0]) * speed >= 0.0
    curved = load / distance  # what the turning normal adds is across it
    assert n @ damped.stiffness[0, :3, :3] @ n >= -rounding(20, curved + np.abs(damped.stiffness[0]).max())
    assert damped.energy == pytest.approx(plain.energy)


def test_force_is_continuous_where_the_class_changes():
    """The closest point passes an end of the edge: point–edge on one side, edge–edge on the other."""
    x = np.array([[0.0, 0, 0], [1, 0, 0], [1.0, -1, 0.1], [1.0, 1, 0.1]])
    forces, classes = [], []
    for shift in np.linspace(-1e-7, 1e-7, 8):
        y = x + np.array([[0, 0, 0], [0, 0, 0], [shift, 0, 0], [shift, 0, 0]])
        contacts, parameters, _ = edge_contact(y, 0.1)
        forces.append(terms(contacts, y, np.zeros((4, 3))).force[0])
        classes.append(sum(0 < p < 1 for p in parameters))
    assert set(classes) == {1, 2}
    assert np.abs(np.diff(forces, axis=0)).max() < 1e-6 * np.abs(forces).max()


def test_parallel_edges_meet_in_the_middle_of_their_overlap_and_stay_there():
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 0.1, 0], [1.5, 0.1, 0]])
    (s, t), contacts = edge_contact(x, 0.1)[1], edge_contact(x, 0.1)[0]
    assert (s, t) == pytest.approx((0.75, 0.25), abs=1e-4)
    assert contacts.gap[0] == pytest.approx(0.0, abs=1e-12)
    assert np.isfinite(terms(contacts, x, np.zeros((4, 3))).stiffness).all()


# — friction —


@given(speed=st.floats(1e-6, 5.0), friction=st.floats(0.05, 1.5), seed=st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_friction_stays_in_the_cone_and_is_on_it_when_sliding(speed, friction, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(4, 3))
    distance = edge_contact(x, 0.0)[2]
    contacts, *_ = edge_contact(x, distance + 0.2 * LAYER, friction)
    direction = contacts.tangent[0]
    velocity = np.zeros((4, 3))
    velocity[:2] = speed * direction
    terms_at = terms(contacts, x, velocity)
    limit = friction * terms_at.normal_force[0]
    assert limit > 0
    force_norm = np.hypot(*terms_at.tangential_force[0])
    assert force_norm <= limit * (1 + 1e-12)
    assert force_norm == pytest.approx(limit * math.tanh(7.5 * speed / SLIP), rel=1e-9)
    assert terms_at.tangential_force[0, 0] < 0  # against the slip
    if speed > SLIP:
        assert force_norm > (1 - 1e-6) * limit


def test_damping_at_zero_slip_is_the_limit_that_permits_sticking():
    """½·K₂·μ·N on the tangent plane, on the first edge's node with weight 1."""
    x = np.array([[0.0, 0, 0], [-1, 0, 0.5], [0.0, -1, -0.1], [0.0, 1, -0.1]])
    contacts, _, _ = edge_contact(x, 0.1, 0.4)
    terms_at = terms(contacts, x, np.zeros((4, 3)))
    n = contacts.normal[0]
    expected = 0.5 * 15 / SLIP * 0.4 * terms_at.normal_force[0] * (np.eye(3) - np.outer(n, n))
    assert contacts.weight[0, 0] == 1.0
    assert terms_at.damping[0, :3, :3] == pytest.approx(expected, rel=1e-12)
    assert not terms_at.tangential_force.any()


def test_damping_equals_differences_over_the_velocities():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4, 3))
    contacts, *_ = edge_contact(x, edge_contact(x, 0.0)[2] + 0.1 * LAYER, 0.6)
    for size in (0.0, 0.02, 1e-9, 0.5):
        v = size * rng.normal(size=(4, 3))
        terms_at = terms(contacts, x, v)
        differences = -slope(lambda u: terms(contacts, x, u).force[0], v, 1e-6)
        largest = np.abs(terms(contacts, x, 0 * v).damping).max()
        assert np.abs(differences - terms_at.damping[0]).max() < 1e-6 * largest


# — options —


def test_restitution_is_a_share():
    with pytest.raises(ValueError, match="restitution"):
        ImplicitContactConfig(restitution=1.5)


@pytest.mark.parametrize("option", ["distance_tolerance", "stiffness", "slip_tolerance"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_the_error_names_an_invalid_option(option, value):
    with pytest.raises(ValueError, match=option):
        ImplicitContactConfig(**{option: value})
