"""An implicit step with an impact is as exact as its tolerance says: units, left and right do not count."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corekit.data.status import Status
from corekit.scenario.load import from_document
from corekit_testing.worlds.drawing import make_world

STEP, STEPS = 2e-3, 100
SHAPES = {"cylinder": [0.03, 0.06], "capsule": [0.02, 0.06], "box": [0.06, 0.04, 0.03]}
MIRROR = np.array([-1.0, 1.0, 1.0])
WORLDS = [("cylinder", "cone", 0.4), ("capsule", "cone", 0.4), ("capsule", "lcp", 0.0), ("box", "lcp", 0.0)]
"""Shape, solver and friction of worlds whose impulses are unique, and which prefer no direction of the floor."""


def thrown(shape, solver, friction, integrator, *, mirrored=False, units=(1.0, 1.0), **options):
    """A tumbling body that falls on the floor; `units` are those of length and mass."""
    length, mass = units
    mirror = MIRROR if mirrored else np.ones(3)
    turn = Rotation.from_euler("xyz", [0.3, 0.4, 0.1]).as_matrix() * np.outer(mirror, mirror)
    body = {
        "name": "body", "use": "rigid",
        "options": {"shape": shape, "size": [length * size for size in SHAPES[shape]], "mass": mass * 0.2},
        "initial": {
            "position": [0.0, 0.0, length * 0.1],
            "velocity": (length * mirror * [0.3, 0.1, 0.0]).tolist(),
            "angular_velocity": (mirror.prod() * mirror * [3.0, -4.0, 2.0]).tolist(),
            "rotation_rpy": Rotation.from_matrix(turn).as_euler("xyz").tolist(),
        },
    }  # fmt: skip
    contact = {
        "detector": "sdf", "friction": friction, "solver": solver, "margin": length * 1e-3,
        "stabilisation": {"approach": 1.0, "push_out": 20.0, "cap": length * 0.5},
    }  # fmt: skip
    floor = {"name": "floor", "shape": "half-space"}
    document = {
        "format": "corekit-scenario/1", "name": "thrown", "time": {"duration": 1.0, "step": STEP},
        "world": {"gravity": [0.0, 0.0, -9.81 * length], "obstacles": [floor]}, "bodies": [body],
        "integrator": {"use": integrator, "options": options}, "contact": contact,
    }  # fmt: skip
    return from_document(document).compose()


def without_memory_of_newton(state):
    return {name: array for name, array in state.items() if not name.startswith("integrator")}


@pytest.mark.parametrize("integrator", ["implicit-euler", "implicit-midpoint"])
@pytest.mark.parametrize(("shape", "solver", "friction"), WORLDS)
def test_every_step_is_as_exact_as_its_tolerance_says_whatever_newton_s_method_did(
    shape, solver, friction, integrator
):
    """Each step against the same one to 1e-13. Impulses that are solved anew multiply an error by m·r²/I, below ten."""
    tolerance = 1e-8
    asked = thrown(shape, solver, friction, integrator, tolerance=tolerance)
    exact = thrown(shape, solver, friction, integrator, tolerance=1e-13, reuse=0.0)
    hits = 0
    for _ in range(STEPS):
        exact.restore(exact.internal_state() | without_memory_of_newton(asked.internal_state()))
        report = asked.step()
        exact.step()
        assert report.solve_info.status is Status.CONVERGED
        hits += bool(asked.contacts().normal_impulse.any())
        # the tolerance is one of the surface's speed: an angular velocity counts at its radius
        scale = asked.system.velocity_scale
        assert scale is not None
        found, wanted = scale * asked.state.v, scale * exact.state.v
        assert np.abs(found - wanted).max() < 10.0 * tolerance * (1.0 + np.abs(wanted).max())
    assert hits > 5


def path(*world, **how):
    """Places (n, 3) and axes (n, 3, 3) of the body after every step, and its largest velocity."""
    simulation, places, axes, fastest = thrown(*world, **how), [], [], 0.0
    for _ in range(STEPS):
        simulation.step()
        frame = simulation.frame("body.body")
        places.append(frame.position)
        axes.append(frame.rotation)
        fastest = max(fastest, np.abs(simulation.state.v).max())
    return np.array(places), np.array(axes), fastest


def bound(tolerance, fastest):
    """What errors of all steps add up to in their time [m], ten times more where impacts multiply them.

    Of axes it is this at an arm of 1 cm.
    """
    return 10.0 * STEPS * tolerance * (1.0 + fastest) * STEPS * STEP


@pytest.mark.parametrize("integrator", ["implicit-euler", "implicit-midpoint"])
@pytest.mark.parametrize(("shape", "solver", "friction"), WORLDS)
def test_millimetres_and_grams_change_nothing(shape, solver, friction, integrator):
    world = (shape, solver, friction, integrator)
    (here, axes, fastest), (there, axes_there, _) = (
        path(*world, units=units, tolerance=1e-12) for units in ((1.0, 1.0), (1e3, 1e3))
    )
    assert np.abs(there / 1e3 - here).max() < bound(1e-12, fastest)
    assert np.abs(axes_there - axes).max() < bound(1e-12, fastest) / 0.01


@pytest.mark.parametrize(
    "integrator", ["implicit-euler", "implicit-midpoint", "semi-implicit-euler", "verlet"]
)
@pytest.mark.parametrize(("shape", "solver", "friction"), WORLDS)
def test_a_mirrored_world_moves_as_the_mirror_shows(shape, solver, friction, integrator):
    options = {"tolerance": 1e-12} if integrator.startswith("implicit") else {}
    (here, axes, fastest), (there, axes_there, _) = (
        path(shape, solver, friction, integrator, mirrored=mirrored, **options) for mirrored in (False, True)
    )
    assert np.abs(there * MIRROR - here).max() < bound(1e-12, fastest)
    assert np.abs(axes_there * np.outer(MIRROR, MIRROR) - axes).max() < bound(1e-12, fastest) / 0.01


@pytest.mark.parametrize("integrator", ["implicit-euler", "implicit-midpoint"])
def test_a_run_that_is_restored_after_every_step_is_the_same(integrator):
    """What an impact factorises replaces the matrix that the integrator keeps."""
    whole, restored = (thrown("cylinder", "cone", 0.4, integrator) for _ in range(2))
    for _ in range(STEPS):
        restored.restore(whole.internal_state())
        whole.step()
        restored.step()
        assert restored.state.v.tobytes() == whole.state.v.tobytes()


@pytest.mark.parametrize(
    ("seed", "bodies", "obstacles", "gravity", "step", "solver", "friction", "restitution"),
    [
        (100599, ["gvs", "rigid"], ["box", "sphere", "floor"], True, 2e-3, "cone", 0.0, 0.0),
        (101048, ["gvs"], ["box"], True, 4e-3, "qp", 0.5, 0.0),
        (101303, ["gvs"], ["sphere", "floor", "box"], False, 2e-3, "cone", 0.0, 0.5),
    ],
)
def test_the_impact_of_a_rod_whose_mass_matrix_changes_is_solved(
    seed, bodies, obstacles, gravity, step, solver, friction, restitution
):
    """With the tangent of forces alone iterates contracted by 0.3 to 0.5 or went round, and the limit came first."""
    for needed in ("gvs", "mpr", solver):
        pytest.importorskip(f"corekit_{needed}")
    contact = {"solver": {"use": solver, "options": {"tolerance": 1e-9}}, "friction": friction}
    integrator = {"use": "implicit-euler", "options": {"tolerance": 1e-9}}
    world = make_world(seed, bodies, obstacles, gravity, step, contact, integrator, restitution)
    simulation = from_document(world).compose()
    for _ in range(20):
        assert simulation.step().solve_info.status is Status.CONVERGED


def test_a_step_whose_impact_has_no_solution_balances_at_position_level_and_says_so():
    """A growing chain whose tip friction jams along its axis: iterates of the velocity level went round, and the last
    one was kept with 6e-5 N·s out of balance."""
    for needed in ("vine", "der", "mpr", "qp"):
        pytest.importorskip(f"corekit_{needed}")
    tight = {"tolerance": 1e-9}
    contact = {"solver": {"use": "qp", "options": tight}, "friction": 0.5}
    integrator = {"use": "implicit-midpoint", "options": tight}
    bodies = ["vine", "der", "vine", "vine"]
    world = make_world(1194, bodies, ["floor", "sphere"], True, 1e-3, contact, integrator, 0.0)
    simulation = from_document(world).compose()
    for _ in range(20):
        info = simulation.step().solve_info
        assert info.status in (Status.CONVERGED, Status.ITERATION_LIMIT)
        assert info.residuals.equation < 1e-9
