"""Torsional and rolling friction against closed forms, by every solver with impulses: |m_n| ≤ ℓ·λ_n, |m_t| ≤ ρ·λ_n.

A ball of the radius R on one point has I = 2·m·R²/5 and, at rest or rolling, spins down by ℓ·m·g/I until it stands. One
that slides at u ≫ r·ω has the moment ℓ·m·g·r·ω/(2·u) of a ring of radius r = ℓ/μ. `test_rolling_friction` has what
rolls.
"""

import math
import tomllib
from pathlib import Path

import numpy as np
import pytest

from corekit.engine.world import assembly
from corekit.errors import CompositionError, ConfigError
from corekit.geometry.frames import rotation_from_rpy
from corekit.scenario.load import from_document

SCENARIOS = Path(__file__).parents[2] / "scenarios"
G, H, MASS, RADIUS = 9.81, 1e-3, 0.1, 0.05
MU, LENGTH = 0.3, 0.004
FRICTION = {"sliding": MU, "torsional": LENGTH}
ROLLING = 2e-4
ROLLS = {"sliding": MU, "rolling": ROLLING}
BOTH = {**FRICTION, "rolling": ROLLING}
BRAKES = 5.0 / 7.0 * ROLLING * G / RADIUS
INERTIA = 0.4 * MASS * RADIUS**2
SLOWS = LENGTH * MASS * G / INERTIA
SOLVERS = ["cone", "lcp", "qp"]
EULER = ["semi-implicit-euler", "implicit-euler"]
BALL = {"shape": "sphere", "size": [RADIUS], "mass": MASS}

NEAR = 1e-8
"""Residual of a solved step relative to the free velocities, which are 1 m/s or 20 rad/s · R at most."""


def ball(name="ball", height=RADIUS, friction=FRICTION, **initial):
    initial.setdefault("position", [0.0, 0.0, height])
    return {"name": name, "use": "rigid", "options": BALL, "friction": friction, "initial": initial}


def document(solver, *bodies, integrator=EULER[0], gravity=(0.0, 0.0, -G), step=H, contact=None, **floor):
    return {
        "format": "corekit-scenario/1", "name": "spin", "time": {"duration": 1.0, "step": step},
        "world": {
            "gravity": list(gravity), "obstacles": [{"name": "floor", "shape": "half-space", **floor}],
        },
        "bodies": list(bodies),
        "contact": {"detector": {"use": "sdf"}, "solver": {"use": solver}, **(contact or {})},
        "integrator": {"use": integrator},
    }  # fmt: skip


def world(*args, **options):
    return from_document(document(*args, **options))


def after(simulation, steps):
    """v and ω in world axes of every body after some steps, each of which must be solved, shape (b, 6)."""
    for _ in range(steps):
        info = simulation.step().solve_info
        assert info.status.solved, info.sentence
    scene = simulation.system.pipeline.scene
    scene.update_poses(simulation.state)
    out = simulation.state.v.reshape(-1, 6).copy()
    out[:, 3:] = np.einsum("bij,bj->bi", scene.poses.frame_rotation, out[:, 3:])
    return out


@pytest.mark.parametrize("integrator", EULER)
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_ball_that_spins_is_slowed_down_evenly_until_it_stands(solver, integrator):
    """The moment does not change, so that every step is exact but for what the solver leaves."""
    spin = 4.5 * SLOWS * H
    simulation = world(solver, ball(angular_velocity=[0.0, 0.0, spin]), integrator=integrator).compose()
    for left in (3.5, 2.5, 1.5, 0.5, 0.0, 0.0):
        (motion,) = after(simulation, 1)
        assert np.abs(motion - [0.0, 0.0, 0.0, 0.0, 0.0, left * SLOWS * H]).max() <= NEAR


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_floor_may_stand_in_any_direction(solver):
    rpy = [0.4, -0.7, 1.9]
    normal = rotation_from_rpy(np.array(rpy))[:, 2]
    spinning = ball(position=(RADIUS * normal).tolist(), angular_velocity=(20.0 * normal).tolist())
    (motion,) = after(world(solver, spinning, gravity=-G * normal, rotation_rpy=rpy).compose(), 10)
    assert np.abs(motion[:3]).max() <= NEAR
    assert np.abs(motion[3:] - (20.0 - 10 * H * SLOWS) * normal).max() <= 10 * NEAR / RADIUS


@pytest.mark.parametrize("integrator", EULER)
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_ball_that_rolls_goes_on_and_does_not_rise(solver, integrator):
    """All that rolling could feel of a ring is its normals; the spin is slowed down as of a ball that stands."""
    spinning = ball(velocity=[0.6, 0.8, 0.0], angular_velocity=[-0.8 / RADIUS, 0.6 / RADIUS, 20.0])
    simulation = world(solver, spinning, integrator=integrator).compose()
    (motion,) = after(simulation, 10)
    rolls = [0.6, 0.8, 0.0, -0.8 / RADIUS, 0.6 / RADIUS, 20.0 - 10 * H * SLOWS]
    # implicit Euler has the moment about the normal as the ball stands at the end of a step, turned by h·ω
    turned = 0.0 if integrator == EULER[0] else H * (1.0 / RADIUS) * 10 * H * SLOWS
    assert np.abs(motion - rolls).max() <= 10 * NEAR / RADIUS + turned
    assert abs(simulation.state.q[2] - RADIUS) <= NEAR * H * 10


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_slides_turns_nearly_freely(solver):
    """The moment of a ring that slides at u, to a share of (r·ω/u)², and a friction that is μ·m·g to as much."""
    u, spin, steps = 4.0, 20.0, 5
    (motion,) = after(
        world(solver, ball(velocity=[0.8 * u, 0.6 * u, 0.0], angular_velocity=[0.0, 0.0, spin])).compose(),
        steps,
    )
    ring = LENGTH / MU
    # the slip of the lowest point falls by 7/2·μ·g·t
    middle = u - 3.5 * MU * G * 0.5 * steps * H
    share = (ring * spin / middle) ** 2
    slowed = SLOWS * ring * spin / (2.0 * middle) * steps * H
    assert spin - motion[5] == pytest.approx(slowed, rel=2.0 * share + 0.5 * SLOWS * steps * H / spin)
    assert np.linalg.norm(motion[:2]) == pytest.approx(u - MU * G * steps * H, abs=share * MU * G * steps * H)


def four_points(velocity, spin, duration, count=2000):
    """v and ω of a ball that slides on four points of a ring with a quarter of its weight each, by many small steps."""
    v, omega, h = np.array(velocity), np.array(spin), duration / count
    points = LENGTH / MU * np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]]) - [0.0, 0.0, RADIUS]
    for _ in range(count):
        slip = v + np.cross(omega, points)
        slip[:, 2] = 0.0
        force = -0.25 * MU * MASS * G * slip / np.linalg.norm(slip, axis=1)[:, None]
        v, omega = v + h * force.sum(axis=0) / MASS, omega + h * np.cross(points, force).sum(axis=0) / INERTIA
    return np.concatenate([v, omega])


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_slides_and_spins_converges_to_the_motion_of_four_points_that_share_the_load(solver):
    """Were the load left to some of the points, the motion would be another one at every step size."""
    velocity, spin, duration = [0.3, 0.2, 0.0], [5.0, 10.0, 60.0], 0.02
    exact = four_points(velocity, spin, duration)
    error = []
    for steps in (20, 40):
        spinning = ball(velocity=velocity, angular_velocity=spin)
        (motion,) = after(world(solver, spinning, step=duration / steps).compose(), steps)
        error.append(np.abs(motion - exact).max())
    assert error[1] <= 0.6 * error[0]  # of first order
    assert error[1] <= 0.01 * np.abs(exact[3:] - spin).max()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_turning_floor_takes_a_ball_along(solver):
    turns = {"kind": "ramp", "from": 0.0, "to": 1.0, "value": [0.0, 0.0, 5.5 * SLOWS * H]}
    simulation = world(solver, ball(), rotation_rpy=turns).compose()
    for gained in (1.0, 2.0, 3.0, 4.0, 5.0, 5.5, 5.5):
        (motion,) = after(simulation, 1)
        assert np.abs(motion - [0.0, 0.0, 0.0, 0.0, 0.0, gained * SLOWS * H]).max() <= NEAR


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_impact_takes_spin_by_its_impulse(solver):
    """Δω = ℓ·P/I with P = (1 + e)·m·|v_n|; the weight of the step adds to P."""
    simulation = world(
        solver, ball(velocity=[0.0, 0.0, -1.0], angular_velocity=[0.0, 0.0, 60.0]),
        contact={"impact": {"level": "velocity", "restitution": 0.5}},
    ).compose()  # fmt: skip
    (motion,) = after(simulation, 1)
    pushed = MASS * (1.5 + G * H)
    assert np.abs(motion - [0.0, 0.0, 0.5, 0.0, 0.0, 60.0 - LENGTH * pushed / INERTIA]).max() <= NEAR / RADIUS


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_ball_on_a_ball_spins_down_and_the_lower_one_is_held_by_the_floor(solver):
    """The floor holds up to twice the moment that the upper ball gives."""
    bodies = ball("low"), ball("high", 3.0 * RADIUS, angular_velocity=[0.0, 0.0, 20.0])
    low, high = after(world(solver, *bodies).compose(), 10)
    assert np.abs(low).max() <= 10 * NEAR / RADIUS
    assert np.abs(high - [0.0, 0.0, 0.0, 0.0, 0.0, 20.0 - 10 * H * SLOWS]).max() <= 10 * NEAR / RADIUS


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_box_on_four_corners_has_the_friction_of_all_their_points(solver):
    """μ·m·g times the mean distance of the corners' rings from its axis, in the first step, while it stands along x."""
    half, thin = 0.05, 0.01
    initial = {"position": [0.0, 0.0, thin], "angular_velocity": [0.0, 0.0, 10.0]}
    options = {"shape": "box", "size": [2 * half, 2 * half, 2 * thin], "mass": MASS}
    box = {"name": "box", "use": "rigid", "options": options, "friction": FRICTION, "initial": initial}
    (motion,) = after(world(solver, box).compose(), 1)
    ring = LENGTH / MU
    mean = 0.5 * (math.hypot(half + ring, half) + math.hypot(half - ring, half))
    slowed = MU * MASS * G * mean / (MASS * (2 * half) ** 2 / 6.0) * H
    # within the step the corners go round by 0.01 rad
    assert 10.0 - motion[5] == pytest.approx(slowed, rel=1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_islands_have_the_answer_of_one_problem(solver, monkeypatch):
    """Three columns of two balls, which slide, spin and roll: 36 points in three islands."""
    bodies = [
        ball(
            f"ball{k}", position=[0.11 * (k // 2), 0.0, RADIUS * (1 + 2 * (k % 2))], velocity=[0.3, 0.2, 0.0],
            angular_velocity=[1.0, 2.0, 20.0 + k], friction=BOTH,
        )
        for k in range(6)
    ]  # fmt: skip
    apart = after(world(solver, *bodies).compose(), 5)
    monkeypatch.setattr(assembly, "MANY_CONTACTS", 1000)
    whole = after(world(solver, *bodies).compose(), 5)
    assert np.abs(apart - whole).max() <= 5 * NEAR / RADIUS


@pytest.mark.parametrize("friction", [FRICTION, ROLLS, BOTH], ids=["torsional", "rolling", "both"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_collision_of_two_balls_keeps_momentum_and_takes_energy(solver, friction):
    """In free space, oblique, with any spins; forces act at points that are a gap of 1e-9 m apart at most."""
    random, gap = np.random.default_rng(5), 1e-9
    normal = random.normal(size=3)
    normal /= np.linalg.norm(normal)
    for level in ("position", "velocity"):
        velocity = 0.5 * normal + 0.2 * random.normal(size=3)
        spins = 20.0 * random.normal(size=(2, 3))
        one = ball(
            "one", friction=friction, position=[0.0, 0.0, 0.0], velocity=velocity, angular_velocity=spins[0]
        )
        place = (2.0 * RADIUS + gap) * normal
        other = ball("other", friction=friction, position=place, angular_velocity=spins[1])
        contact = {"impact": {"level": level}}
        simulation = world(
            solver,
            plain(one),
            plain(other),
            gravity=(0.0, 0.0, 0.0),
            position=[0.0, 0.0, -10.0],
            contact=contact,
        ).compose()
        start = np.stack([np.concatenate([velocity, spins[0]]), np.concatenate([np.zeros(3), spins[1]])])
        end = after(simulation, 4)
        centres = np.array([state.q[:3] for state in simulation.state.body_states])
        assert np.abs((end - start)[:, :3].sum(axis=0)).max() <= NEAR

        def turning(motion, at):
            return (MASS * np.cross(at, motion[:, :3]) + INERTIA * motion[:, 3:]).sum(axis=0)

        lost = turning(end, centres) - turning(start, np.stack([np.zeros(3), place]))
        assert np.abs(lost).max() <= MASS * (gap * np.abs(end).max() + RADIUS * NEAR)
        energies = [
            0.5 * MASS * (m[:, :3] ** 2).sum() + 0.5 * INERTIA * (m[:, 3:] ** 2).sum() for m in (start, end)
        ]
        assert energies[1] < 0.99 * energies[0]


def plain(body):
    """The table of a body with lists in place of arrays, as a file has it."""
    return body | {"initial": {key: np.asarray(value).tolist() for key, value in body["initial"].items()}}


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_world_of_all_kinds_of_contacts_goes_on_from_a_state_bit_for_bit(solver):
    """Contacts of one, three, four and six points, on their own and of a rod on its side."""
    spin = [5.0, 10.0, 60.0]
    capsule = {"shape": "capsule", "size": [0.02, 0.2], "mass": 0.1}
    lies = {
        "position": [0.3, 0.0, 0.02],
        "rotation_rpy": [0.5 * math.pi, 0.0, 0.0],
        "velocity": [0.3, 0.2, 0.0],
    }
    rod = {"name": "rod", "use": "rigid", "friction": BOTH, "options": capsule, "initial": lies}
    bodies = []
    for k, friction in enumerate((MU, ROLLS, FRICTION, BOTH)):
        start = {
            "position": [0.0, 0.101 * k, RADIUS],
            "velocity": [0.3, 0.1 * k, 0.0],
            "angular_velocity": spin,
        }
        bodies.append(ball(f"ball{k}", friction=friction, **start))
    whole, parted = (world(solver, *bodies, rod).compose() for _ in range(2))
    after(whole, 3)
    assert whole.system.record(by_point=True).count == 1 + 3 + 4 + 6 + 2 * 6
    assert whole.contacts().count == 1 + 1 + 1 + 1 + 2
    kept = whole.internal_state()
    after(whole, 3)
    parted.restore(kept)
    after(parted, 3)
    np.testing.assert_array_equal(parted.state.qv, whole.state.qv)


def wall_of_the_vine(friction):
    """A planar vine that grows against a wall: the contacts that push in its first steps, and the last state."""
    document = tomllib.loads((SCENARIOS / "vine" / "wall.toml").read_text(encoding="utf-8"))
    document["world"]["obstacles"][0]["friction"] = friction
    document["bodies"][0]["initial"]["grown_length"] = 0.343
    simulation = from_document(document).compose()
    records = []
    for _ in range(12):
        assert simulation.step().solve_info.status.solved
        records.append(simulation.contacts())
    assert not any(record.count > 1 for record in records)
    return [record for record in records if record.normal_impulse.any()], simulation.state


def test_in_a_plane_nothing_spins_about_a_normal():
    """So torsional friction changes nothing there, not even a bit."""
    (touched, state), (_, plain) = (
        wall_of_the_vine({"sliding": 0.1, "torsional": LENGTH}),
        wall_of_the_vine(0.1),
    )
    assert touched
    np.testing.assert_array_equal(state.qv, plain.qv)


def test_in_a_plane_links_roll_with_a_moment_up_to_the_rolling_length():
    """A vine that bends at a wall rolls on it as it slides."""
    sliding = 0.1  # with 0.3 the wall jams what slides along it at this angle, or opens: Painlevé's paradox
    touched, _ = wall_of_the_vine({"sliding": sliding, "rolling": 1e-3})
    shares = []
    for record in touched:
        shares.append(np.linalg.norm(record.moment_impulse) / (1e-3 * record.normal_impulse[0]))
        assert np.linalg.norm(record.tangential_impulse) <= sliding * record.normal_impulse[0] * (1.0 + NEAR)
    assert max(shares) == pytest.approx(1.0, abs=1e-6)


def test_what_cannot_carry_it_says_so():
    with pytest.raises(
        CompositionError,
        match="torsional and rolling friction ask for impulses, and the contact solver 'imc'",
    ):
        world("imc", ball()).compose()
    directional = {"forward": 0.2, "backward": 0.8, "sideways": 0.5, "axis": [1.0, 0.0, 0.0]}
    with pytest.raises(
        CompositionError, match="with Coulomb's law alone, found anisotropic-coulomb beside it"
    ):
        world("lcp", ball(), friction=directional).compose()
    rod = {
        "name": "rod", "use": "der", "friction": FRICTION, "base": {"position": [0.0, 0.0, 0.1]},
        "options": {
            "limbs": [
                {"name": "rod", "start": [0.0, 0.0, 0.0], "end": [0.1, 0.0, 0.0], "nodes": 3, "radius": [0.005],
                 "young": [1e6], "density": [1000.0]},
            ],
        },
    }  # fmt: skip
    with pytest.raises(CompositionError, match="those of body 'rod' touch by points that do not turn"):
        world("lcp", rod).compose()


@pytest.mark.parametrize(
    ("friction", "says"),
    [
        ({"torsional": 0.01}, "sliding with torsional, rolling or both, found torsional"),
        ({"sliding": 0.3}, "sliding with torsional, rolling or both, found sliding"),
        ({**FRICTION, "forward": 0.2}, "found forward, sliding, torsional"),
        ({"sliding": 0.3, "rolling": "0.1"}, "rolling must be a length >= 0"),
        ({"sliding": 0.0, "torsional": 0.01}, "sliding must be a number > 0"),
        ({"sliding": 0.3, "torsional": -0.01}, "torsional must be a length >= 0"),
        ({"sliding": 0.3, "torsional": math.nan}, "torsional must be a length >= 0"),
    ],
)
def test_a_mistaken_table_is_named(friction, says):
    with pytest.raises(ConfigError, match=says):
        world("lcp", {**ball(), "friction": friction})
