"""Bilateral rows: rigid, compliant, bounded, prescribed; and matrices that need them to be regular."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit.data.signals import Constant, Ramp
from corekit.roles.component import BuildContext
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.rounding import rounding
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import small_world
from corekit_testing.velocity_verlet import VelocityVerlet

H, G = 1e-3, 9.81

INTEGRATORS = {
    "semi-implicit": lambda h: SemiImplicitEuler(None, BuildContext(step=h)),
    "euler": lambda h: ImplicitEuler(None, BuildContext(step=h)),
    "midpoint": lambda h: ImplicitEuler(ImplicitEulerConfig(theta=0.5), BuildContext(step=h)),
    "verlet": lambda h: VelocityVerlet(None, BuildContext(step=h)),
}
every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS)


def world(integrator, h=H, inputs=None, gravity=(0.0, 0.0, -G), solver=None, **options):
    model = PointChain(PointChainConfig(**options), BuildContext(gravity=np.array(gravity)))
    return small_world(
        {"chain": model},
        INTEGRATORS[integrator](h),
        step=h,
        solver=solver,
        inputs={"chain": inputs} if inputs else None,
    )


HANGING = {"positions": ((0.0, 0.0, -1.0),), "masses": (2.0,)}


@pytest.mark.parametrize("integrator", ["semi-implicit", "euler", "midpoint"])
@pytest.mark.parametrize("alpha", [1e-4, 1e-3])
def test_static_stretch_of_a_compliant_rod_is_exact(integrator, alpha):
    simulation = world(integrator, 0.02, links=("rod",), compliance=alpha, drag=50.0, **HANGING)
    simulation.run(5.0)
    assert simulation.state.q[2] == pytest.approx(-1 - alpha * 2.0 * G, abs=1e-12)


@pytest.mark.parametrize("theta", [1.0, 0.5])
def test_swinging_chain_keeps_its_lengths_for_three_seconds(theta):
    """θ = 1 holds c(q⁺) = 0; at ½ c is drawn back every step, and energy is kept."""
    h = 5e-3
    model = PointChain(
        PointChainConfig(
            planar=True, masses=(1.0, 1.0), positions=((0.3, -0.4), (0.6, -0.8)), links=("rod",) * 2
        )
    )
    integrator = ImplicitEuler(ImplicitEulerConfig(theta=theta), BuildContext(step=h))
    simulation = small_world({"chain": model}, integrator, step=h)
    before = sum(model.compute_energies(simulation.state.body_states[0]))
    worst = []

    def watch(sim, _report):
        nodes = np.vstack([np.zeros(2), sim.state.q.reshape(-1, 2)])
        worst.append(np.abs(np.linalg.norm(np.diff(nodes, axis=0), axis=1) - 0.5).max())

    simulation.observe(watch)
    simulation.run(3.0)
    assert max(worst) < (1e-10 if theta == 1.0 else 5e-4)
    if theta == 0.5:
        assert sum(model.compute_energies(simulation.state.body_states[0])) == pytest.approx(
            before, abs=1.5e-3
        )


def test_midpoint_drift_of_rods_shrinks_with_the_square_of_the_step():
    def drift(h):
        simulation = world(
            "midpoint", h, planar=True, masses=(1.0, 1.0), positions=((0.6, 0.0), (1.2, 0.0)),
            links=("rod", "rod"),
        )  # fmt: skip
        worst = []

        def watch(sim, _report):
            nodes = np.vstack([np.zeros(2), sim.state.q.reshape(-1, 2)])
            worst.append(np.abs(np.linalg.norm(np.diff(nodes, axis=0), axis=1) - 0.6).max())

        simulation.observe(watch)
        simulation.run(0.5)
        return max(worst)

    assert math.log2(drift(4e-3) / drift(2e-3)) == pytest.approx(2.0, abs=0.25)


@every_integrator
def test_massless_node_is_carried_by_its_weld(integrator):
    """The mass matrix is singular alone and positive definite on the rows' kernel; both nodes fall together."""
    simulation = world(
        integrator, masses=(1.5, 0.0), positions=((0.0, 0.0, 0.0), (0.3, 0.0, 0.0)), links=("none", "weld")
    )
    simulation.run(0.1)
    q = simulation.state.q
    assert q[3:] - q[:3] == pytest.approx([0.3, 0, 0], abs=1e-13)
    assert simulation.state.v == pytest.approx([0, 0, -G * 0.1] * 2, abs=1e-11)


@pytest.mark.parametrize("integrator", ["semi-implicit", "euler", "midpoint"])
def test_massless_node_without_rows_is_refused_as_singular(integrator):
    from corekit.errors import StepFailed

    simulation = world(integrator, masses=(1.0, 0.0), positions=((0.0, 0.0, 0.0), (0.3, 0.0, 0.0)))
    with pytest.raises(StepFailed, match="singular"):
        simulation.step()


# — bounded rows —


@every_integrator
@pytest.mark.parametrize("bound", [10.0, 30.0])
def test_brake_holds_below_its_force_and_slips_at_it(integrator, bound):
    """A mass of 2 kg hangs from a brake: weight 19.62 N."""
    simulation = world(
        integrator, links=("brake",), lower=-bound, upper=bound, solver=ProjectedGaussSeidel(), **HANGING
    )
    simulation.run(0.2)
    excess = max(2.0 * G - bound, 0.0) / 2.0
    assert simulation.state.v[2] == pytest.approx(-excess * 0.2, rel=1e-10, abs=1e-13)


@every_integrator
def test_tendon_pulls_when_taut_and_never_pushes(integrator):
    """A mass thrown up from a taut tendon flies freely, falls back and is caught at the tendon's length."""
    simulation = world(
        integrator,
        links=("tendon",),
        lower=-math.inf,
        upper=0.0,
        velocities=((0.0, 0.0, 1.0),),
        solver=ProjectedGaussSeidel(),
        **HANGING,
    )
    simulation.run(0.1)
    assert simulation.state.v[2] == pytest.approx(1.0 - G * 0.1, rel=1e-9)
    simulation.run(0.5)
    assert simulation.state.q[2] == pytest.approx(-1.0, abs=1e-5)
    assert abs(simulation.state.v[2]) < 1e-3


@pytest.mark.parametrize("integrator", ["semi-implicit", "euler", "midpoint"])
def test_compliant_tendon_hangs_at_its_stretch_but_yields_at_its_strength(integrator):
    for strength, hangs in ((30.0, True), (10.0, False)):
        simulation = world(
            integrator, 0.01, links=("tendon",), compliance=1e-3, lower=-strength, upper=0.0, drag=20.0,
            solver=ProjectedGaussSeidel(), **HANGING,
        )  # fmt: skip
        simulation.run(3.0)
        stretch = -1 - simulation.state.q[2]
        if hangs:
            assert stretch == pytest.approx(1e-3 * 2 * G, abs=1e-7)
        else:
            assert simulation.state.v[2] == pytest.approx(-(2 * G - 10) / 20, rel=1e-3)


def test_winch_reels_by_the_integral_of_its_rate():
    reel = Ramp(begin=0.0, end=0.5, start=0.0, value=-0.4)
    simulation = world("euler", links=("winch",), inputs={"reel": reel}, **HANGING)
    simulation.run(1.0)
    # a quarter of the way while it speeds up; implicit Euler sums u at the ends of steps
    assert simulation.state.q[2] == pytest.approx(-1.0 + 0.4 * 0.75, abs=0.5 * 0.4 * H + 1e-12)


# — prescribed coordinates —

DRIVE = {
    "masses": (1.0, 0.5),
    "positions": ((0.0, 0.0, 0.0), (0.0, 0.0, -1.0)),
    "driven": (0,),
    "drive_amplitude": (0.1, 0.02, 0.0),
    "drive_rate": (0.3, 0.0, 0.0),
    "drive_frequency": 1.5,
}


def driven_path(t):
    s = math.sin(2 * math.pi * 1.5 * t)
    return np.array([0.3 * t + 0.1 * s, 0.02 * s, 0.0])


@every_integrator
@pytest.mark.parametrize("link", ["spring", "rod"])
def test_prescribed_node_follows_its_path_exactly(integrator, link):
    simulation = world(integrator, links=("none", link), **DRIVE)
    simulation.run(0.2)
    omega = 3 * math.pi
    c = omega * math.cos(omega * 0.2)
    assert simulation.state.q[:3] == pytest.approx(driven_path(0.2), abs=rounding(64))
    assert simulation.state.v[:3] == pytest.approx([0.3 + 0.1 * c, 0.02 * c, 0], abs=1e-13)


@pytest.mark.parametrize("integrator", ["euler", "midpoint"])
def test_prescribed_node_and_free_node_agree_with_ordinary_differential_equation(integrator):
    from scipy.integrate import solve_ivp

    k, m = 200.0, 0.5

    def right(t, y):
        span = y[:3] - driven_path(t)
        length = np.linalg.norm(span)
        return [*y[3:], *(-k / m * (length - 1) / length * span + [0, 0, -G])]

    exact = solve_ivp(right, (0, 0.4), [0, 0, -1, 0, 0, 0], rtol=1e-11, atol=1e-11).y[:3, -1]
    errors = []
    for h in (2e-3, 1e-3):
        simulation = world(integrator, h, links=("none", "spring"), stiffness=k, **DRIVE)
        simulation.run(0.4)
        errors.append(np.linalg.norm(simulation.state.q[3:] - exact))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(1.0 if integrator == "euler" else 2.0, abs=0.15)


@every_integrator
def test_reaction_at_a_clamp_carries_the_weight_that_hangs_on_it(integrator):
    simulation = world(
        integrator, masses=(1.0, 0.5), positions=((0.0, 0.0, 0.0), (0.0, 0.0, -1.0)), driven=(0,),
        links=("none", "rod"),
    )  # fmt: skip
    simulation.run(0.1)
    assert simulation.system.reaction() == pytest.approx([0, 0, H * 1.5 * G], abs=1e-12)


@every_integrator
def test_reaction_accelerates_what_it_drives(integrator):
    """A lone driven mass: the impulse of its drive is m·(v⁺ − v₀) + h·m·g."""
    simulation = world(
        integrator,
        positions=((0.0, 0.0, 0.0),),
        driven=(0,),
        drive_amplitude=(0.0, 0.0, 0.1),
        drive_frequency=2.0,
    )
    simulation.run(0.05)
    before = simulation.state.v[2]
    simulation.step()
    wanted = simulation.state.v[2] - before + H * G
    assert simulation.system.reaction()[2] == pytest.approx(
        wanted, rel=1e-3 if integrator == "verlet" else 1e-11
    )


def test_constant_force_on_a_driven_node_is_taken_by_its_reaction():
    simulation = world(
        "euler", positions=((0.0, 0.0, 0.0),), driven=(0,), inputs={"pull": Constant((3.0, 0.0, 0.0))}
    )
    simulation.step()
    assert simulation.system.reaction() == pytest.approx([-3 * H, 0, G * H])
