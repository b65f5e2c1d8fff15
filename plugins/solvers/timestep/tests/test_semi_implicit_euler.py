"""Semi-implicit Euler against recursions and closed forms in this file."""

import math

import numpy as np
import pytest

from corekit.data.signals import Ramp
from corekit.errors import StepFailed
from corekit.roles.component import BuildContext
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel, ProjectedGaussSeidelConfig
from corekit_testing.reference_detector import ReferenceDetector, ReferenceDetectorConfig
from corekit_testing.rounding import rounding
from corekit_testing.small_world import floor, small_world
from corekit_timestep.config import SemiImplicitEulerConfig
from corekit_timestep.semi_implicit_euler import SemiImplicitEuler

M, K, C, LENGTH = 2.0, 300.0, 4.0, 1.0


def oscillator(h, form="linearly-implicit", beta=None, stiffness=K, damping=C, stretch=0.1):
    """A mass on a damped spring along x, without gravity."""
    chain = PointChain(
        PointChainConfig(
            masses=(M,),
            positions=((LENGTH + stretch, 0.0, 0.0),),
            links=("spring",),
            lengths=(LENGTH,),
            stiffness=stiffness,
            damping=damping,
        ),
        BuildContext(gravity=np.zeros(3)),
    )
    scheme = SemiImplicitEuler(SemiImplicitEulerConfig(form=form, beta=beta), BuildContext(step=h))
    return small_world({"mass": chain}, scheme, step=h)


def stretch_of(simulation):
    return simulation.state.q[0] - LENGTH


def exact(t, stretch=0.1):
    """x(t) of M·ẍ + C·ẋ + K·x = 0, x(0) = stretch, ẋ(0) = 0."""
    rate = C / (2 * M)
    omega = math.sqrt(K / M - rate**2)
    return stretch * math.exp(-rate * t) * (math.cos(omega * t) + rate / omega * math.sin(omega * t))


def test_explicit_form_is_the_symplectic_euler_recursion():
    h, x, v = 1e-3, 0.1, 0.0
    simulation = oscillator(h, form="explicit")
    for _ in range(200):
        simulation.step()
        v += h * (-K * x - C * v) / M
        x += h * v
    assert stretch_of(simulation) == pytest.approx(x, abs=1e-13)
    assert simulation.state.v[0] == pytest.approx(v, abs=1e-12)


@pytest.mark.parametrize("beta", [0.5, 0.75, 1.0])
def test_linearly_implicit_form_is_its_own_recursion(beta):
    h, x, v = 1e-3, 0.1, 0.0
    simulation = oscillator(h, beta=beta)
    for _ in range(200):
        simulation.step()
        v = (M * v + h * (-K * x)) / (M + h * C + beta * h * h * K)
        x += h * v
    assert stretch_of(simulation) == pytest.approx(x, abs=1e-12)


@pytest.mark.parametrize("form", ["explicit", "linearly-implicit"])
def test_error_falls_in_proportion_to_the_step(form):
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        simulation = oscillator(h, form=form)
        simulation.run(0.4)
        errors.append(abs(stretch_of(simulation) - exact(0.4)))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.15)
    assert math.log2(errors[1] / errors[2]) == pytest.approx(1.0, abs=0.1)


@pytest.mark.to_nearest("what overflows is the largest finite number", "zero")
def test_explicit_form_leaves_its_stability_limit_and_linearly_implicit_does_not():
    # explicit damping is stable to h = 2·M/C; both runs are at twice that
    damping, h = 4e3, 2e-3
    explicit = oscillator(h, form="explicit", damping=damping)
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(StepFailed, match="body 'mass'"):
        explicit.run(4.0)
    implicit = oscillator(h, damping=damping)
    implicit.run(4.0)
    # overdamped: x(t) ≈ stretch·exp(−K·t/C)
    assert stretch_of(implicit) == pytest.approx(0.1 * math.exp(-K * 4.0 / damping), rel=1e-3)


@pytest.mark.parametrize("beta", [0.5, 1.0])
def test_a_stiff_spring_stays_bounded_far_beyond_the_explicit_limit(beta):
    # h·ω = 112; in compression the spring destabilises sideways and the step matrix must be shifted
    simulation = oscillator(0.05, beta=beta, stiffness=1e7, damping=0.0)
    notes = set()
    for _ in range(500):
        notes.add(simulation.step().note)
        assert abs(stretch_of(simulation)) <= 0.1 + 1e-9
    assert beta == 1.0 or any("shifted" in note for note in notes)


def test_a_buckling_strut_is_of_first_order_while_its_matrix_is_shifted():
    # a compressed spring with a sideways nudge: K is indefinite; explicit runs, extrapolated, are the reference
    def end(h, form):
        strut = PointChain(
            PointChainConfig(
                masses=(0.01,),
                positions=((0.8, 1e-3, 0.0),),
                links=("spring",),
                lengths=(1.0,),
                stiffness=1e3,
                damping=0.0,
                drag=50.0,
            ),
            BuildContext(gravity=np.zeros(3)),
        )
        scheme = SemiImplicitEuler(SemiImplicitEulerConfig(form=form), BuildContext(step=h))
        simulation = small_world({"strut": strut}, scheme, step=h)
        simulation.run(0.04)
        return simulation.state.q.copy()

    reference = 2.0 * end(1e-5, "explicit") - end(2e-5, "explicit")
    errors = [np.abs(end(h, "linearly-implicit") - reference).max() for h in (4e-4, 2e-4, 1e-4)]
    assert errors[2] < errors[1] < errors[0] < 0.01
    assert math.log2(errors[1] / errors[2]) == pytest.approx(1.0, abs=0.25)


def test_the_impulse_on_a_resting_mass_is_exactly_its_weight():
    h, mass = 1e-3, 3.0
    chain = PointChain(
        PointChainConfig(masses=(mass,), positions=((0.0, 0.0, 0.1),), shape="sphere", radius=0.1)
    )
    simulation = small_world(
        {"mass": chain},
        SemiImplicitEuler(SemiImplicitEulerConfig(), BuildContext(step=h)),
        step=h,
        solver=ProjectedGaussSeidel(ProjectedGaussSeidelConfig()),
        detector=ReferenceDetector(ReferenceDetectorConfig()),
        obstacles=[floor()],
    )
    simulation.run(0.1)
    record = simulation.contacts()
    assert record.normal_impulse == pytest.approx([h * mass * 9.81], rel=1e-10)
    assert abs(simulation.state.q[2] - 0.1) < 1e-12


def test_a_step_ends_at_a_breakpoint_of_an_input_and_the_grid_stays():
    h = 0.01
    winch = PointChain(
        PointChainConfig(masses=(1.0,), positions=((0.0, 0.0, -1.0),), links=("winch",), lengths=(1.0,))
    )
    channel = winch.description.inputs[0].name
    simulation = small_world(
        {"load": winch},
        SemiImplicitEuler(SemiImplicitEulerConfig(), BuildContext(step=h)),
        step=h,
        inputs={"load": {channel: Ramp(begin=0.0234, end=0.0567, value=0.1)}},
    )
    times = []
    simulation.observe(lambda run, _report: times.append(run.time))
    simulation.run(0.08)
    assert times == pytest.approx(
        [0.01, 0.02, 0.0234, 0.03, 0.04, 0.05, 0.0567, 0.06, 0.07, 0.08], abs=rounding(10, 0.08)
    )
    assert simulation.time == 8 * h


def test_a_massless_free_coordinate_is_reported_as_singular():
    simulation = small_world(
        {"mass": PointChain(PointChainConfig(masses=(0.0,)))},
        SemiImplicitEuler(SemiImplicitEulerConfig(form="explicit"), BuildContext(step=1e-3)),
        step=1e-3,
    )
    with pytest.raises(StepFailed, match="singular"):
        simulation.step()


@pytest.mark.parametrize(("option", "value"), [("form", "implicit"), ("beta", 0.4), ("beta", float("nan"))])
def test_the_error_names_an_invalid_option(option, value):
    with pytest.raises(ValueError, match=option):
        SemiImplicitEulerConfig(**{option: value})
