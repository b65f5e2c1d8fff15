"""Loops of bodies and hinges in a plane, which hold each other in it twice."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from corekit.data.status import SolveInfo, Status, StepReport
from corekit.errors import CompositionError
from corekit.scenario.load import from_document
from corekit.simulation.step_failure import FailedStep

pytest.importorskip("corekit_rigid")
pytest.importorskip("corekit_timestep")

CRANK, THICK, MASS, COUPLER, G = 0.1, 0.02, 0.1, 0.3, 9.81
BELOW = -0.3
"""Where cranks start: at 0 all bars lie in one line, and the loop may go on as a parallelogram or crossed."""


def bar(name, start, end, mass):
    """A bar between two places in the plane of x and z."""
    start, end = np.array(start), np.array(end)
    along = end - start
    return {
        "name": name,
        "use": "rigid",
        "options": {"shape": "box", "size": [float(np.linalg.norm(along)), THICK, THICK], "mass": mass},
        "base": {
            "position": (0.5 * (start + end)).tolist(),
            "rotation_rpy": [0.0, float(-np.arctan2(along[2], along[0])), 0.0],
        },
    }


def hinge(name, one, other, x, kind="hinge"):
    """About y, at x in the axes of the first."""
    axis = {"axis": [0.0, 1.0, 0.0]} if kind == "hinge" else {}
    return {"name": name, "kind": kind, "between": [one, other], "place": [x, 0.0, 0.0], **axis}


def parallelogram(integrator="implicit-midpoint", last="hinge", angle=BELOW, step=1e-3) -> dict[str, Any]:
    """Two cranks on the ground and a coupler, which does not turn."""
    up = CRANK * np.array([np.cos(angle), 0.0, np.sin(angle)])
    across = np.array([0.25, 0.0, 0.0])
    return {
        "format": "corekit-scenario/1", "name": "linkage", "time": {"duration": 1.0, "step": step},
        "world": {"gravity": [0.0, 0.0, -G]},
        "bodies": [
            bar("left", np.zeros(3), up, MASS), bar("coupler", up, up + across, COUPLER),
            bar("right", across, across + up, MASS),
        ],
        "joints": [
            hinge("ground-left", "left.body", "world", -0.5 * CRANK),
            hinge("top-left", "left.body", "coupler.body", 0.5 * CRANK),
            hinge("ground-right", "right.body", "world", -0.5 * CRANK),
            hinge("top-right", "right.body", "coupler.body", 0.5 * CRANK, last),
        ],
        "integrator": {"use": integrator},
    }  # fmt: skip


def exact(angle, time):
    """The coupler of a parallelogram goes on a circle: a pendulum of one angle."""
    inertia = 2.0 * MASS * (CRANK**2 / 3.0 + THICK**2 / 12.0) + COUPLER * CRANK**2
    moment = (MASS + COUPLER) * G * CRANK
    found = solve_ivp(
        lambda t, y: [y[1], -moment * np.cos(y[0]) / inertia], (0.0, time), [angle, 0.0], rtol=1e-11
    )
    return found.y[0, -1]


@pytest.mark.parametrize("last", ["hinge", "ball"])
@pytest.mark.parametrize(
    ("integrator", "bound"),
    # the fall takes 0.15 s: errors of order one, h·|ω|·|Δangle| = 1e-2, and of order two, (h·10)² of an angle of 1
    [("semi-implicit-euler", 1e-2), ("implicit-midpoint", 1e-4), ("newmark", 1e-4), ("rk23", 1e-4)],
)
def test_a_parallelogram_swings_as_a_pendulum(integrator, bound, last):
    simulation = from_document(parallelogram(integrator, last)).compose()
    for _ in range(100):
        simulation.step()
    centre = simulation.state.q[7:10]  # of the coupler
    angle = exact(BELOW, 0.1)
    expected = CRANK * np.array([np.cos(angle), 0.0, np.sin(angle)]) + [0.125, 0.0, 0.0]
    assert centre == pytest.approx(expected, abs=bound * CRANK)
    assert abs(centre[1]) < 1e-12


@pytest.mark.parametrize("sides", [4, 5])
def test_a_polygon_that_spins_freely_keeps_its_shape_and_momentum(sides):
    """Regular, and not loaded: the hinges carry what keeps its bars on circles."""
    angles = 2.0 * np.pi * np.arange(sides + 1) / sides
    corners = 0.2 * np.column_stack([np.cos(angles), 0.0 * angles, np.sin(angles)])
    document = parallelogram() | {"world": {"gravity": [0.0, 0.0, 0.0]}}
    document["bodies"] = [bar(f"b{i}", corners[i], corners[i + 1], MASS) for i in range(sides)]
    for body in document["bodies"]:
        body["initial"] = {
            "velocity": np.cross([0.0, 3.0, 0.0], body["base"]["position"]).tolist(),
            "angular_velocity": [0.0, 3.0, 0.0],
        }
    half = 0.5 * float(np.linalg.norm(corners[1] - corners[0]))
    document["joints"] = [
        hinge(f"j{i}", f"b{i}.body", f"b{(i + 1) % sides}.body", half) for i in range(sides)
    ]
    simulation = from_document(document).compose()
    for _ in range(100):
        simulation.step()
    centres = simulation.state.q.reshape(sides, 7)[:, :3]
    middle = 0.5 * np.linalg.norm(corners[0] + corners[1])
    # rows of the middle of a step leave (ωh)²/2 = 4.5e-6 of a radius
    assert np.linalg.norm(centres, axis=1) == pytest.approx(middle, rel=1e-5)
    assert centres.sum(axis=0) == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
    turned = np.arctan2(centres[0, 0], centres[0, 2]) - np.arctan2(*(corners[0] + corners[1])[[0, 2]])
    assert turned == pytest.approx(0.3, abs=1e-4)


def test_a_joint_that_adds_nothing_to_a_loop_is_refused():
    document = parallelogram()
    document["joints"].append(hinge("again", "right.body", "coupler.body", 0.5 * CRANK, "ball"))
    with pytest.raises(CompositionError, match="joint 'again' holds what other joints"):
        from_document(document).compose()


def test_a_loop_on_a_motion_that_is_given_is_refused():
    """What moves it would be told twice, and may contradict itself."""
    document = parallelogram()
    signal = {"kind": "sine", "amplitude": [0.0, 0.0, 0.01], "frequency": 1.0}
    document["world"]["obstacles"] = [
        {"name": "shaker", "shape": "sphere", "size": [0.01], "position": signal, "friction": 0.0}
    ]
    document["joints"][0]["between"] = ["left.body", "shaker"]
    with pytest.raises(CompositionError, match="joint 'top-right' holds what other joints"):
        from_document(document).compose()


@pytest.mark.parametrize(("angle", "in_line"), [(1e-8, True), (BELOW, False)])
def test_a_step_that_fails_where_bars_are_in_line_says_that_the_loop_loses_a_rank(angle, in_line):
    """Of cranks that fall through that place some get there in inner steps without end, as if the bars were stiff.

    Whether they do is decided by rounding, so that here an integrator is made to say so of a step that is short.
    """
    simulation = from_document(parallelogram("rk23", angle=angle, step=1e-6)).compose()
    simulation.step()
    gave_up = StepReport(False, 1e-6, 1, SolveInfo(Status.ITERATION_LIMIT), "as with stiff models")
    said = str(FailedStep.of(simulation, simulation.state, gave_up).error())
    assert "The iteration limit was reached" in said
    joints = "loop of joints 'ground-left', 'top-left', 'ground-right', 'top-right'"
    assert (f"{joints} is where its rows lose a rank" in said) == in_line
    assert ("s with stiff models" in said) != in_line
