"""verlet with damping that is stiff in the step: order, rest, creep; without damping it is symplectic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm

from corekit.roles.component import BuildContext
from corekit_testing.conformance import conformance
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.small_world import floor, small_world
from corekit_timestep.config import VerletConfig
from corekit_timestep.verlet import Verlet

M, K, LENGTH, G = 2.0, 300.0, 1.0, 9.81
FORMS = pytest.mark.parametrize("form", ["velocity", "position"])

test_conformance_always_split = conformance("integrators", "verlet", options={"split_above": 0.0})


def simulate(model, form, h, duration, split_above=0.1, **world):
    scheme = Verlet(VerletConfig(form=form, split_above=split_above), BuildContext(step=h))
    simulation = small_world({"body": model}, scheme, step=h, **world)
    simulation.run(duration)
    return simulation


def oscillator(damping):
    """A mass on a damped spring along x, released at a stretch of 0.1 m, without gravity."""
    config = PointChainConfig(
        masses=(M,), positions=((LENGTH + 0.1, 0.0, 0.0),), links=("spring",), lengths=(LENGTH,),
        stiffness=K, damping=damping,
    )  # fmt: skip
    return PointChain(config, BuildContext(gravity=np.zeros(3)))


def error(form, h, damping, duration=0.4, split_above=0.0):
    """Error of stretch and speed, against the exponential of the linear system."""
    state = simulate(oscillator(damping), form, h, duration, split_above).state
    expected = expm(np.array([[0.0, 1.0], [-K / M, -damping / M]]) * duration) @ [0.1, 0.0]
    return float(np.max(np.abs(np.array([state.q[0] - LENGTH, state.v[0]]) - expected)))


@FORMS
@pytest.mark.parametrize("split_above", [0.0, math.inf])
def test_damping_that_is_not_stiff_retains_the_order_two(form, split_above):
    coarse, fine = (error(form, h, damping=10.0, split_above=split_above) for h in (4e-3, 2e-3))
    assert math.log2(coarse / fine) == pytest.approx(2.0, abs=0.15)


@FORMS
def test_an_overdamped_spring_creeps_exponentially_a_hundredfold_beyond_the_explicit_limit(form):
    """h·d = 200; explicit damping would be unstable above 2."""
    assert error(form, 1e-2, damping=4e4, duration=1.0) < 1e-4
    with np.errstate(all="ignore"):
        explicit = simulate(oscillator(4e4), form, 1e-3, 5e-3, math.inf).state.v
    assert not np.abs(explicit).max() < 1e3


@FORMS
@pytest.mark.parametrize(("drag", "split_above"), [(0.0, 0.1), (180.0, 0.1), (180.0, math.inf), (2e4, 0.1)])
def test_a_damped_mass_rests_on_exactly_its_weight(form, drag, split_above):
    """Also if h·d = 0.09 is not stiff, and if damping is never split off away from contacts."""
    h = 1e-3
    chain = PointChain(
        PointChainConfig(masses=(M,), positions=((0.0, 0.0, 0.1),), drag=drag, shape="sphere", radius=0.1)
    )
    world = {"solver": ProjectedGaussSeidel(), "detector": ReferenceDetector(), "obstacles": [floor()]}
    simulation = simulate(chain, form, h, 0.1, split_above, **world)
    assert simulation.contacts().normal_impulse == pytest.approx([h * M * G], rel=1e-10)
    assert np.max(np.abs(simulation.state.v)) < 1e-12


@FORMS
def test_without_damping_the_energy_of_a_spring_stays_bounded(form):
    """Over 1,000 steps at h·ω = 0.24: no drift, as in every symplectic scheme."""
    simulation = small_world(
        {"body": oscillator(0.0)}, Verlet(VerletConfig(form=form), BuildContext(step=0.02)), step=0.02
    )
    energy = []
    simulation.observe(
        lambda run, _: energy.append(0.5 * M * run.state.v[0] ** 2 + 0.5 * K * (run.state.q[0] - LENGTH) ** 2)
    )
    simulation.run(20.0)
    first, last = np.array(energy[:100]), np.array(energy[-100:])
    assert last.mean() == pytest.approx(first.mean(), rel=5e-4)
    assert np.ptp(last) < 0.05 * first.mean()
