"""Friction forward, backward and sideways of an axis, by every contact solver that supports it.

A block of mass m that slides at u in a direction with the coefficient μ slows down by μ·g, and one that is pulled by
m·a stays if a ≤ μ·g. In every other direction it dissipates the most of what is admissible, (3) of
`corekit.roles.friction`.
"""

import math
from pathlib import Path

import numpy as np
import pytest

import corekit
from corekit.errors import CompositionError, ConfigError, StaticsFailed
from corekit.scenario.load import from_document, loads

G, H, DURATION = 9.81, 1e-3, 0.1
COEFFICIENTS = {"forward": 0.2, "backward": 0.8, "sideways": 0.5}
ON_BODY = {**COEFFICIENTS, "axis": [1.0, 0.0, 0.0]}
SOLVERS = ["lcp", "qp"]
VINE = Path(__file__).parents[2] / "scenarios" / "vine"
DIRECTIONS = {"forward": (1.0, 0.0), "backward": (-1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}
RESISTS = {"forward": 0.2, "backward": 0.8, "left": 0.5, "right": 0.5}

NEAR = 1e-8
"""Residual of a solved problem in each of a run's 100 steps, m/s; they stick or slide alike, so that it adds up."""


def block(
    solver, velocity, *, yaw=0.0, friction=ON_BODY, floor=None, pull=(0.0, 0.0), pairs=(), options=None
):
    """A flat block of 1 kg on a floor that does not tip over, turned by `yaw` [rad]."""
    return from_document(
        {
            "format": "corekit-scenario/1",
            "name": "block",
            "time": {"duration": DURATION, "step": H},
            "world": {
                "gravity": [*pull, -G],
                "obstacles": [
                    {"name": "floor", "shape": "half-space", **({"friction": floor} if floor else {})}
                ],
                "friction": list(pairs),
            },
            "bodies": [
                {
                    "name": "block",
                    "use": "rigid",
                    "base": {"position": [0.0, 0.0, 0.005], "rotation_rpy": [0.0, 0.0, yaw]},
                    "options": {"shape": "box", "size": [0.2, 0.2, 0.01], "mass": 1.0},
                    "initial": {"velocity": [*velocity, 0.0]},
                    **({"friction": friction} if friction else {}),
                }
            ],
            "contact": {"detector": {"use": "sdf"}, "solver": {"use": solver, "options": options or {}}},
            "integrator": {"use": "semi-implicit-euler"},
            "output": {"every": 0.01},
        }
    )


def turned(direction, yaw):
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([c * direction[0] - s * direction[1], s * direction[0] + c * direction[1]])


def velocity_after(scenario):
    simulation = scenario.compose()
    simulation.run(DURATION)
    return simulation.state.v[:3].copy()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("yaw", [0.0, 0.7])
@pytest.mark.parametrize("way", DIRECTIONS)
def test_a_block_slows_down_by_the_coefficient_of_its_direction(solver, yaw, way):
    direction = turned(DIRECTIONS[way], yaw)
    after = velocity_after(block(solver, direction, yaw=yaw))
    speed = 1.0 - RESISTS[way] * G * DURATION
    np.testing.assert_allclose(after, [*(speed * direction), 0.0], atol=100 * NEAR)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("way", DIRECTIONS)
def test_a_block_sticks_up_to_the_coefficient_of_the_pull(solver, way):
    limit = RESISTS[way] * G
    for share in (0.99, 1.01):
        pull = share * limit * turned(DIRECTIONS[way], 0.7)
        after = velocity_after(block(solver, (0.0, 0.0), yaw=0.7, pull=pull))
        expected = max(0.0, share - 1.0) * limit * DURATION * turned(DIRECTIONS[way], 0.7)
        np.testing.assert_allclose(after, [*expected, 0.0], atol=100 * NEAR)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("way", DIRECTIONS)
def test_statics_holds_a_block_up_to_the_coefficient_of_the_pull(solver, way):
    """The floor has the axis: a block that had it would be held, turned to where it resists more."""
    resists = {**RESISTS, "forward": RESISTS["backward"], "backward": RESISTS["forward"]}
    for share in (0.99, 1.01):
        pull = share * resists[way] * G * np.array(DIRECTIONS[way])
        scenario = block(solver, (0.0, 0.0), friction=None, floor=ON_BODY, pull=pull)
        if share < 1.0:
            assert scenario.statics()
        else:
            with pytest.raises(StaticsFailed, match="no equilibrium"):
                scenario.statics()


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_axis_of_an_obstacle_is_its_own(solver):
    """On nap that lies along +x the block is held back by the nap's forward coefficient where it slides to −x."""
    for way, resisted in (("forward", "backward"), ("backward", "forward"), ("left", "left")):
        after = velocity_after(block(solver, DIRECTIONS[way], friction=None, floor=ON_BODY))
        speed = 1.0 - RESISTS[resisted] * G * DURATION
        np.testing.assert_allclose(after, [*(speed * np.array(DIRECTIONS[way])), 0.0], atol=100 * NEAR)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_pair_refers_to_the_axis_of_the_first_one_named(solver):
    for between, resisted in ((["block", "floor"], "forward"), (["floor", "block"], "backward")):
        pairs = [{"between": between, "value": ON_BODY}]
        after = velocity_after(block(solver, (1.0, 0.0), friction=0.3, pairs=pairs))
        np.testing.assert_allclose(after, [1.0 - RESISTS[resisted] * G * DURATION, 0.0, 0.0], atol=100 * NEAR)


@pytest.mark.parametrize("solver", SOLVERS)
def test_equal_coefficients_are_coulombs_law(solver):
    """Along the axis, which is the tangent that a floor gives its contacts anyway."""
    alike = {"forward": 0.3, "backward": 0.3, "sideways": 0.3, "axis": [1.0, 0.0, 0.0]}
    plain, directional = (velocity_after(block(solver, (1.0, 0.4), friction=each)) for each in (0.3, alike))
    np.testing.assert_allclose(plain, directional, atol=100 * NEAR)


@pytest.mark.parametrize("solver", SOLVERS)
def test_oblique_slip_turns_to_where_resistance_is_least(solver):
    """In one step λ_t = −λ_n·A²w/|A·w|, up to the inscribed polygon of 64 corners.

    Of a polygon with r corners on the image A·e(φ) of the circle the best corner is at most π/r from the best φ.
    """
    corners, speed = 64, 3.0
    for angle in (0.3, 1.2, 2.0, 2.9):
        free = speed * np.array([math.cos(angle), math.sin(angle)])
        simulation = block(solver, free, options={"friction_directions": corners}).compose()
        simulation.run(H)
        after = simulation.state.v[:2]
        stretch = np.array([0.2 if after[0] >= 0.0 else 0.8, 0.5])
        stretched = stretch * after
        expected = -stretch * stretched / np.linalg.norm(stretched)
        found = (after - free) / (G * H)
        np.testing.assert_allclose(found, expected, atol=0.8 * math.pi / corners + NEAR / (G * H))


@pytest.mark.parametrize("aligned", [False, True])
def test_aligned_pyramids_are_exact_for_straight_slip_at_any_angle(aligned):
    """λ_t of a first step against (3): exact with a corner that the free slip asks for, else within the polygon."""
    free = 3.0 * np.array([math.cos(0.5), math.sin(0.5)])
    options = {"friction_directions": 4, "aligned": aligned}
    simulation = block("lcp", free, options=options).compose()
    simulation.run(H)
    stretch = np.array([0.2, 0.5])
    expected = -stretch * (stretch * free) / np.linalg.norm(stretch * free)
    off = np.abs((simulation.state.v[:2] - free) / (G * H) - expected).max()
    assert (off <= NEAR / (G * H)) == aligned


def test_what_a_solver_does_not_support_is_refused_in_one_sentence():
    with pytest.raises(CompositionError) as refused:
        block("imc", (1.0, 0.0)).compose()
    said = str(refused.value)
    assert "bodies.block.friction asks for 'anisotropic-coulomb'" in said
    assert "'imc' does not support" in said
    assert "lcp, qp" in said


def test_mistakes_in_a_table_are_reported_with_their_path():
    wrong = {"forward": 0.2, "backward": -0.8, "sideways": 0.5}
    with pytest.raises(ConfigError) as refused:
        block("lcp", (1.0, 0.0), friction=wrong, floor={"forward": 0.2})
    paths = {each.path for each in refused.value.mistakes}
    assert paths == {"bodies[0].friction", "world.obstacles[0].friction"}


def test_a_box_without_axis_is_refused():
    with pytest.raises(CompositionError, match=r"a box has no axis: give `axis = \[x, y, z\]`"):
        block("lcp", (1.0, 0.0), friction=COEFFICIENTS).compose()


def test_a_table_comes_back_from_the_resolved_scenario():
    scenario = block("lcp", (1.0, 0.0))
    assert loads(scenario.resolved_text()).bodies[0].friction == scenario.bodies[0].friction


def vine(solver, shapes, friction):
    """The slip of every loaded contact, and where a vine is that grew along a wall for 1.2 s."""
    overrides = [
        f"bodies[0].friction={friction}", f"bodies[0].options.collision={shapes}", f"contact.solver.use={solver}",
        "contact.solver.options={}",
    ]  # fmt: skip
    simulation = corekit.load(VINE / "wall.toml", overrides).compose()
    slips = []

    def look(run, _):
        record = run.contacts()
        slips.extend(record.slip[record.normal_impulse > 0.0, 0].tolist())

    simulation.observe(look)
    simulation.run(1.2)
    return np.array(slips), simulation.state.q.copy()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("shapes", "axis"), [("points", "axis=[1.0,0.0,0.0],"), ("links", "")])
def test_a_vine_that_slides_forward_in_its_plane_feels_the_forward_coefficient(solver, shapes, axis):
    """An edge's axis leads from end to end; `qp` solves steps unreduced. Both runs are within 1e-8 m/s for 1.2 s."""
    _, plain = vine(solver, shapes, "0.1")
    slips, directional = vine(solver, shapes, f"{{{axis}forward=0.1,backward=0.6,sideways=0.3}}")
    assert slips.min() >= -NEAR
    assert slips.max() > 0.1
    np.testing.assert_allclose(directional, plain, atol=1.2 * NEAR)


def test_an_axis_across_a_planar_world_is_refused():
    with pytest.raises(CompositionError, match=r"axis of the friction of 'robot' leaves its plane"):
        vine("lcp", "points", "{axis=[0.0,0.0,1.0],forward=0.1,backward=0.6,sideways=0.3}")
