"""Implicit Euler and midpoint on motions with an independent solution: orders, rest, energy, failure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

from corekit.data.contacts import Candidates, ContactSet
from corekit.data.signals import Ramp
from corekit.errors import StepFailed
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit.roles.component import BuildContext
from corekit.roles.detector import ContactDetector
from corekit.roles.world import Stabilisation
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector, ReferenceDetectorConfig
from corekit_testing.small_world import floor, small_world, sphere
from corekit_timestep.config import ImplicitEulerConfig, ImplicitMidpointConfig
from corekit_timestep.theta_integrator import ThetaIntegrator

GRAVITY, ANGLE = 9.81, 1.0
U0 = 0.2 - 0.8 / 4
"""Rate of the winch at t = 0 [m/s]: a ramp from 0.2 to −0.6 between −1 s and 3 s."""
SCHEMES = {ImplicitEulerConfig: 1.0, ImplicitMidpointConfig: 2.0}
BOTH = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.__name__)


def final(model, scheme, h, duration, options=None, **world):
    integrator = ThetaIntegrator(scheme(**(options or {})), BuildContext(step=h))
    simulation = small_world({"body": model}, integrator, step=h, **world)
    simulation.run(duration)
    return simulation.state.q.copy()


def assert_order(scheme, run, exact, h):
    errors = [np.linalg.norm(run(step) - exact) for step in (h, h / 2)]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(SCHEMES[scheme], abs=0.12)


def chain(*points, **options):
    return PointChain(PointChainConfig(positions=points, **options))


def on_circle(angle, length=1.0):
    return (length * math.sin(angle), -length * math.cos(angle))


def swing(t, length=1.0):
    """Angle of a pendulum released from rest: sin(θ/2) = k·sn(K − ω·t), k = sin(ANGLE/2)."""
    k = math.sin(ANGLE / 2)
    sn, *_ = ellipj(ellipk(k * k) - math.sqrt(GRAVITY / length) * t, k * k)
    return 2 * math.asin(k * sn)


@BOTH
def test_pendulum_in_its_angle_and_on_a_rod(scheme):
    angle = Pendulum(PendulumConfig(angles=(ANGLE,)))
    assert_order(scheme, lambda h: final(angle, scheme, h, 1.0), swing(1.0), 0.01)
    rod = chain(on_circle(ANGLE), planar=True, links=("rod",))
    assert_order(scheme, lambda h: final(rod, scheme, h, 1.0), on_circle(swing(1.0)), 0.01)


@BOTH
def test_bead_sliding_inside_a_ring(scheme):
    """Contact alone supports it, without stabilisation, as in the papers."""
    distance = 0.9
    bead = chain(on_circle(ANGLE, distance), planar=True, shape="sphere", radius=0.1)

    def run(h):
        return final(
            bead, scheme, h, 0.4, solver=ProjectedGaussSeidel(), obstacles=[sphere(1.0)],
            detector=ReferenceDetector(ReferenceDetectorConfig(hollow=True)),
            stabilisation=Stabilisation(push_out=math.inf, cap=math.inf),
        )  # fmt: skip

    assert_order(scheme, run, on_circle(swing(0.4, distance), distance), 0.005)


@BOTH
def test_winch_shortens_a_pendulum(scheme):
    reel = Ramp(begin=-1.0, end=3.0, value=-0.6, start=0.2)

    def rate_of(t, y):
        angle, rate, length = y
        u = U0 - 0.2 * t
        return [rate, -(GRAVITY * math.sin(angle) + 2 * u * rate) / length, u]

    angle, _, length = solve_ivp(rate_of, (0, 0.5), [ANGLE, 0, 1], rtol=1e-12, atol=1e-12).y[:, -1]
    # a rigid winch starts at its rate, because from rest its rate would jump
    model = chain(on_circle(ANGLE), planar=True, links=("winch",), velocities=(on_circle(ANGLE, U0),))

    def run(h):
        return final(model, scheme, h, 0.5, inputs={"body": {"reel": reel}})

    assert_order(scheme, run, on_circle(angle, length), 0.005)


@BOTH
def test_driven_base_shakes_a_spring(scheme):
    """Against an integration of the free mass alone, to 1e-12."""
    k, amplitude, omega = 200.0, 0.1, 2 * math.pi * 1.5

    def rate_of(t, y):
        x, z, vx, vz = y
        offset = np.array([x - amplitude * math.sin(omega * t), z])
        length = np.linalg.norm(offset)
        spring_force = -k / 0.5 * (length - 1.0) / length * offset
        return [vx, vz, spring_force[0], spring_force[1] - GRAVITY]

    exact = solve_ivp(rate_of, (0, 0.3), [0, -1, 0, 0], rtol=1e-12, atol=1e-12).y[:2, -1]
    config = PointChainConfig(
        masses=(1.0, 0.5), positions=((0.0, 0.0), (0.0, -1.0)), planar=True, links=("none", "spring"),
        stiffness=k, driven=(0,), drive_amplitude=(amplitude, 0.0, 0.0), drive_frequency=1.5,
    )  # fmt: skip
    assert_order(scheme, lambda h: final(PointChain(config), scheme, h, 0.3)[2:], exact, 2.5e-3)


@BOTH
def test_ball_on_a_potential_floor_oscillates_harmonically(scheme):
    k, layer = 1e4, 0.1
    static = GRAVITY / k
    equilibrium, amplitude = 0.1 + layer - static, 0.5 * static
    exact = np.array([0, 0, equilibrium + amplitude * math.cos(math.sqrt(k) * 0.05)])

    def run(h):
        return final(
            chain((0.0, 0.0, equilibrium + amplitude), shape="sphere", radius=0.1), scheme, h, 0.05,
            solver=Penalty(PenaltyConfig(stiffness=k, power=1, thickness=layer)),
            detector=ReferenceDetector(), obstacles=[floor()],
        )  # fmt: skip

    assert_order(scheme, run, exact, 0.05 / 128)


def test_midpoint_conserves_the_energy_of_a_linear_oscillator_to_rounding_and_euler_loses_as_predicted():
    """Per step |R(iωh)|²: 1 for midpoint, 1/(1 + ω²h²) for Euler."""
    k, h, steps = 400.0, 0.01, 500
    mass = PointChain(
        PointChainConfig(masses=(1.0,), positions=((1.1, 0.0, 0.0),), links=("spring",), lengths=(1.0,), stiffness=k),
        BuildContext(gravity=np.zeros(3)),
    )  # fmt: skip
    for scheme, ratio in ((ImplicitMidpointConfig, 1.0), (ImplicitEulerConfig, 1.0 / (1.0 + k * h * h))):
        simulation = small_world({"mass": mass}, ThetaIntegrator(scheme(), BuildContext(step=h)), step=h)
        simulation.run(steps * h)
        x, v = simulation.state.q[0] - 1.0, simulation.state.v[0]
        energy = 0.5 * (k * x * x + v * v)
        assert energy == pytest.approx(0.5 * k * 0.01 * ratio**steps, rel=1e-8)


def test_midpoint_keeps_the_energy_of_a_double_pendulum_bounded():
    model = Pendulum(
        PendulumConfig(lengths=(0.8, 0.5), masses=(1.0, 0.6), angles=(1.0, 0.3), rates=(0.0, 0.0))
    )
    simulation = small_world(
        {"body": model}, ThetaIntegrator(ImplicitMidpointConfig(), BuildContext(step=2e-3)), step=2e-3
    )
    energies = []
    simulation.observe(
        lambda run, _report: energies.append(sum(model.compute_energies(run.state.body_states[0])))
    )
    start = sum(model.compute_energies(simulation.state.body_states[0]))
    simulation.run(4.0)
    drift = np.array(energies) - start
    assert np.abs(drift).max() < 5e-3
    # no trend: the two halves of the run have the same mean
    assert abs(drift[:1000].mean() - drift[1000:].mean()) < 2e-4


@BOTH
def test_two_bodies_collide_and_keep_their_momentum(scheme):
    def ball(mass, position, velocity):
        config = PointChainConfig(
            masses=(mass,), positions=(position,), velocities=(velocity,), shape="sphere"
        )
        return PointChain(config, BuildContext(gravity=np.zeros(3)))

    masses = np.array([0.3, 2.0])
    for solver in (ProjectedGaussSeidel(), Penalty(PenaltyConfig(stiffness=2e6, power=2, thickness=5e-3))):
        simulation = small_world(
            {"light": ball(0.3, (0, 0, 0), (1.0, 0.1, 0)), "heavy": ball(2.0, (0.25, 0.03, 0.01), (-0.5, 0, 0))},
            ThetaIntegrator(scheme(), BuildContext(step=1e-3)), step=1e-3,
            solver=solver, detector=ReferenceDetector(), friction=0.3,
        )  # fmt: skip
        before = masses @ simulation.state.v.reshape(2, 3)
        simulation.run(0.1)
        v = simulation.state.v.reshape(2, 3)
        assert masses @ v == pytest.approx(before, abs=1e-12)
        assert abs(v[0, 0] - 1.0) > 0.5


# — how the equation is solved —


def oscillating_strut(options, h, duration=0.3):
    """Two masses on stiff springs, the outer one thrown sideways: strongly nonlinear at this step."""
    model = PointChain(
        PointChainConfig(
            masses=(1.0, 1.0),
            positions=((1.0, 0.0, 0.0), (2.0, 0.0, 0.0)),
            stiffness=1e6,
            velocities=((0.0, 0.0, 0.0), (0.0, 30.0, 0.0)),
            links=("spring", "spring"),
        ),
        BuildContext(gravity=np.zeros(3)),
    )
    integrator = ThetaIntegrator(ImplicitEulerConfig(**options), BuildContext(step=h))
    simulation = small_world({"body": model}, integrator, step=h)
    reports, times = [], [0.0]
    simulation.observe(lambda run, report: (reports.append(report), times.append(run.time)))
    simulation.run(duration)
    # pitfall: the report of a halved step has its own time and size
    assert np.diff(times) == pytest.approx([report.step_size for report in reports], rel=1e-9)
    return simulation, reports


def test_chord_steps_give_the_same_motion_with_fewer_factorisations():
    with_chord, fewer = oscillating_strut({"reuse": 0.5, "tolerance": 1e-11}, 4e-3)
    without, more = oscillating_strut({"reuse": 0.0, "tolerance": 1e-11}, 4e-3)
    assert with_chord.state.q == pytest.approx(without.state.q, abs=1e-7)
    assert sum(r.iterations for r in fewer) < sum(r.iterations for r in more)


def test_the_reported_residual_bounds_that_of_the_step_equation():
    """m·(v⁺ − v₀) − h·f(q⁺) for two springs; the report has the residual before the last increment."""
    h = 2e-3
    simulation, reports = oscillating_strut({"tolerance": 1e-4}, h, h)
    inner, outer = simulation.state.q.reshape(2, 3)
    pulls = [1e6 * (1.0 - 1.0 / np.linalg.norm(span)) * span for span in (inner, outer - inner)]
    force = np.concatenate([pulls[1] - pulls[0], -pulls[1]])
    residual = np.abs(simulation.state.v - np.array([0, 0, 0, 0, 30.0, 0]) - h * force).max()
    assert residual < reports[0].solve_info.residuals.equation < 1e-3 < h * 1e6


def test_steps_are_cut_if_newton_fails_and_the_grid_stays():
    options = {"max_iterations": 1, "reuse": 0.0}
    with pytest.raises(StepFailed, match="iteration limit"):
        oscillating_strut(options | {"adaptive": False}, 0.05)
    simulation, reports = oscillating_strut(options, 0.05)
    assert min(r.step_size for r in reports) < 0.05
    assert all("cut" in r.note for r in reports if r.step_size < 0.04)
    assert sum(r.step_size for r in reports) == pytest.approx(0.3, abs=1e-12)
    assert simulation.time == 0.3 or simulation.time == 6 * 0.05


class Restless(ContactDetector):
    """Sees a plane lean to one side and to the other in turn, so that no iterate has the contacts of the last one."""

    def __init__(self) -> None:
        self._exact, self._lean = ReferenceDetector(), 0.3

    @property
    def supported_pairs(self) -> frozenset[tuple[str, str]]:
        return self._exact.supported_pairs

    def prepare(self, table: ShapeTable, served: frozenset[tuple[str, str]]) -> None:
        self._exact.prepare(table, served)

    def find_candidates(self, poses: ShapePoses, margin: float, out: Candidates) -> None:
        self._exact.find_candidates(poses, margin, out)

    def compute_contacts(
        self, candidates: Candidates, poses: ShapePoses, margin: float, out: ContactSet
    ) -> None:
        self._exact.compute_contacts(candidates, poses, margin, out)
        self._lean = -self._lean
        out.normal[: out.count] = math.sin(self._lean), 0.0, math.cos(self._lean)


def test_contacts_that_do_not_settle_are_held_in_short_steps_and_the_report_says_so():
    body = PointChain(PointChainConfig(positions=((0.0, 0.0, 0.1),), shape="sphere", radius=0.1))
    simulation = small_world(
        {"body": body}, ThetaIntegrator(ImplicitEulerConfig(), BuildContext(step=1e-3)), step=1e-3,
        solver=ProjectedGaussSeidel(), detector=Restless(), obstacles=[floor()],
    )  # fmt: skip
    notes = {simulation.step().note for _ in range(3)}
    assert any("solved with the contacts of its start" in note for note in notes)


@BOTH
def test_shorter_steps_satisfy_the_bound_on_the_local_error(scheme):
    """At most 0.1 s per step; the error against the closed form falls with the bound."""
    model = Pendulum(PendulumConfig(angles=(ANGLE,)))
    errors = []
    for bound in (1e-4, 1e-6):
        angle = final(model, scheme, 0.1, 1.0, {"local_error": bound})
        errors.append(abs(angle[0] - swing(1.0)))
    assert errors[1] < 0.2 * errors[0]


def test_an_indefinite_matrix_is_shifted_and_the_note_reports_it():
    """A compressed spring with a nudge sideways: K has a negative eigenvalue, h²·|K₋| exceeds m."""
    model = PointChain(
        PointChainConfig(
            masses=(0.01,), positions=((0.8, 1e-3, 0.0),), links=("spring",), lengths=(1.0,), stiffness=1e3, drag=1.0
        ),
        BuildContext(gravity=np.zeros(3)),
    )  # fmt: skip
    simulation = small_world(
        {"strut": model}, ThetaIntegrator(ImplicitEulerConfig(), BuildContext(step=0.02)), step=0.02
    )
    notes = []
    simulation.observe(lambda _run, report: notes.append(report.note))
    simulation.run(2.0)
    assert any("shifted" in note for note in notes)
    # the strut has snapped through to its natural length
    assert np.linalg.norm(simulation.state.q) == pytest.approx(1.0, abs=1e-6)


def test_the_error_of_a_failed_step_names_a_non_finite_force():
    model = PointChain(PointChainConfig())
    simulation = small_world(
        {"mass": model}, ThetaIntegrator(ImplicitMidpointConfig(), BuildContext(step=1e-3)), step=1e-3
    )
    model._gravity[2] = np.nan
    with pytest.raises(StepFailed, match="gravity"):
        simulation.step()


@pytest.mark.parametrize(
    ("option", "value"), [("tolerance", 0.0), ("max_iterations", 0), ("reuse", 1.0), ("local_error", -1.0)]
)
def test_the_error_names_an_invalid_option(option, value):
    with pytest.raises(ValueError, match=option):
        ImplicitEulerConfig(**{option: value})
