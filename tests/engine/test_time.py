"""Time: exactly t₀ + n·h, breakpoints landed on, and a stop at the first non-finite value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corekit.data.signals import Ramp, Signal
from corekit.data.status import SolveInfo
from corekit.errors import StepFailed
from corekit.roles.component import BuildContext
from corekit.roles.contact import ImpulseSolver
from corekit.roles.integrator import next_step
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.semi_implicit_euler import SemiImplicitEuler, SemiImplicitEulerConfig
from corekit_testing.small_world import floor, small_world
from corekit_testing.velocity_verlet import VelocityVerlet

INTEGRATORS = {
    "semi-implicit": lambda h: SemiImplicitEuler(None, BuildContext(step=h)),
    "euler": lambda h: ImplicitEuler(None, BuildContext(step=h)),
    "midpoint": lambda h: ImplicitEuler(ImplicitEulerConfig(theta=0.5), BuildContext(step=h)),
    "verlet": lambda h: VelocityVerlet(None, BuildContext(step=h)),
}
every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS)


def world(integrator, h, inputs=None, start_time=0.0, **options):
    return small_world(
        {"mass": PointChain(PointChainConfig(**options), BuildContext(gravity=np.zeros(3)))},
        INTEGRATORS[integrator](h),
        step=h,
        inputs={"mass": inputs} if inputs else None,
        start_time=start_time,
    )


@every_integrator
@pytest.mark.parametrize("start", [0.0, 0.3])
def test_time_is_start_plus_a_whole_number_of_steps_exactly(integrator, start):
    h = 0.1 / 3
    simulation = world(integrator, h, start_time=start)
    for n in range(1, 200):
        simulation.step()
        assert simulation.time == start + n * h
        assert simulation.state.body_states[0].time == simulation.time


@every_integrator
def test_a_step_ends_at_a_breakpoint_between_grid_points(integrator):
    """A pull that ramps up between two instants off the grid; the steps see each piece apart."""
    h, begin, end = 0.01, 0.0333, 0.0777
    pull = Ramp(begin=begin, end=end, start=(0.0, 0.0, 0.0), value=(6.0, 0.0, 0.0))
    simulation = world(integrator, h, {"pull": pull})
    times = []
    simulation.observe(lambda sim, report: times.append((sim.time, report.step_size)))
    simulation.run(0.1)
    stops = [time for time, _ in times]
    assert begin in stops
    assert end in stops
    assert len(stops) == 12
    assert np.diff([0.0, *stops]) == pytest.approx([step for _, step in times])
    # ∫F dt / m is exact at the midpoint and by Verlet's trapezium, since every piece is linear
    exact = 6 * (0.5 * (end - begin) + 0.1 - end)
    tolerance = 1e-12 if integrator in {"midpoint", "verlet"} else 0.05
    assert simulation.state.v[0] == pytest.approx(exact, abs=tolerance)


def test_a_breakpoint_on_a_grid_point_makes_no_extra_step():
    pull = Ramp(begin=0.03, end=0.07, start=(0.0, 0.0, 0.0), value=(6.0, 0.0, 0.0))
    simulation = world("midpoint", 0.01, {"pull": pull})
    times = []
    simulation.observe(lambda sim, _report: times.append(sim.time))
    simulation.run(0.1)
    assert times == [n * 0.01 for n in range(1, 11)]


@every_integrator
@pytest.mark.parametrize("beside", [-5e-10, -1e-11, 1e-11, 5e-10])
def test_a_grid_point_lies_at_the_breakpoint_beside_it(integrator, beside):
    """Apart from it by more than rounding, and by less than 1e-9 of a step; others stay where they are."""
    begin = 0.03 + 0.01 * beside
    pull = Ramp(begin=begin, end=0.07, start=(0.0, 0.0, 0.0), value=(6.0, 0.0, 0.0))
    simulation = world(integrator, 0.01, {"pull": pull})
    times = []
    simulation.observe(lambda sim, report: times.append((sim.time, report.step_size)))
    simulation.run(0.1)
    expected = [n * 0.01 for n in range(11)]
    expected[3] = begin
    assert [time for time, _ in times] == expected[1:]
    assert [step for _, step in times] == pytest.approx(np.diff(expected), rel=0.0, abs=1e-15)


def test_breakpoints_beyond_the_first_look_ahead_are_found():
    pull = Ramp(begin=2.50005, end=3.0, start=(0.0, 0.0, 0.0), value=(1.0, 0.0, 0.0))
    simulation = world("semi-implicit", 1e-3, {"pull": pull})
    times = []
    simulation.observe(lambda sim, _report: times.append(sim.time))
    simulation.run(2.6)
    assert 2.50005 in times


@pytest.mark.parametrize(
    ("time", "stop", "expected"),
    [
        (0.0, 1.0, (0.1, 0.1)),
        (0.95, 1.0, (1.0 - 0.95, 1.0)),
        (0.9, 1.0, (0.1, 1.0)),
        (0.9 + 1e-13, 1.0, (0.1, 1.0)),
        (0.9 - 1e-13, 1.0, (0.1, 1.0)),
    ],
)
def test_landing_never_leaves_a_sliver(time, stop, expected):
    assert next_step(0.1, time, stop) == expected


class _Breaking(Signal):
    """A pull in x that turns nan at an instant."""

    kind = "breaking"

    @property
    def size(self):
        return 3

    @property
    def constant(self):
        return False

    def value(self, t, out):
        out[:] = 0.0
        out[0] = np.nan if t > 0.05 else 1.0

    def rate(self, t, out):
        out.fill(0.0)

    acceleration = rate

    def breakpoints(self, t0, t1):
        return []


@every_integrator
def test_non_finite_force_stops_there_naming_body_coordinate_and_term(integrator):
    h = 0.01
    simulation = world(integrator, h, {"pull": _Breaking()})
    with pytest.raises(StepFailed) as caught:
        simulation.run(1.0)
    error = caught.value
    assert (error.body, error.coordinate, error.term) == ("mass", "vx0", "pull")
    assert "'mass'" in str(error)
    assert "'pull'" in str(error)
    # the force is first nan in the step that sees an instant after 0.05
    assert 0.03 < error.time < 0.07
    assert simulation.time == error.time == error.step * h
    assert np.isfinite(simulation.state.q).all()
    assert simulation.state.v[0] == pytest.approx(error.time)


@pytest.mark.to_nearest("what overflows is the largest finite number", "zero")
def test_explosion_of_an_explicit_step_names_its_spring():
    """h·ω = 20: a free oscillator diverges under explicit Euler until its numbers overflow."""
    model = PointChain(
        PointChainConfig(positions=((0.0, 0.0, 1.5),), links=("spring",), lengths=(1.0,), stiffness=4e6)
    )
    explicit = SemiImplicitEuler(SemiImplicitEulerConfig(beta=0.0, damping=False), BuildContext(step=0.01))
    simulation = small_world({"spring": model}, explicit, step=0.01)
    with np.errstate(all="ignore"), pytest.raises(StepFailed) as caught:
        simulation.run(5.0)
    assert caught.value.body == "spring"
    assert caught.value.term == "spring"
    assert "implicit integrator" in str(caught.value)
    assert np.isfinite(simulation.state.q).all()


class _Nothing(ImpulseSolver):
    """Answers with nan and says that it is solved."""

    def solve(self, problem, impulse):
        impulse[:] = np.nan
        return SolveInfo(answered_by="guessing")


class _Final:
    """Classes that nobody else derives from."""

    scheme: Any = ImplicitEuler
    chain: Any = PointChain


class _Lost(_Final.scheme):
    """Loses the velocity on its way."""

    def step(self, system, state, t_stop, out):
        report = super().step(system, state, t_stop, out)
        out.v[0] = np.nan
        return report


class _Weightless(_Final.chain):
    """Forgets what it weighs."""

    def compute_mass_and_force(self, state, inputs, mass, force):
        super().compute_mass_and_force(state, inputs, mass, force)
        mass.data[0] = np.nan


@pytest.mark.parametrize(
    ("model", "solver", "integrator", "words"),
    [
        (
            PointChain,
            _Nothing(),
            SemiImplicitEuler,
            "is finite: the contact solver _Nothing answered with it",
        ),
        (
            PointChain,
            ProjectedGaussSeidel(),
            _Lost,
            "is finite: the integrator _Lost made it",
        ),
        (
            _Weightless,
            ProjectedGaussSeidel(),
            SemiImplicitEuler,
            "the mass matrix of _Weightless (body 'ball') is not finite",
        ),
    ],
)
def test_the_error_of_a_nan_out_of_finite_forces_names_its_source(model, solver, integrator, words):
    ball = PointChainConfig(positions=((0.0, 0.0, 0.1),), shape="sphere", radius=0.1)
    simulation = small_world(
        {"ball": model(ball)}, integrator(None, BuildContext(step=1e-3)), step=1e-3, solver=solver,
        detector=ReferenceDetector(), obstacles=[floor()],
    )  # fmt: skip
    with np.errstate(all="ignore"), pytest.raises(StepFailed) as caught:
        simulation.step()
    assert words in str(caught.value)
    assert "gravity" not in str(caught.value)
    assert "implicit integrator" not in str(caught.value)


@pytest.mark.to_nearest("what overflows is the largest finite number", "zero")
def test_explosion_on_a_penalty_names_contact():
    model = PointChain(PointChainConfig(positions=((0.0, 0.0, 0.11),), shape="sphere"))
    simulation = small_world(
        {"ball": model},
        VelocityVerlet(None, BuildContext(step=0.01)),
        step=0.01,
        solver=Penalty(PenaltyConfig(stiffness=1e24)),
        detector=ReferenceDetector(),
        obstacles=[floor(), floor((0.0, 0.0, 0.3), rpy=(np.pi, 0.0, 0.0))],
    )
    with np.errstate(all="ignore"), pytest.raises(StepFailed) as caught:
        simulation.run(5.0)
    assert caught.value.term == "contact"


def test_unsolved_contact_is_reported_with_its_sentence():
    from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidelConfig

    model = PointChain(
        PointChainConfig(
            masses=(1e-3,), positions=((0.0, 0.0, 0.1),), velocities=((1.0, 0, 0),), shape="sphere"
        )
    )
    simulation = small_world(
        {"ball": model},
        SemiImplicitEuler(None, BuildContext(step=1e-3)),
        step=1e-3,
        solver=ProjectedGaussSeidel(ProjectedGaussSeidelConfig(tolerance=1e-30, max_iterations=2)),
        detector=ReferenceDetector(),
        obstacles=[floor(), floor(rpy=(0.2, 0.0, 0.0))],
        friction=0.5,
    )
    with pytest.raises(StepFailed, match="iteration limit"):
        simulation.run(0.1)
