"""Contacts give no body a speed that nothing in the step explains, and what has no answer is said by name."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corekit.data.status import Status
from corekit.errors import CompositionError
from corekit.scenario.load import from_document

TURN = Rotation.from_euler("xyz", [1.268741495724822, -0.1803705048359372, 0.6906952068902338])
SCHEMES = ["semi-implicit-euler", "implicit-euler", "implicit-midpoint", "verlet"]


def compose(bodies, obstacles, integrator="semi-implicit-euler", solver="cone", gravity=(0.0, 0.0, -9.81)):
    document = {
        "format": "corekit-scenario/1", "name": "energy", "time": {"duration": 1.0, "step": 1e-3},
        "world": {"gravity": list(gravity), "obstacles": obstacles}, "bodies": bodies,
        "integrator": {"use": integrator},
        "contact": {"detector": ["sdf", "mpr"], "friction": 0.2, "solver": solver},
    }  # fmt: skip
    return from_document(document).compose()


def placed(position):
    return {"position": TURN.apply(position).tolist(), "rotation_rpy": TURN.as_euler("xyz").tolist()}


def vine(**options):
    return {
        "name": "vine", "use": "vine", "base": placed([0.0, 0.0, 0.0]),
        "options": {
            "bodies": 12, "length": 0.24, "diameter": 0.02, "heading": 0.4, "bending_stiffness": 0.005,
            "bending_damping": 0.001, **options,
        },
    }  # fmt: skip


@pytest.mark.parametrize("solver", ["cone", "lcp", "qp"])
@pytest.mark.parametrize("integrator", SCHEMES[:3])  # the vine is too stiff for an explicit one
def test_what_moves_in_a_plane_is_not_pushed_out_of_it(integrator, solver):
    """A wall along the plane of a vine, turned so that nothing is exact, overlaps the tube by 2 mm."""
    for name in ("vine", "sdf", "mpr", solver, "timestep"):
        pytest.importorskip(f"corekit_{name}")
    probe = compose([vine()], [])
    plane = probe.bodies[0].description.plane
    assert plane is not None
    across = np.cross(plane[1], plane[2])
    centre = np.mean(
        [probe.frame(f"vine.{frame}").position for frame in probe.bodies[0].description.frames], axis=0
    )
    turned, _ = Rotation.align_vectors([across], [[0.0, 0.0, 1.0]])
    wall = {
        "name": "wall", "shape": "box", "size": [2.0, 2.0, 0.05],
        "position": (centre - across * (0.025 + 0.008)).tolist(),
        "rotation_rpy": turned.as_euler("xyz").tolist(),
    }  # fmt: skip
    free, beside = (
        compose([vine()], obstacles, integrator, solver, TURN.apply([0.3, 0.0, -9.8]))
        for obstacles in ([], [wall])
    )
    for _ in range(50):
        free.step()
        assert beside.step().solve_info.status is Status.CONVERGED
    assert beside.contacts().gap.min() == pytest.approx(-0.002, abs=1e-12)
    np.testing.assert_allclose(beside.state.v, free.state.v, rtol=1e-9, atol=1e-12)


def finger(angle, integrator):
    """A link along x turns about y, and its tip is 1 mm inside a plane whose normal is by an angle from its axis."""
    solid = {"shape": "sphere", "size": [0.01], "position": [0.1, 0.0, 0.0]}
    link = {
        "name": "link", "kind": "rigid", "mass": 0.1, "inertia": [1e-4, 1e-4, 1e-4], "centre": [0.05, 0.0, 0.0],
        "joint": {"kind": "revolute", "axis": "y"}, "solids": [solid],
    }  # fmt: skip
    normal = np.array([-math.cos(angle), 0.0, math.sin(angle)])
    plane = {
        "name": "plane", "shape": "half-space", "position": (np.array([0.1, 0.0, 0.0]) - 0.009 * normal).tolist(),
        "rotation_rpy": [0.0, math.atan2(normal[0], normal[2]), 0.0],
    }  # fmt: skip
    body = {"name": "finger", "use": "gvs", "options": {"links": [link]}}
    return compose([body], [plane], integrator, gravity=(0.0, 0.0, 0.0))


@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.parametrize("angle", [1e-3, 1e-4, 1e-6, 1e-9])
def test_a_push_out_along_a_dead_centre_is_not_taken_for_an_answer(angle, integrator):
    """It would be pushed out at 0.02 m/s, 20/s of 1 mm, along the plane's normal: up to 2e7 m/s across it.

    Ten times the speed is asked of no frame. Friction jams what turns at a lever below its own, so that there is no
    answer, and that is said; where nothing is asked any more it stays, and that is one.
    """
    simulation, statuses = finger(angle, integrator), []
    simulation.observe(lambda world, report: statuses.append(report.solve_info.status))
    simulation.step()
    assert abs(simulation.state.v[0]) * 0.1 < 10 * 0.02
    assert not statuses[0].solved or not simulation.state.v.any()


@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.parametrize("angle", [0.0, 1e-16, 0.3, 1.0])
def test_a_push_out_that_moves_or_that_cannot_is_solved(angle, integrator):
    """At right angles to all that moves there is no row; elsewhere the tip turns away at 0.02 m/s along the normal."""
    simulation = finger(angle, integrator)
    assert simulation.step().solve_info.status is Status.CONVERGED
    speed = simulation.state.v[0] * 0.1 * math.sin(angle)
    assert speed == pytest.approx(0.0 if angle < 1e-15 else -0.02, rel=2e-2)


def ball(height, radius=0.05, **more):
    return {
        "name": "ball", "use": "rigid", "options": {"shape": "sphere", "size": [radius], "mass": 0.1},
        "initial": {"position": [0.0, 0.0, height]}, **more,
    }  # fmt: skip


def test_a_start_with_the_middle_of_two_bodies_in_each_other_is_refused_by_name():
    """A ball of 50 mm in a plate of 20 mm: 55 mm deep its middle is behind the surface, half-way through the plate."""
    plate = {"name": "plate", "shape": "box", "size": [1.0, 1.0, 0.02], "position": [0.0, 0.0, 0.0]}
    with pytest.raises(CompositionError, match=r"ball\.0 starts 55 mm inside plate.*move one of them"):
        compose([ball(0.005)], [plate]).step()
    for _ in range(2):  # 49 mm
        assert compose([ball(0.011)], [plate]).step().solve_info.status is Status.CONVERGED


def test_a_half_space_has_no_far_side_and_what_is_held_may_stand_anywhere():
    floor = {"name": "floor", "shape": "half-space"}
    assert compose([ball(-0.2)], [floor]).step().solve_info.status is Status.CONVERGED
    block = {"name": "block", "shape": "box", "size": [0.08, 0.08, 0.08], "position": [0.0, 0.0, 0.0]}
    limb = {
        "name": "rod", "start": [0.0, 0.0, 0.0], "end": [0.0, 0.0, 0.4], "nodes": 5, "radius": 0.005, "young": 1e6,
    }  # fmt: skip
    held, free = (
        {"name": "rod", "use": "der", "options": {"collision": "spheres", "limbs": [limb], "clamps": clamps}}
        for clamps in ([{"at": "rod.start"}], [])
    )
    assert compose([held], [block]).step().solve_info.status is Status.CONVERGED
    with pytest.raises(CompositionError, match=r"rod\.0 starts 45 mm inside block"):
        compose([free], [block]).step()


def test_a_later_state_is_not_judged_as_a_start():
    """What a run has led to, it goes on from."""
    plate = {"name": "plate", "shape": "box", "size": [1.0, 1.0, 0.02], "position": [0.0, 0.0, 0.0]}
    simulation = compose([ball(0.06)], [plate])
    simulation.step()
    simulation.state.q[2] = 0.005
    assert simulation.step().accepted
