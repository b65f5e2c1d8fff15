"""Rigid worlds drawn at random keep the balances of momentum and energy in every step, and their solvers their word.

Momentum and energy are those of `corekit_testing.worlds.balances`, which knows shapes, masses and poses alone.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corekit.data.status import Status
from corekit.scenario.load import from_document
from corekit_testing.rounding import rounding
from corekit_testing.worlds.balances import given_by_contacts, motions, total_mass
from corekit_testing.worlds.drawing import make_world, worlds

NEEDED = ("rigid", "lcp", "qp", "cone", "sdf", "mpr", "timestep")
TOLERANCE = 1e-9
INTEGRATORS = [
    {"use": "semi-implicit-euler"},
    {"use": "semi-implicit-euler", "options": {"form": "explicit"}},
    {"use": "implicit-euler", "options": {"tolerance": TOLERANCE}},
    {"use": "implicit-midpoint", "options": {"tolerance": TOLERANCE}},
    {"use": "verlet"},
    {"use": "rk23"},
]
CONTACTS = [
    {"solver": {"use": solver, "options": {"tolerance": TOLERANCE}}, "friction": friction}
    for solver in ("cone", "lcp", "qp")
    for friction in (0.0, 0.5)
]
FLYING_WORLDS = worlds(CONTACTS, [INTEGRATORS[i] for i in (0, 2, 3)], ["rigid", "flying-rod"])
RIGID_WORLDS = worlds(CONTACTS, INTEGRATORS, ["rigid"])
STEPS = 20
PUSH_OUT = 20.0
"""Rate at which overlaps recede [1/s], as `make_world` has it."""


@pytest.fixture(scope="module", autouse=True)
def plugins():
    for needed in NEEDED:
        pytest.importorskip(f"corekit_{needed}")


def few(count):
    """So many examples where they are the same in every run, and many where they are drawn anew."""
    return settings(max_examples=count if settings().derandomize else 50)


def steps_of(world):
    """Motions before and after every step, what contacts gave in it, and its report."""
    simulation = from_document(world).compose()
    before = motions(simulation, world)
    for _ in range(STEPS):
        report = simulation.step()
        after = motions(simulation, world)
        yield before, after, given_by_contacts(simulation), report
        before = after


@few(4)
@given(world=RIGID_WORLDS | FLYING_WORLDS)
def test_momentum_changes_by_weight_and_what_obstacles_give(world):
    """A step of any scheme adds h·Σm·g and the impulses of obstacles; an implicit one solves it to its tolerance."""
    mass, weight = total_mass(world), world["time"]["step"] * np.array(world["world"]["gravity"])
    implicit = world["integrator"]["use"].startswith("implicit")
    for before, after, contacts, _ in steps_of(world):
        speed = 1.0 + max(before.speed, after.speed)
        bound = rounding(256, contacts.largest + mass * speed) + implicit * TOLERANCE * mass * speed
        change = after.momentum - before.momentum
        assert change == pytest.approx(mass * weight + contacts.impulse, rel=0.0, abs=bound)


@few(4)
@given(world=RIGID_WORLDS)
def test_contacts_add_no_energy(world):
    """A contact may add what pushing its overlap out brings, an integrator what its order leaves out.

    An impulse λ does λ·(w⁻ + w⁺)/2, no more than λ·PUSH_OUT·overlap where friction or a bounce takes the rest; that a
    bounce with friction adds none is no law of Newton's restitution. Free, a step is off by no more than m·(h·g)²/2,
    that of explicit Euler, and (h·ω)² of the energy of rotation, of second order.
    """
    if world["contact"]["friction"]:
        world["contact"]["impact"]["restitution"] = 0.0
    step, mass = world["time"]["step"], total_mass(world)
    fall = 0.5 * mass * np.sum(np.square(world["world"]["gravity"])) * step**2
    for before, after, contacts, _ in steps_of(world):
        turning = (step * max(before.rate, after.rate)) ** 2 * max(before.turning, after.turning)
        size = mass * (1.0 + max(before.speed, after.speed)) ** 2
        bound = PUSH_OUT * contacts.pushed + fall + turning + 10.0 * TOLERANCE * size
        assert after.energy - before.energy <= bound


@few(4)
@given(world=RIGID_WORLDS)
def test_every_step_of_a_world_that_starts_apart_is_solved(world):
    for _, _, _, report in steps_of(world):
        assert report.solve_info.status in (Status.CONVERGED, Status.FALLBACK), report.solve_info


@few(4)
@given(
    seed=st.integers(0, 2**32 - 1), contact=st.sampled_from(CONTACTS), restitution=st.sampled_from([0.0, 0.5])
)
def test_bodies_that_meet_in_free_space_keep_their_angular_momentum(seed, contact, restitution):
    """Of first order in an impact: positions move with the velocity before it, arms turn with that after it.

    Both are off by h·v of an impulse: h·v·λ. Free, a body that tumbles is off by (h·ω)² of its angular momentum.
    """
    world = make_world(seed, ["rigid"] * 4, [], False, 1e-4, contact, INTEGRATORS[1], restitution)
    step = world["time"]["step"]
    for before, after, contacts, _ in steps_of(world):
        speed, rate = (max(getattr(before, name), getattr(after, name)) for name in ("speed", "rate"))
        arms = 4.0 * step * speed * contacts.largest
        own = 2.0 * max(before.turning, after.turning) / max(rate, 1e-9)
        turning = 2.0 * own * (step * rate if contacts.largest else (step * rate) ** 2)
        bound = rounding(256, 1.0 + contacts.largest) + arms + turning
        assert after.spin == pytest.approx(before.spin, rel=0.0, abs=bound)
