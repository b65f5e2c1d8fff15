"""Gradients of runs against the mechanics of a ball, against differences of runs, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from corekit.errors import GradientError
from corekit.scenario.load import from_document, with_values
from corekit_gradients.losses import Instant
from corekit_gradients.objective import Held

RADIUS, MASS, GRAVITY, STEP, FRICTION = 0.1, 2.0, 9.81, 1e-3, 0.3
SPEED = 2.0


def ball(solver="lcp", friction=FRICTION, integrator="semi-implicit-euler", duration=0.05):
    """A ball that slides on a floor at 2 m/s without spin."""
    return from_document(
        {
            "format": "corekit-scenario/1", "name": "ball", "time": {"duration": duration, "step": STEP},
            "world": {
                "gravity": [0.0, 0.0, -GRAVITY], "obstacles": [{"name": "floor", "shape": "half-space"}],
                "friction": [{"between": ["ball", "floor"], "value": friction}],
            },
            "bodies": [{
                "name": "ball", "use": "rigid", "options": {"shape": "sphere", "size": [RADIUS], "mass": MASS},
                "initial": {"position": [0.0, 0.0, RADIUS], "velocity": [SPEED, 0.0, 0.0]},
            }],
            "contact": {"detector": "sdf", "solver": {"use": solver}},
            "integrator": {"use": integrator}, "output": {"every": STEP},
        }
    )  # fmt: skip


def arm(*, duration=0.1, integrator="semi-implicit-euler", signals=True):
    """A soft arm of one section that bends under three chambers."""
    inputs = [{"channel": "chamber-force", "signal": [1.0, 2.0, 0.5]}]
    # differences of runs see what Newton's method leaves of a step
    options = {} if integrator == "semi-implicit-euler" else {"tolerance": 1e-13}
    return from_document(
        {
            "format": "corekit-scenario/1", "name": "arm", "time": {"duration": duration, "step": 2e-3},
            "world": {"gravity": [0.0, 0.0, -GRAVITY]},
            "bodies": [{
                "name": "arm", "use": "pcc",
                "options": {
                    "sections": 1, "length": 0.2, "mass": [0.3], "stiffness": 200.0, "damping": 3.0,
                    "chamber_radius": 0.03,
                },
                "inputs": inputs if signals else [],
            }],
            "integrator": {"use": integrator, "options": options}, "output": {"every": 2e-3},
        }
    )  # fmt: skip


def place(instant):
    return instant.frame("ball.body").position[0]


def speed(instant):
    return instant.body("ball").v[0]


def tip(instant):
    return instant.frame("arm.section-1-tip").position @ np.array([1.0, 0.3, 2.0])


def after(scenario, loss, simulation=None):
    """The loss at the end of a run."""
    simulation = simulation or scenario.compose()
    simulation.run(scenario.time.duration)
    return loss(Instant(simulation, simulation.state))


@pytest.mark.parametrize("solver", ["lcp", "qp", "cone"])
def test_a_ball_that_slides_has_the_gradient_of_coulomb_s_law(solver):
    """v_k = v₀ − μ·g·h·k and x_n = h·Σ v_k: ∂x/∂μ = −g·h²·n(n + 1)/2, ∂x/∂v₀ = n·h, ∂v/∂x₀ = 0."""
    pytest.importorskip(f"corekit_{solver}")
    n = 50
    found = ball(solver).compose().gradient(place, until=n * STEP, parameters=["world.friction[0].value"])
    slope = -GRAVITY * STEP**2 * n * (n + 1) / 2
    assert found.value == pytest.approx(SPEED * n * STEP + FRICTION * slope, rel=1e-9)
    assert found.parameters == {"world.friction[0].value": pytest.approx(slope, rel=1e-7)}
    assert found.initial.displacement[0] == pytest.approx(1.0, rel=1e-9)
    assert found.initial.velocity[0] == pytest.approx(n * STEP, rel=1e-7)
    assert found.report.steps == n


@pytest.mark.parametrize("solver", ["lcp", "cone"])
def test_a_ball_that_came_to_roll_keeps_five_sevenths_of_its_speed_and_of_a_change_of_it(solver):
    """Angular momentum about the line of contact is kept, whatever friction is."""
    pytest.importorskip(f"corekit_{solver}")
    found = (
        ball(solver, duration=0.3)
        .compose()
        .gradient(speed, until=0.3, parameters=["world.friction[0].value"])
    )
    assert found.value == pytest.approx(SPEED * 5 / 7, rel=1e-9)
    assert found.initial.velocity[0] == pytest.approx(5 / 7, rel=1e-6)
    # ω about y turns the speed by 2/7·R
    assert found.initial.velocity[4] == pytest.approx(2 / 7 * RADIUS, rel=1e-6)
    assert found.parameters["world.friction[0].value"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("checkpoints", [0, 3])
def test_a_number_that_moves_frames_at_the_same_coordinates_counts_where_they_are(checkpoints):
    """The base of an arm carries its tip along, 1 m a metre, and lengths move it beside what they do to the motion."""
    paths = ["bodies.arm.base.position", "bodies.arm.options.length"]
    scenario = with_values(arm(), {paths[0]: [0.0, 0.0, 0.0]})

    def size(instant):
        return tip(instant) ** 2

    found = scenario.compose().gradient(
        tip, until=0.1, running=size, parameters=paths[1:], checkpoints=checkpoints
    )
    moved = scenario.compose().gradient(tip, until=0.1, parameters=paths[:1], checkpoints=checkpoints)
    assert list(moved.parameters.values()) == pytest.approx([1.0, 0.3, 2.0], rel=1e-9)
    ends, change = [], 1e-6
    for sign in (1, -1):
        simulation = with_values(scenario, {paths[1]: 0.2 + sign * change}).compose()
        total = 0.0
        while simulation.step_index < 50:
            simulation.step()
            total += 2e-3 * size(Instant(simulation, simulation.state))
        ends.append(tip(Instant(simulation, simulation.state)) + total)
    assert found.parameters[f"{paths[1]}[0]"] == pytest.approx((ends[0] - ends[1]) / (2.0 * change), rel=1e-5)


@pytest.mark.parametrize("solver", ["lcp", "qp", "cone"])
def test_a_box_that_came_to_rest_keeps_the_gradient_of_its_slide(solver):
    """Its place by its speed is h times the steps in which it slid; a contact at rest moves by rounding alone."""
    pytest.importorskip(f"corekit_{solver}")
    document = ball(solver, duration=0.4).document
    box = {"shape": "box", "size": [0.1, 0.1, 0.02], "mass": MASS}
    start = {"position": [0.0, 0.0, 0.01], "velocity": [1.0, 0.0, 0.0]}
    document = {**document, "bodies": [{"name": "ball", "use": "rigid", "options": box, "initial": start}]}
    slowed = FRICTION * GRAVITY * STEP
    count = int(1.0 // slowed)
    found = from_document(document).compose().gradient(place, until=0.4)
    assert found.value == pytest.approx(STEP * sum(1.0 - k * slowed for k in range(1, count + 1)), rel=1e-9)
    assert found.initial.velocity[0] == pytest.approx(STEP * count, rel=1e-7)


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "implicit-euler", "implicit-midpoint"])
def test_an_arm_has_the_gradient_of_differences_of_runs(integrator):
    """By its start, by an option that its start depends on too, and by a signal."""
    scenario, size = arm(integrator=integrator), 1e-5
    paths = ["bodies.arm.options.stiffness", "bodies.arm.inputs[0].signal"]
    found = scenario.compose().gradient(tip, until=0.1, parameters=paths)

    def changed(values):
        return after(with_values(scenario, values), tip)

    force = np.array([1.0, 2.0, 0.5])
    for j, move in enumerate(size * np.eye(3)):
        difference = [changed({paths[1]: (force + sign * move).tolist()}) for sign in (1, -1)]
        slope = (difference[0] - difference[1]) / (2 * size)
        assert found.parameters[f"{paths[1]}[{j}]"] == pytest.approx(slope, rel=1e-5, abs=1e-9)
    difference = [changed({paths[0]: 200.0 + sign * 1e-2}) for sign in (1, -1)]
    own = sum(value for name, value in found.parameters.items() if name.startswith(paths[0]))
    assert own == pytest.approx((difference[0] - difference[1]) / 2e-2, rel=1e-5)
    simulation = scenario.compose()
    start = simulation.state.copy()
    slopes = []
    for j in range(len(start.v)):
        ends = []
        for sign in (1, -1):
            moved = start.copy()
            moved.q[j] += sign * 1e-6
            simulation.reset(state=moved)
            ends.append(after(scenario, tip, simulation))
        slopes.append((ends[0] - ends[1]) / 2e-6)
    np.testing.assert_allclose(found.initial.displacement, slopes, rtol=1e-5, atol=1e-7)


def test_a_change_of_what_a_step_held_changes_the_end_by_its_gradient():
    scenario = arm(signals=False)
    rng = np.random.default_rng(1)
    force, change = rng.standard_normal((2, 50, 3))

    def run(values, gradient=False):
        simulation = scenario.compose()
        simulation.add_controller(lambda now: {"arm": {"chamber-force": values[now.step_index]}})
        if gradient:
            return simulation.gradient(tip, until=0.1, inputs=True)
        return after(scenario, tip, simulation)

    by_step = run(force, gradient=True).inputs["arm"]["chamber-force"]
    slope = (run(force + 1e-4 * change) - run(force - 1e-4 * change)) / 2e-4
    assert by_step.shape == (50, 3)
    assert (by_step * change).sum() == pytest.approx(slope, rel=1e-6)


def test_a_running_loss_counts_the_ends_of_grid_steps():
    """∫ v dt of a free fall by its sum: h·Σ z_k has the derivative T by the height of the start."""
    scenario = ball(friction=0.0)
    found = scenario.compose().gradient(lambda _: 0.0, until=0.05, running=place)
    assert found.value == pytest.approx(SPEED * STEP**2 * 50 * 51 / 2, rel=1e-9)
    assert found.initial.displacement[0] == pytest.approx(0.05, rel=1e-9)
    assert found.initial.velocity[0] == pytest.approx(STEP**2 * 50 * 51 / 2, rel=1e-7)


def test_a_run_goes_on_after_a_gradient_as_it_would_without():
    one, other = ball(duration=0.3).compose(), ball(duration=0.3).compose()
    one.gradient(place, until=0.05)
    one.run(0.1)
    other.run(0.1)
    np.testing.assert_array_equal(one.state.qv, other.state.qv)
    assert one.time == other.time


def test_an_optimiser_finds_the_friction_that_stops_a_ball_where_it_should():
    scenario = ball()
    n, wanted = 50, 0.095
    exact = (SPEED * n * STEP - wanted) / (GRAVITY * STEP**2 * n * (n + 1) / 2)
    objective = scenario.objective(lambda now: 1e4 * (place(now) - wanted) ** 2, ["world.friction[0].value"])
    assert objective.names == ("world.friction[0].value",)
    assert objective.start == pytest.approx([FRICTION])
    found = minimize(objective, objective.start, jac=True)
    assert found.x == pytest.approx([exact], rel=1e-4)
    assert objective.last.value == pytest.approx(found.fun, abs=1e-6)


def test_held_inputs_are_variables_of_an_objective():
    scenario = arm(signals=False)
    objective = scenario.objective(tip, [Held("arm", "chamber-force", 5), "bodies.arm.options.stiffness"])
    x = objective.start.copy()
    assert objective.names[:2] == ("arm.chamber-force[0][0]", "arm.chamber-force[0][1]")
    x[:15] = np.random.default_rng(2).standard_normal(15)
    value, gradient = objective(x)
    direction = np.random.default_rng(3).standard_normal(len(x))
    ends = [objective(x + sign * 1e-4 * direction)[0] for sign in (1, -1)]
    assert gradient @ direction == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-5)
    assert np.isfinite(value)
    assert objective.calls == 3


def test_a_linearised_step_moves_as_the_step_does_and_the_simulation_stays():
    simulation = arm().compose()
    simulation.run(0.02)
    before = simulation.internal_state()
    found = simulation.linearise()
    for name, value in simulation.internal_state().items():
        np.testing.assert_array_equal(value, before[name])
    nv, size = simulation.system.nv, 1e-6
    columns = []
    for j in range(2 * nv):
        ends = []
        for sign in (1, -1):
            simulation.restore(before)
            simulation.state.qv[j] += sign * size
            simulation.step()
            ends.append(simulation.state.qv.copy())
        columns.append((ends[0] - ends[1]) / (2 * size))
    np.testing.assert_allclose(found.A, np.array(columns).T, rtol=1e-6, atol=1e-7)
    assert found.B.shape == (2 * nv, 3)
    assert not found.is_degenerate


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"until": 0.0}, "must end after"),
        ({"until": 0.01, "parameters": ["time.step"]}, "lengths of steps"),
        ({"until": 0.01, "parameters": ["bodies.ball.use"]}, "a number or a list"),
    ],
)
def test_what_has_no_derivative_is_refused(options, message):
    with pytest.raises(GradientError, match=message):
        ball().compose().gradient(place, **options)


def test_a_loss_that_is_no_number_is_refused():
    with pytest.raises(GradientError, match="finite number"):
        ball().compose().gradient(lambda now: now.v, until=0.01)


@pytest.mark.parametrize("integrator", ["verlet", "newmark", "generalized-alpha", "rk23"])
def test_schemes_of_the_split_family_are_refused_by_name(integrator):
    scenario = ball(integrator=integrator) if integrator in ("verlet", "rk23") else arm(integrator=integrator)
    loss = place if integrator in ("verlet", "rk23") else tip
    with pytest.raises(GradientError, match=r"split schemes \(newmark, generalized-alpha, verlet, rk23"):
        scenario.compose().gradient(loss, until=0.01)


def test_wrong_variables_are_refused():
    with pytest.raises(GradientError, match="has no channel"):
        arm().objective(tip, [Held("arm", "pressure")])
    with pytest.raises(GradientError, match="1 variables"):
        ball().objective(place, ["world.friction[0].value"])(np.zeros(2))
