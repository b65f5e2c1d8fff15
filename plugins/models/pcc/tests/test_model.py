import numpy as np
import pytest

from corekit.data.state import State
from corekit_pcc.config import PCCConfig
from corekit_pcc.model import PCC
from corekit_testing.rounding import rounding


def test_force_terms_sum_to_the_force(options, build, moving, evaluate):
    model, _ = build(**options, coriolis=True)
    state, inputs = moving(model)
    terms = model.compute_force_terms(state, inputs)
    assert set(terms) == {"actuation", "stiffness", "damping", "gravity", "coriolis"}
    assert sum(terms.values()) == pytest.approx(evaluate(model, state, inputs)[1], abs=1e-11)


@pytest.mark.parametrize("chambers", [3, 4, 6])
def test_chamber_forces_do_the_work_of_the_elongations(chambers, moving, build):
    model, reference = build(chambers=chambers)
    state, inputs = moving(model)
    work = model.compute_force_terms(state, inputs)["actuation"] @ state.v
    psi = 2 * np.pi * np.arange(chambers) / chambers
    rates = np.concatenate(
        [
            twist[2, 3] - 0.15 - 0.05 * (twist[0, 2] * np.cos(psi) + twist[1, 2] * np.sin(psi))
            for twist in (reference.section_twist(i, state.v[3 * i : 3 * i + 3]) for i in range(3))
        ]
    )
    assert work == pytest.approx(inputs @ rates, rel=1e-12)


def test_damping_takes_the_power_of_every_chamber(moving, build):
    model, reference = build(chambers=5, damping=(10.0, 20.0, 30.0))
    state, inputs = moving(model)
    psi = 2 * np.pi * np.arange(5) / 5
    power = 0.0
    for i, damping in enumerate((10.0, 20.0, 30.0)):
        twist = reference.section_twist(i, state.v[3 * i : 3 * i + 3])
        rates = twist[2, 3] - 0.15 - 0.05 * (twist[0, 2] * np.cos(psi) + twist[1, 2] * np.sin(psi))
        power -= damping * rates @ rates
    assert model.compute_force_terms(state, inputs)["damping"] @ state.v == pytest.approx(power, rel=1e-12)


def test_answers_depend_on_the_arguments_alone_and_leave_them(build, moving, evaluate):
    model, _ = build(coriolis=True, disk_inertia=1e-3)
    state, inputs = moving(model, seed=1)
    other, _ = moving(model, seed=2)
    kept = state.q.copy(), state.v.copy(), inputs.copy()
    first = [answer.copy() for answer in evaluate(model, state, inputs)]
    K, D = model.new_stiffness_and_damping()
    model.compute_stiffness_and_damping(other, inputs, K, D)
    model.compute_energies(other)
    model.compute_outline(other)
    evaluate(model, other, inputs)
    for before, after in zip(first, evaluate(model, state, inputs), strict=True):
        assert np.array_equal(before, after)
    for before, after in zip(kept, (state.q, state.v, inputs), strict=True):
        assert np.array_equal(before, after)


def test_advance_moves_coordinates_along_the_velocity_even_onto_themselves(build, moving):
    model, _ = build()
    state, _ = moving(model)
    velocity = np.linspace(-1.0, 1.0, 9)
    expected = state.q + 0.01 * velocity
    out = State.zeros(9, 9)
    model.integrate(state, velocity, 0.01, state, out)
    assert out.q == pytest.approx(expected, abs=rounding(2))
    assert not out.v.any()
    model.integrate(state, velocity, 0.01, state, state)
    assert state.q == pytest.approx(expected, abs=rounding(2))


def test_an_arm_prescribes_nothing_and_is_dense():
    model = PCC(PCCConfig())
    assert model.description.prescribed_velocity_index.size == 0
    assert model.description.jacobian_width == 9


def test_what_is_not_finite_shows_in_the_force(build, evaluate):
    model, _ = build()
    state = State.zeros(9, 9)
    state.q[4] = np.nan
    assert np.isnan(evaluate(model, state)[1]).any()
