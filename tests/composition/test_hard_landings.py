"""A ball falls hard on a smooth contact: no scheme makes energy of it, and where something does the watch says so."""

import numpy as np
import pytest

from corekit.errors import CompositionError
from corekit.registry.discover import discover
from corekit.scenario.load import from_document
from corekit_imc.contact_springs import ContactSprings
from corekit_record.energy_balance import EnergyBalance
from corekit_record.statistics import Statistics

DROP, STEP, LAYER, G = 0.1, 1e-3, 5e-4, 9.81
INTEGRATORS = sorted(
    row.name for row in discover() if row.role == "integrators" and row.usable and not row.reference
)


def ball(integrator, *, height, speed=0.0, gravity=G, mass=1.0, step=STEP, solver="imc", **options):
    """A ball of 5 cm above a floor, its contact solver with the given options."""
    return from_document(
        {
            "format": "corekit-scenario/1",
            "name": "landing",
            "time": {"duration": 1.0, "step": step},
            "world": {"gravity": [0.0, 0.0, -gravity], "obstacles": [{"name": "floor", "shape": "half-space"}]},
            "bodies": [
                {
                    "name": "ball", "use": "rigid", "options": {"shape": "sphere", "size": [0.05], "mass": mass},
                    "initial": {"position": [0.0, 0.0, 0.05 + height], "velocity": [0.0, 0.0, -speed]},
                }
            ],
            "contact": {
                "friction": 0.3,
                "detector": {"use": "sdf"},
                "solver": {"use": solver, "options": options},
            },
            "integrator": {"use": integrator},
            "output": {"every": step},
        }
    ).compose()  # fmt: skip


def landing(integrator, *, adapt, restitution=1.0):
    return ball(integrator, height=DROP, adapt=adapt, distance_tolerance=LAYER, restitution=restitution)


def fall(simulation):
    """Run through the landing: the largest energy of the ball, the least gap, and whether the watch warns."""
    balance, (own,) = EnergyBalance(simulation), simulation.bodies
    energies, gaps, warns = [], [], False
    while simulation.time < 0.175:  # it meets the floor at 0.143 s
        simulation.step()
        balance.sample(simulation)
        energies.append(sum(own.model.compute_energies(simulation.state.body_states[0])))
        gaps.append(simulation.state.q[2] - 0.05)
        warns = warns or balance.exceeds(0.05)
    return max(energies), min(gaps), warns


@pytest.mark.parametrize(
    ("adapt", "restitution"),
    [(True, 1.0), (False, 1.0), (True, 0.0)],
    ids=["own stiffness", "fixed", "damped"],
)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_hard_landing_makes_no_energy(integrator, adapt, restitution):
    """1.4 m/s is 2.8 times δ per step. k·δ² = m·v² keeps the ball within δ; a fixed 10 kN/m lets it in by 1 cm."""
    try:
        simulation = landing(integrator, adapt=adapt, restitution=restitution)
    except CompositionError as refusal:
        assert "unsound where a model may be stiff" in str(refusal)  # noqa: PT017
        return
    energy, gap, warns = fall(simulation)
    assert energy <= G * (0.05 + DROP) + 1e-3 * G * DROP
    assert not warns
    assert -LAYER < gap < 0.0 if adapt else -1.1e-2 < gap < -0.8e-2


@pytest.mark.parametrize("integrator", ["implicit-midpoint", "newmark", "rk23"])
def test_the_watch_warns_of_a_stiffness_that_rises_under_load(integrator, monkeypatch):
    """Doubled at each step deeper than δ, as published: each doubling stores k·φ which nothing gave."""
    stiffness = [1e4]

    def update(_, contacts, motion, step):
        if contacts.count and contacts.gap[0] < -LAYER and motion.normal_velocity[0] < 0.0:
            stiffness[0] *= 2.0

    monkeypatch.setattr(
        ContactSprings,
        "of_contacts",
        lambda _, contacts: np.tile((stiffness[0], 0.0, 0.0), (contacts.count, 1)),
    )
    monkeypatch.setattr(ContactSprings, "update", update)
    energy, _, warns = fall(landing(integrator, adapt=True))
    assert energy > G * (0.05 + DROP) + 0.05 * G * DROP
    assert warns


@pytest.mark.parametrize("integrator", ["implicit-midpoint", "newmark", "verlet"])
@pytest.mark.parametrize(("speed", "step"), [(0.1, 1e-3), (0.1, 1e-4), (0.1, 2e-5), (0.03, 1e-4)])
def test_a_bounce_gives_back_what_it_took_however_short_the_steps_are(integrator, speed, step):
    """Hundreds of steps within an impact are no rest: its stiffness holds until the ball is off again."""
    simulation = ball(
        integrator,
        height=2.0 * LAYER,
        speed=speed,
        gravity=0.0,
        step=step,
        distance_tolerance=LAYER,
        restitution=1.0,
    )
    simulation.run(10.0 * LAYER / speed)
    assert simulation.state.v[2] > 0.0
    assert (simulation.state.v[2] / speed) ** 2 == pytest.approx(1.0, abs=5e-3)


@pytest.mark.parametrize(
    ("mass", "stiffness", "depth"), [(20.0, 1e3, 0.2), (20.0, 1e4, 0.0), (1.0, 1e3, 0.4)]
)
def test_a_ball_that_starts_within_the_layer_comes_to_rest_at_a_fifth_of_it(mass, stiffness, depth):
    """However weak k₀ is: choosing its own stiffness lifts the ball by less than the layer, and throws it nowhere."""
    simulation = ball(
        "implicit-euler", height=-depth * LAYER, mass=mass, stiffness=stiffness, distance_tolerance=LAYER
    )
    highest = -LAYER
    while simulation.time < 1.2:
        simulation.step()
        highest = max(highest, simulation.state.q[2] - 0.05)
    assert simulation.state.q[2] - 0.05 == pytest.approx(-LAYER / 5, rel=0.1)
    assert highest < LAYER


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "implicit-midpoint", "verlet", "rk23"])
def test_the_depth_that_is_told_is_that_of_the_ends_of_steps(integrator):
    """The smooth motion of a split step ends 5 mm inside the floor, where the ball never is: impulses move it out."""
    simulation, statistics = ball(integrator, height=0.02, speed=8.0, solver="lcp"), Statistics()
    lowest = 0.0
    while simulation.time < 0.01:
        statistics.on_step_accepted(simulation, simulation.step())
        lowest = min(lowest, simulation.state.q[2] - 0.05)
        assert statistics.depth == pytest.approx(max(0.0, 0.05 - simulation.state.q[2]), abs=1e-9)
    assert statistics.since_last_record.deepest_penetration == pytest.approx(-lowest, abs=1e-9)


@pytest.mark.parametrize("integrator", ["verlet", "generalized-alpha", "implicit-midpoint"])
def test_within_a_layer_steps_grow_slowly_past_the_stops_of_the_grid_too(integrator):
    """A remainder up to a stop, which is shorter than what the motion allows, does not set the next step free.

    The impact of 1 m/s takes steps of about 50 µs; where the ball turns around, its speed is no reason for longer ones.
    """
    for phase in range(8):
        height = 0.003 + phase / 8 * STEP
        simulation = ball(integrator, height=height, speed=1.0, distance_tolerance=LAYER, restitution=1.0)
        steps: list[tuple[float, float]] = []
        simulation.observe(
            lambda now, report, steps=steps: steps.append((report.step_size, now.state.q[2] - 0.05))
        )
        simulation.run(0.007)
        within = [
            h for (h, gap), (_, before) in zip(steps[1:], steps, strict=False) if max(gap, before) < LAYER
        ]
        longest = np.maximum.accumulate(within)
        assert len(within) > 15
        assert longest[-1] < 0.3 * STEP
        # a remainder up to a stop hides the limit of one step, from which the next one grows
        assert (np.array(within[1:]) <= 1.25**2 * longest[:-1] * (1.0 + 1e-9)).all()
