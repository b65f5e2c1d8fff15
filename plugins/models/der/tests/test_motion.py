"""Frequencies of rods, and simulations with the reference integrator."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from corekit.data.signals import Ramp
from corekit.roles.component import BuildContext
from corekit_der.config import Clamp, DERConfig, Limb
from corekit_der.initial_options import BendingMode, DERInitial, LimbStart, bending_mode
from corekit_der.model import DER
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.rounding import rounding
from corekit_testing.small_world import small_world

ABILITIES = frozenset(
    {"point-jacobian", "force-derivatives", "prescribed", "reparametrisation", "energy", "force-terms"}
)
OMEGA = 0.4972396
"""Frequency of the fixture `cantilever` by Euler and Bernoulli [rad/s]: 1.8751041²·√(EI/(ρA))/L²."""


def run(config: DERConfig, step: float, theta: float = 0.5, gravity: float = 0.0, initial=None, inputs=None):
    """Return the model and a simulation with the reference integrator, at the initial state."""
    context = BuildContext(gravity=np.array([0.0, 0.0, gravity]), step=step)
    model = DER(config, context)
    integrator = ImplicitEuler(ImplicitEulerConfig(theta=theta), context)
    simulation = small_world(
        {"rod": model}, integrator, step=step, abilities=ABILITIES, inputs={"rod": inputs or {}}
    )
    if initial is not None:
        model.compute_initial_state(initial, simulation.state.body_states[0])
    return model, simulation


def lowest(rod) -> float:
    """Return the least frequency [rad/s]."""
    free = rod.free
    root = np.sqrt(rod.mass()[free])
    values = np.linalg.eigvalsh(rod.stiffness()[np.ix_(free, free)] / np.outer(root, root))
    return float(np.sqrt(values[0]))


@pytest.mark.parametrize("planar", [False, True])
def test_cantilever_frequency_matches_euler_bernoulli_to_second_order(cantilever, planar):
    errors = [lowest(cantilever(nodes, planar=planar)) / OMEGA - 1.0 for nodes in (11, 21, 41)]
    assert abs(errors[-1]) < 6e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


def test_clamping_two_nodes_raises_the_frequency_by_an_edge_length(cantilever):
    """Pitfall: L − ½·edge instead of L is a relative error of edge/L, 0.5 % with the 200 edges of the paper."""
    error = lowest(cantilever(41, kind="edge")) / OMEGA - 1.0
    assert error == pytest.approx(1.0 / 40, rel=0.06)


def test_bending_modes_are_those_of_a_clamped_beam():
    """Deflection and slope vanish at the clamp, the tip has unit deflection, and mode k has k − 1 nodes."""
    s = np.linspace(0.0, 1.0, 2001)
    for number in (1, 2, 3, 6):
        w = bending_mode(number, s)
        assert w[-1] == pytest.approx(1.0)
        assert abs(w[0]) < 1e-9
        assert abs(w[1] - w[0]) < 1e-3
        assert int((np.diff(np.sign(w[5:])) != 0).sum()) == number - 1


def _series(x: Decimal, sign: int) -> tuple[Decimal, Decimal]:
    """Σ signᵏ·x²ᵏ/(2k)! and Σ signᵏ·x²ᵏ⁺¹/(2k + 1)!: cosh and sinh, or cos and sin for the sign −1."""
    even, odd, term, k = Decimal(0), Decimal(0), Decimal(1), 0
    while abs(term) > Decimal(10) ** -70 or k < abs(x):
        even, odd = even + term, odd + term * x / (k + 1)
        term *= sign * x * x / ((k + 1) * (k + 2))
        k += 2
    return even, odd


@pytest.mark.parametrize("number", range(1, 21))
def test_bending_modes_are_right_to_rounding(number):
    """Against the form of the textbook in 100 digits, of which it loses up to 27 each in series and by cosh − sinh."""
    places = np.array([0.0, 0.03, 0.2, 0.5, 0.8, 0.97, 1.0])
    with localcontext() as context:
        context.prec = 100
        b = Decimal(math.pi) * (Decimal(number) - Decimal("0.5"))
        for _ in range(9):  # Newton on cosh b·cos b + 1
            (cosh, sinh), (cos, sin) = _series(b, 1), _series(b, -1)
            b -= (cosh * cos + 1) / (sinh * cos - cosh * sin)
        (cosh, sinh), (cos, sin) = _series(b, 1), _series(b, -1)
        ratio, shape = (cosh + cos) / (sinh + sin), []
        for place in places.tolist():
            (up, across), (swing, turn) = _series(b * Decimal(place), 1), _series(b * Decimal(place), -1)
            shape.append(up - swing - ratio * (across - turn))
        exact = np.array([float(each / shape[-1]) for each in shape])
    # the angle b·s is rounded, by parts of b
    assert bending_mode(number, places) == pytest.approx(exact, abs=rounding(8, 1.0 + float(b)), rel=0)
    assert bending_mode(number, places)[0] == 0.0


def test_a_swinging_cantilever_follows_beam_theory():
    """w = (v/ω)·sin ωt over a period; the relative delay of the midpoint rule is (ωh)²/12."""
    limb = Limb(
        name="beam", start=(0, 0, 0), end=(1, 0, 0), nodes=31, radius=(0.02,), young=(1e5,), density=(500.0,)
    )
    config = DERConfig(limbs=(limb,), clamps=(Clamp(at="beam.start"),))
    initial = DERInitial(modes=(BendingMode(limb="beam", tip=(0.0, 0.0, 0.005)),))
    model, simulation = run(config, 0.25, initial=initial)
    tip = [c.name for c in model.description.coordinates].index("beam-30-z")
    energy = sum(model.compute_energies(simulation.state.body_states[0]))
    times, heights = [], []
    for _ in range(50):
        simulation.step()
        times.append(simulation.time)
        heights.append(simulation.state.q[tip])
    expected = 0.005 / OMEGA * np.sin(OMEGA * np.array(times))
    assert np.array(heights) == pytest.approx(expected, abs=0.02 * 0.005 / OMEGA)
    assert sum(model.compute_energies(simulation.state.body_states[0])) == pytest.approx(energy, rel=1e-4)


def test_a_thrown_rod_keeps_momentum_and_angular_momentum():
    """A bent rod spins freely; many edges turn far enough for new reference frames."""
    shape = tuple((0.3 * np.sin(a), 0.3 * (1 - np.cos(a)), 0.02 * a) for a in np.linspace(0, 1.5, 8))
    random = np.random.default_rng(0)
    spin = np.cross([0.0, 3.0, 8.0], np.array(shape))
    velocities = tuple(map(tuple, spin + 0.1 * random.normal(size=(8, 3)) + [0.5, 0.0, 0.0]))
    config = DERConfig(limbs=(Limb(points=shape, radius=(0.01,), young=(1e6,)),))
    initial = DERInitial(limbs=(LimbStart(limb="rod", points=shape, velocities=velocities),))
    model, simulation = run(config, 2e-3, initial=initial)
    names = [c.name for c in model.description.coordinates]
    x = np.array([[names.index(f"rod-{i}-{a}") for a in "xyz"] for i in range(8)])
    mass = model.new_mass_matrix()
    model.compute_mass_and_force(simulation.state.body_states[0], np.zeros(0), mass, np.zeros(len(names)))
    m = mass.data[x[:, :1]]

    def momenta():
        position, velocity = simulation.state.q[x], simulation.state.v[x]
        return (m * velocity).sum(axis=0), (m * np.cross(position, velocity)).sum(axis=0)

    before, sources = momenta(), simulation.state.aux[:6].copy()
    energy = sum(model.compute_energies(simulation.state.body_states[0]))
    for _ in range(150):
        simulation.step()
    after = momenta()
    assert np.abs(simulation.state.aux[:6] - sources).max() > 0.1
    assert after[0] == pytest.approx(before[0], rel=1e-9)
    # the neglected spin of edges about their tangents is of order (r/L)²
    assert after[1] == pytest.approx(before[1], abs=2e-3 * float(np.linalg.norm(before[1])))
    assert sum(model.compute_energies(simulation.state.body_states[0])) == pytest.approx(energy, rel=0.02)


def test_a_turning_clamp_turns_the_rod():
    """After a clamp turned by 90° about z, the rod comes to rest along y."""
    limb = Limb(
        name="arm", start=(0, 0, 0), end=(0.2, 0, 0), nodes=9, radius=(0.01,), young=(1e6,), viscous_drag=2.0
    )
    clamp = Clamp(at="arm.start", angle=Ramp(begin=0.0, end=0.5, value=(np.pi / 2,), start=(0.0,)))
    model, simulation = run(DERConfig(limbs=(limb,), clamps=(clamp,)), 0.02, theta=1.0)
    for _ in range(150):
        simulation.step()
    names = [c.name for c in model.description.coordinates]
    tip = simulation.state.q[[names.index(f"arm-8-{a}") for a in "xyz"]]
    assert tip == pytest.approx([0.0, 0.2, 0.0], abs=1e-3)
