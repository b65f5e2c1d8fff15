"""Impacts at velocity level: one outcome wherever in a step they fall, that of a rigid body's impact law."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit.data.state import State
from corekit.data.status import Status
from corekit.errors import CompositionError, ConfigError
from corekit.registry.discover import discover
from corekit.scenario.load import from_document, load, loads

MASS, INERTIA, RADIUS, HALF, TILT, SPEED = 1.0, 0.004, 0.01, 0.1, math.radians(50), 1.0
PHASES = np.arange(10) / 10 + 0.05
VELOCITY = {"level": "velocity"}
INTEGRATORS = ["semi-implicit-euler", "implicit-euler", "implicit-midpoint", "verlet"]


def compose(
    bodies, *, step=1e-3, impact=None, solver="lcp", integrator="semi-implicit-euler", obstacles=None, **more
):
    document = {
        "format": "corekit-scenario/1", "name": "impact", "time": {"duration": 1.0, "step": step},
        "output": {"every": step}, "bodies": bodies, "integrator": {"use": integrator},
        "world": {
            "gravity": more.pop("gravity", [0.0, 0.0, 0.0]),
            "obstacles": [{"name": "floor", "shape": "half-space"}] if obstacles is None else obstacles,
        },
        "contact": {"detector": "sdf", "solver": {"use": solver}, **({"impact": impact} if impact else {}), **more},
    }  # fmt: skip
    return from_document(document).compose()


def rod(phase, step, slide=0.0):
    """A tilted rod that comes down at 1 m/s and touches the floor at a share of a step, after ten whole ones."""
    height = HALF * math.cos(TILT) + RADIUS + (10 + phase) * step * SPEED
    return {
        "name": "rod", "use": "rigid",
        "options": {"shape": "capsule", "size": [RADIUS, 2 * HALF], "mass": MASS, "inertia": [INERTIA] * 3},
        "initial": {
            "position": [0.0, 0.0, height], "rotation_rpy": [0.0, TILT, 0.0], "velocity": [slide, 0.0, -SPEED],
        },
    }  # fmt: skip


def after_impacts(step, friction, slide, **options):
    """(v_x, v_z, ω_y) two steps after the impact at every phase, and the deepest gap on the way."""
    simulation = compose([rod(PHASES[0], step, slide)], step=step, friction=friction, **options)
    now = simulation.state
    start = State(now.q.copy(), now.v.copy(), now.aux.copy())
    found, statuses, deepest = [], set(), 0.0
    for phase in PHASES:
        start.q[:3] = rod(phase, step)["initial"]["position"]
        simulation.reset(state=start)
        for _ in range(13):
            statuses.add(simulation.step().solve_info.status)
            deepest = min([deepest, *simulation.contacts().gap])
        found.append(simulation.state.v[[0, 2, 4]])
    assert statuses == {Status.CONVERGED}
    return np.array(found), deepest


def impact_law(friction, slide, restitution=0.0):
    """(v_x, v_z, ω_y) after the impact of the rod's end by Newton's and Coulomb's laws, enumerated."""
    # from the centre to the touching point; its velocity is (v_x + ω_y·z, v_z − ω_y·x)
    x, z = -HALF * math.sin(TILT), -HALF * math.cos(TILT) - RADIUS
    normal, tangent = np.array([0.0, 1.0, -x]), np.array([1.0, 0.0, z])
    inverse, before = np.diag([1 / MASS, 1 / MASS, 1 / INERTIA]), np.array([slide, -SPEED, 0.0])
    rows = np.stack([normal, tangent])
    delassus, wanted = rows @ inverse @ rows.T, np.array([restitution * SPEED, 0.0]) - rows @ before
    impulse = np.linalg.solve(delassus, wanted)
    if abs(impulse[1]) > friction * impulse[0]:
        for sign in (1.0, -1.0):
            along = np.array([1.0, -sign * friction])
            impulse = along * wanted[0] / (delassus[0] @ along)
            if sign * (rows @ before + delassus @ impulse)[1] > 0:
                break
    return before + inverse @ rows.T @ impulse


@pytest.mark.parametrize("solver", ["lcp", "qp"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    ("friction", "slide"), [(0.5, 0.3), (0.2, 0.3), (1.0, 0.0)], ids=["turns", "slips", "sticks"]
)
def test_the_outcome_is_that_of_the_impact_law_at_every_phase(friction, slide, integrator, solver):
    """The arm of the contact and the turn of two steps are off by h·|v|/L, so halving h halves all errors."""
    exact = impact_law(friction, slide)
    errors = []
    for step in (1e-3, 2.5e-4):
        options = {"impact": VELOCITY, "integrator": integrator, "solver": solver}
        outcome, deepest = after_impacts(step, friction, slide, **options)
        assert deepest >= -step * SPEED
        energy = 0.5 * outcome**2 @ [MASS, MASS, INERTIA]
        assert energy.max() < 0.5 * MASS * (slide**2 + SPEED**2)
        errors.append(np.abs(outcome - exact).max())
    assert errors[0] < 10 * 1e-3 * SPEED / HALF * np.abs(exact).max()
    assert errors[1] < 0.3 * errors[0]


def test_at_position_level_the_outcome_depends_on_the_phase_at_every_step_size():
    """Why it is not the default; the papers' form."""
    for step in (1e-3, 2.5e-4):
        outcome, _ = after_impacts(step, 0.5, 0.3, impact={"level": "position"})
        assert np.ptp(outcome, axis=0)[2] > 0.3


@pytest.mark.parametrize("restitution", [0.3, 1.0])
def test_a_rod_separates_as_fast_as_restitution_says(restitution):
    exact = impact_law(0.5, 0.3, restitution)
    found, _ = after_impacts(2.5e-4, 0.5, 0.3, impact={**VELOCITY, "restitution": restitution})
    assert np.abs(found - exact).max() < 10 * 2.5e-4 * SPEED / HALF * np.abs(exact).max()


def ball(name, position, velocity):
    return {
        "name": name, "use": "rigid", "options": {"shape": "sphere", "size": [0.1], "mass": MASS},
        "initial": {"position": position, "velocity": velocity},
    }  # fmt: skip


def test_every_pair_has_its_own_restitution():
    """Two balls meet head on, and each comes back to its wall: e of the pair first, then that of ball and wall."""
    bodies = [
        ball("one", [-0.203, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ball("two", [0.203, 0.0, 0.0], [-1.0, 0.0, 0.0]),
    ]
    wall = {
        "name": "wall",
        "shape": "half-space",
        "position": [-0.4, 0.0, 0.0],
        "rotation_rpy": [0, math.pi / 2, 0],
    }
    impact = {**VELOCITY, "restitution": 0.25, "pairs": [{"between": ["two", "one"], "value": 0.8}]}
    simulation = compose(bodies, obstacles=[wall], impact=impact)
    simulation.run(0.11)
    np.testing.assert_allclose(simulation.state.v[[0, 6]], [-0.8, 0.8], rtol=1e-12)
    simulation.run(0.4)
    np.testing.assert_allclose(simulation.state.v[[0, 6]], [0.2, 0.8], rtol=1e-12)


@pytest.mark.parametrize("solver", ["lcp", "qp", "cone"])
@pytest.mark.parametrize("integrator", [*INTEGRATORS, "rk23"])
def test_an_impact_leaves_the_ball_on_the_floor_wherever_in_a_step_it_falls(integrator, solver):
    """It fell to a depth of ½·h·|v| where coordinates follow the mean velocity of the step."""
    simulation = compose(
        [ball("ball", [0.0, 0.0, 0.2], [0.3, 0.0, -1.0])], integrator=integrator, solver=solver
    )
    now = simulation.state
    start = State(now.q.copy(), now.v.copy(), now.aux.copy())
    for phase in PHASES:
        start.q[2] = 0.1 + (3 + phase) * 1e-3
        simulation.reset(state=start)
        for _ in range(6):
            simulation.step()
        assert abs(simulation.state.q[2] - 0.1) < 1e-11
        assert abs(simulation.state.v[2]) < 1e-12


@pytest.mark.parametrize("integrator", ["implicit-midpoint", "verlet"])
def test_two_balls_that_meet_on_a_third_end_side_by_side(integrator):
    """The chain of contacts is placed at once: no pair is deeper than the curvature of three paths."""
    bodies = [
        ball("low", [0.0, 0.0, 0.1], [0.0, 0.0, 0.0]),
        ball("left", [-0.1007, 0.0, 0.3], [0.5, 0.0, -2.0]),
        ball("right", [0.1009, 0.0, 0.3], [-0.5, 0.0, -2.0]),
    ]
    simulation = compose(bodies, integrator=integrator, gravity=[0.0, 0.0, -9.81])
    simulation.run(0.1)
    q = simulation.state.q.reshape(3, 7)[:, :3]
    distances = [np.linalg.norm(q[i] - q[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert min(distances) > 0.2 - 1e-4
    assert q[:, 2].min() > 0.1 - 1e-6


def test_a_moving_floor_hits_with_its_own_velocity():
    path = {"kind": "table", "times": [0.0, 1.0], "values": [[0.0, 0.0, -0.05], [0.0, 0.0, 0.95]]}
    floor = {"name": "floor", "shape": "box", "size": [1.0, 1.0, 0.02], "position": path}
    impact = {**VELOCITY, "restitution": 0.5}
    simulation = compose([ball("ball", [0.0, 0.0, 0.1], [0.0, 0.0, 0.0])], obstacles=[floor], impact=impact)
    simulation.run(0.06)
    assert simulation.state.v[2] == pytest.approx(1.5, rel=1e-12)


def energy_of(simulation):
    """Of the one body [J]."""
    return sum(simulation.bodies[0].model.compute_energies(simulation.state.body_states[0]))


@pytest.mark.parametrize("level", ["position", "velocity"])
@pytest.mark.parametrize(("seed", "friction"), [(16, 0.0), (23, 0.0), (5, 0.5), (10, 0.5)])
def test_no_step_of_a_thrown_box_adds_more_energy_than_its_turning_corners_explain(level, seed, friction):
    """A row wants c = ½·h·ω²·r at most, whose impulse adds c²/(2W), W ≥ 1/m: second order in h, none in free flight."""
    rng, mass, step = np.random.default_rng(seed), 0.5, 1e-3
    edges = [0.2, 0.1, 0.04]
    initial = {
        "position": [0.0, 0.0, 0.15], "rotation_rpy": rng.uniform(-3, 3, 3).tolist(),
        "velocity": [*rng.uniform(-1, 1, 2), -1.0], "angular_velocity": rng.uniform(-20, 20, 3).tolist(),
    }  # fmt: skip
    options = {"shape": "box", "size": edges, "mass": mass}
    body = {"name": "box", "use": "rigid", "options": options, "initial": initial}
    simulation = compose(
        [body], integrator="implicit-euler", friction=friction, gravity=[0, 0, -9.81], impact={"level": level}
    )
    corner, energy = 0.5 * math.hypot(*edges), energy_of(simulation)
    for _ in range(250):
        fastest = math.hypot(*simulation.state.v[3:])
        simulation.step()
        now = energy_of(simulation)
        assert now - energy < 0.5 * mass * (0.5 * step * fastest**2 * corner) ** 2 + 1e-12
        energy = now


def test_a_bouncing_ball_rises_to_the_square_of_restitution_and_comes_to_rest():
    """The highest point after the first bounce is e²·height; the last bounces are slower than g·h, and it rests."""
    start = ball("ball", [0.0, 0.0, 0.3], [0.0, 0.0, 0.0])
    options = {"gravity": [0.0, 0.0, -9.81], "impact": {**VELOCITY, "restitution": 0.6}}
    simulation = compose([start], step=1e-4, **options)
    heights = []
    while simulation.time < 0.5:
        simulation.step()
        heights.append(simulation.state.q[2] - 0.1)
    lowest = int(np.argmin(heights[:2500]))
    # g·h·T of semi-implicit Euler, and h·|v| of the place of the impact
    assert max(heights[lowest:]) == pytest.approx(0.36 * 0.2, abs=2 * 1e-4 * 2.0)
    # e = 0.6 makes its time until rest 0.8 s
    simulation.run(1.0)
    assert abs(simulation.state.v[2]) < 1e-12
    assert simulation.state.q[2] == pytest.approx(0.1, abs=1e-12)


def test_a_box_lands_flat_and_rests_without_drift():
    options = {"shape": "box", "size": [0.2, 0.2, 0.1], "mass": MASS}
    initial = {"position": [0.0, 0.0, 0.0603], "velocity": [0.2, 0.0, 0.0]}
    body = {"name": "box", "use": "rigid", "options": options, "initial": initial}
    simulation = compose([body], friction=0.5, gravity=[0.0, 0.0, -9.81], impact=VELOCITY)
    simulation.run(0.5)
    resting = simulation.state.q.copy()
    simulation.run(1.0)
    assert np.abs(simulation.state.q - resting).max() < 1e-9
    assert simulation.state.q[2] == pytest.approx(0.05, abs=1e-6)


def test_saving_and_restoring_around_an_impact_changes_no_bit():
    one, other = (compose([rod(0.5, 1e-3, 0.3)], friction=0.5, impact=VELOCITY) for _ in range(2))
    for _ in range(30):
        one.step()
        other.step()
        other.restore(other.internal_state())
        assert one.state.v.tobytes() == other.state.v.tobytes()


def test_restitution_at_position_level_and_unknown_names_are_mistakes():
    pairs = [{"between": ["rod", "flor"], "value": 0.5}]
    with pytest.raises(ConfigError, match=r"contact\.impact\.restitution.*impact\.level = 'position' out"):
        compose([rod(0.0, 1e-3)], impact={"level": "position", "restitution": 0.5})
    with pytest.raises(ConfigError, match=r"contact\.impact\.pairs\[0\]\.between\[1\].*floor"):
        compose([rod(0.0, 1e-3)], impact={**VELOCITY, "pairs": pairs})


@pytest.mark.parametrize(
    "impact", [VELOCITY, {"restitution": 0.5}, {"pairs": [{"between": ["rod", "floor"], "value": 0.5}]}]
)
def test_a_contact_potential_has_no_impact_to_resolve(impact):
    assert "imc" in {row.name for row in discover()}
    with pytest.raises(CompositionError, match=r"contact\.impact asks for impulses"):
        compose([rod(0.0, 1e-3)], impact=impact, solver="imc")


def test_impacts_end_at_velocity_level_by_default():
    chosen, default = (
        compose([rod(0.5, 1e-3, 0.3)], friction=0.5, impact=impact) for impact in (VELOCITY, None)
    )
    other = compose([rod(0.5, 1e-3, 0.3)], friction=0.5, impact={"level": "position"})
    for simulation in (chosen, default, other):
        simulation.run(0.02)
    assert chosen.state.v.tobytes() == default.state.v.tobytes() != other.state.v.tobytes()


def test_places_are_solved_as_well_as_they_are_asked_for():
    """A rod comes to rest on a cylinder: what it sinks in a step is 1e-9 m, far below what `qp` solves for exactly."""
    simulation = load(
        "matrix/der",
        ['contact.solver={use="qp"}', "integrator={use='verlet'}", "time.step=3.333333333333333e-4"],
    ).compose()
    for _ in range(500):
        assert simulation.step().solve_info.status.solved
    assert simulation.contacts().count
    assert min(simulation.contacts().gap) > -1e-5


@pytest.mark.parametrize("restitution", [0.0, 0.8])
def test_an_impact_changes_no_body_that_nothing_connects_with_it(restitution):
    """A rod falls over its end; alone, and while balls land ten metres away, in a step each."""

    def fallen(balls):
        lean = 0.4
        rod = {
            "name": "rod", "use": "rigid", "options": {"shape": "capsule", "size": [0.02, 0.5], "mass": 1.0},
            "initial": {
                "position": [0.25 * math.sin(lean), 0.0, 0.02 + 0.25 * math.cos(lean)],
                "rotation_rpy": [0.0, lean, 0.0], "angular_velocity": [0.0, 1.0, 0.0],
                "velocity": [0.25 * math.cos(lean), 0.0, -0.25 * math.sin(lean)],
            },
        }  # fmt: skip
        far = [
            {
                "name": f"ball{k}", "use": "rigid", "options": {"shape": "sphere", "size": [0.03], "mass": 1.0},
                "initial": {"position": [9.6 + 0.07 * k, 0.0, 0.03 + 0.0127 * (k + 1)], "velocity": [0.0, 0.0, -1.0]},
            }
            for k in range(balls)
        ]  # fmt: skip
        impact = {"level": "velocity", "restitution": restitution}
        simulation = compose([rod, *far], impact=impact, friction=0.3, gravity=[0.0, 0.0, -9.81])
        simulation.run(0.15)
        return simulation.state.q[:7], simulation.state.v[:6]

    alone, watched = fallen(0), fallen(6)
    np.testing.assert_allclose(watched[0], alone[0], atol=1e-11)
    np.testing.assert_allclose(watched[1], alone[1], atol=1e-9)


RESTING = """
format = "corekit-scenario/1"
name = "welded"
time = { duration = 0.5, step = 1e-3 }
world.obstacles = [{ name = "ground", shape = "half-space", friction = 0.3 }]

[[bodies]]
name = "box"
use = "rigid"
base = { position = [0.0, 0.0, 0.05] }
options = { shape = "box", size = [0.1, 0.1, 0.1], mass = 1.0 }

[[bodies]]
name = "ball"
use = "rigid"
base = { position = [0.0, 0.0, 0.3] }
options = { shape = "sphere", size = [0.02], mass = 0.5 }

[[joints]]
name = "weld"
kind = "weld"
between = ["ball.body", "box.body"]

[contact]
detector = { use = "sdf" }
solver = { use = "lcp" }
impact = { level = "velocity" }

[integrator]
use = "semi-implicit-euler"
"""


def test_a_joint_s_force_is_that_of_the_step_though_contacts_were_solved_again():
    """In the first step the ground begins to push, which may be an impact; the weld holds m·g all the time."""
    for name in ("rigid", "sdf", "lcp", "timestep"):
        pytest.importorskip(f"corekit_{name}")
    simulation = loads(RESTING).compose()
    for _ in range(3):
        simulation.step()
        assert simulation.joint_force("weld").force == pytest.approx([0.0, 0.0, 0.5 * 9.81], abs=1e-9)
