"""The derivative of a step is that of the step: against differences of whole steps, and transposed against itself.

Differences over ±1e-7 of the arguments err by the rounding of a step, 1e-16/1e-7 of its terms, and by what a solver
leaves, 1e-12 to 1e-9 of a velocity: 1e-6 holds with room. Worlds push out of an overlap by all of it, s(φ) = φ: at rest
every step is where s has its kink else, at φ = 0.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from corekit.engine.world.world_system import WorldSystem
from corekit.errors import GradientError
from corekit.scenario.load import from_document, load
from corekit_gradients.adjoint.contact_modes import Mode
from corekit_gradients.adjoint.frozen_step import FrozenStep
from corekit_gradients.adjoint.input_products import affine_inputs, input_columns, input_products
from corekit_gradients.adjoint.solutions import Kind

from .point_worlds import make_world
from .step_differences import compare, pull
from .test_push_out import clamped_document

pytest.importorskip("corekit_timestep")
pytest.importorskip("corekit_sdf")
pytest.importorskip("corekit_rigid")
pytest.importorskip("corekit_pcc")

INTEGRATORS = ("semi-implicit-euler", "implicit-euler", "implicit-midpoint")
WORLDS = [
    ("joints", "constraints"), ("bounded", "prescribed"), ("joints", "potential"), ("islands", "restitution"),
    ("bounded", "unreduced"), ("moving obstacle", "mounted base"), ("planar", "constraints"),
]  # fmt: skip
SMOOTH_PUSH_OUT = {"approach": 1.0, "push_out": 1000.0, "cap": 100.0}
TOLERANCE, ROUNDING = 1e-6, 1e-12
SOLVERS = {
    "pyramids that stand": {"use": "lcp", "options": {"aligned": False}},
    "pyramids that turn": {"use": "lcp"},
    "programs": {"use": "qp", "options": {"aligned": False, "tolerance": 1e-11}},
    "cone": {"use": "cone", "options": {"tolerance": 1e-12}},
}  # fmt: skip
SHAPES = {"sphere": ([0.1], 0.0, 0.1), "capsule": ([0.01, 0.2], 0.9, 0.1 * math.cos(0.9) + 0.01)}


def compared(simulation, steps, every=3, tolerance=TOLERANCE):
    """Compare every few of some steps; all that were compared."""
    found = []
    for n in range(steps):
        if n % every:
            simulation.step()
            continue
        one = compare(simulation, seed=n)
        if one is None:
            continue
        assert one.transposed <= ROUNDING
        assert max(one.place, one.velocity) <= tolerance, (n, one.place, one.velocity)
        # columns of turned pyramids know entries of their covectors to some 1e-5 alone
        assert one.terms is None or one.terms <= max(TOLERANCE, 5.0 * tolerance * (tolerance > TOLERANCE)), (
            n,
            one.terms,
        )
        assert one.pulled is None or one.pulled <= TOLERANCE, (n, one.pulled)
        found.append(one)
    assert found
    return found


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("pair", WORLDS, ids=" and ".join)
def test_a_step_of_a_world_of_points_has_the_derivative_of_its_differences(pair, integrator):
    solver = "qp" if "unreduced" in pair else "imc" if "potential" in pair else "lcp"
    pytest.importorskip(f"corekit_{solver}")
    world = make_world(pair, solver)
    world.document["contact"]["stabilisation"] = SMOOTH_PUSH_OUT
    simulation = world.compose(integrator={"use": integrator})
    every = 5 if "restitution" in pair else 7  # in the sixth step spheres strike
    if integrator == "implicit-midpoint" and "restitution" in pair:
        with pytest.raises(GradientError, match="apart"):
            compared(simulation, 30, every)
        return
    found = compared(simulation, 29, every)
    if "potential" not in pair and integrator != "implicit-midpoint":
        assert any(len(one.frozen.solutions[0].modes.index) for one in found)
    if "restitution" in pair:
        assert any(one.frozen.solutions[-1].kind is Kind.VELOCITY for one in found)


def falling(shape, friction, solver, integrator, level="velocity", restitution=0.0):
    """A body that comes down on a floor with some slip and spin, and touches it in the fourth step."""
    size, tilt, reach = SHAPES[shape]
    impact = {"level": level} | ({"restitution": restitution} if restitution else {})
    return from_document(
        {
            "format": "corekit-scenario/1", "name": "fall", "time": {"duration": 1.0, "step": 1e-3},
            "world": {
                "obstacles": [{"name": "floor", "shape": "half-space"}],
                "friction": [{"between": ["body", "floor"], "value": friction}],
            },
            "bodies": [{
                "name": "body", "use": "rigid", "options": {"shape": shape, "size": size, "mass": 1.0},
                "initial": {
                    "position": [0.0, 0.0, reach + 3.4e-3], "rotation_rpy": [0.1, tilt, 0.2],
                    "velocity": [0.3, 0.1, -1.0], "angular_velocity": [0.5, -1.0, 2.0],
                },
            }],
            "contact": {
                "detector": "sdf", "solver": SOLVERS[solver], "impact": impact,
                "stabilisation": SMOOTH_PUSH_OUT,
            },
            "integrator": {"use": integrator, "options": {"tolerance": 1e-12} if "implicit-" in integrator[:9] else {}},
            "output": {"every": 1e-3},
        }
    ).compose()  # fmt: skip


CELLS = list(product(SHAPES, (0.2, 0.9), SOLVERS, INTEGRATORS))


@pytest.mark.product_table
@pytest.mark.parametrize(("shape", "friction", "solver", "integrator"), CELLS)
def test_a_body_that_strikes_slides_and_rolls_has_the_derivative_of_its_differences(
    shape, friction, solver, integrator
):
    pytest.importorskip(f"corekit_{SOLVERS[solver]['use']}")
    # directions follow the problem of a step, which knows its terms to 1e-9
    tolerance = 2e-5 if solver == "pyramids that turn" else TOLERANCE
    found = compared(falling(shape, friction, solver, integrator), 22, tolerance=tolerance)
    assert any(one.frozen.solutions[-1].kind is not Kind.PLACE for one in found)


def test_every_mode_of_a_contact_is_among_those_that_were_compared():
    """Sticking, at a corner of the pyramid, along a side of it, against the slip."""
    pytest.importorskip("corekit_cone")
    seen = set()
    for solver in ("pyramids that stand", "pyramids that turn", "cone"):
        for friction in (0.2, 0.9):
            for one in compared(
                falling("capsule", friction, solver, "semi-implicit-euler"), 10, tolerance=2e-5
            ):
                seen |= {int(mode) for solution in one.frozen.solutions for mode in solution.modes.mode}
    for one in compared(
        falling("sphere", 0.05, "pyramids that stand", "semi-implicit-euler", "position"), 10
    ):
        seen |= {int(mode) for solution in one.frozen.solutions for mode in solution.modes.mode}
    assert seen == {int(mode) for mode in Mode}


def test_a_soft_arm_has_the_derivative_of_its_differences():
    """Without contact and in the mode that it has at the box."""
    changes = [
        "time.duration=0.3",
        "contact.stabilisation.push_out=1000.0",
        "contact.stabilisation.cap=100.0",
    ]
    simulation = load("cusp/inclined-box", changes).compose()
    for one in compared(simulation, 60, 30):
        assert one.derivative.lost == 0


def test_a_split_step_is_refused_by_its_name():
    simulation = load("cusp/inclined-box", ["integrator.use=verlet", "integrator.options={}"]).compose()
    with pytest.raises(GradientError, match="split schemes"):
        compare(simulation)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_push_that_is_limited_near_a_clamp_has_the_derivative_of_its_differences(integrator):
    """The bias of the contact follows the mobility at its lever, by the matrix of the step."""
    pytest.importorskip("corekit_der")
    simulation = from_document(clamped_document(2e-4, SOLVERS["cone"], integrator)).compose()
    simulation.step()  # at rest the next motion towards the ball is an impact: a kink
    found = compared(simulation, 3, every=1)
    assert all(one.frozen.contacts.limits_push_out for one in found)


def test_areas_that_resist_turning_are_refused():
    simulation = falling("sphere", {"sliding": 0.5, "torsional": 0.01}, "pyramids that stand", INTEGRATORS[0])
    with pytest.raises(GradientError, match="resist turning"):
        compare(simulation)


def test_prescribed_coordinates_take_no_part():
    simulation = make_world(("bounded", "prescribed"), "lcp").compose()
    one = compare(simulation)
    assert one is not None
    driven = ~np.concatenate([terms.free for terms in simulation.system.terms.bodies])
    a, b = pull(one.derivative, one.frozen, np.ones(len(driven)), np.ones(len(driven)))
    assert driven.any() and not a[driven].any() and not b[driven].any()


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    ("solver", "reason"),
    [("pyramids that stand", None), ("cone", None), ("pyramids that turn", "turned pyramids")],
)
def test_steps_in_contact_are_pulled_by_their_terms_and_say_where_they_are_not(solver, reason, integrator):
    """Columns of the whole step answer for what has no cheaper form, by its name."""
    pytest.importorskip(f"corekit_{SOLVERS[solver]['use']}")
    simulation = falling("capsule", 0.2, solver, integrator)
    for _ in range(10):
        simulation.step()
    one = compare(simulation)
    assert one is not None
    if integrator == "semi-implicit-euler":
        reason = None
    assert one.frozen.has_closed_contacts
    assert one.reason == reason
    assert (one.terms is None) == (reason is not None)


@pytest.mark.parametrize("shape", SHAPES)
def test_an_impact_that_throws_back_is_pulled_by_its_terms(shape):
    found = compared(falling(shape, 0.2, "pyramids that stand", "semi-implicit-euler", restitution=0.4), 9, 1)
    thrown = [one for one in found if any(each.struck.any() for each in one.frozen.solutions)]
    assert thrown
    assert all(one.reason is None for one in thrown)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_inputs_enter_the_equations_of_their_body_alone(integrator):
    """Products by bodies against columns of the whole step, of an arm that presses on the box."""
    options = (
        "integrator.options={}"
        if integrator == INTEGRATORS[0]
        else "integrator.options={ tolerance = 1e-12 }"
    )
    changes = [f"integrator.use={integrator}", options]
    simulation = load("cusp/inclined-box", changes).compose()
    system = simulation.system
    assert isinstance(system, WorldSystem)
    step = FrozenStep(system)
    for _ in range(300):
        with simulation.record_steps() as tape:
            simulation.step()
        contacts = tape[-1].contacts
        if contacts is not None and contacts.impulse[:, 0].any():
            break
    step.load(tape[-1])
    assert step.has_closed_contacts
    y = np.random.default_rng(0).standard_normal(step.here.stacked_with_tangents().size)
    columns = y @ input_columns(system, step)
    bodies, affine = range(len(system.bodies)), affine_inputs(system, tape[-1].start)
    products = input_products(system, step, step.split(y), y, bodies, affine)
    # a chamber's force gives h times its arm; differences over 8e-6 of it know that to some 1e-9
    np.testing.assert_allclose(products, columns, atol=1e-7 * np.abs(columns).max())


@pytest.mark.parametrize(
    ("force", "is_affine"),
    [
        (lambda u: 3.0 * u + 1.0, True),
        (lambda u: u * np.abs(u), False),
        (np.sin, False),
        (lambda u: u**3, False),
        (lambda u: u**2, False),
    ],
)
def test_a_force_that_is_odd_in_an_input_is_not_taken_for_affine(force, is_affine, monkeypatch):
    """At u = 0, where runs begin, an odd function is as straight as a line between ±u."""
    simulation = load("cusp/inclined-box", ["bodies.arm.inputs=[]"]).compose()
    system = simulation.system
    assert isinstance(system, WorldSystem)

    def terms_of(terms, _model, state):
        return np.ones(1), force(terms.body.inputs.value_at(state.time)), np.ones(1)

    monkeypatch.setattr("corekit_gradients.adjoint.input_products.model_terms", terms_of)
    assert affine_inputs(system, simulation.state) == (is_affine,)
