"""Fits of a mass on a spring against closed forms of motion, likelihood and identifiability."""

from __future__ import annotations

import math
from importlib.util import find_spec

import numpy as np
import pytest
from attrs import evolve

from corekit.errors import CompositionError, ConfigError
from corekit.roles.options import ComponentRef
from corekit_fit.config import IpoptFitConfig, KnownContact, Markers, Parameter, Unmodelled
from corekit_fit.ipopt_fit import IpoptFit

from .spring import OWN, fitted, spring_task

SOFT = Parameter(name="stiffness", start=20.0, low=1.0, high=1000.0)
LOOSE = Parameter(name="damping", start=0.3, low=0.01, high=100.0)
STEP = 0.02


def stepped(scheme: str, count: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Return times and heights of the scheme from 0.1 m at rest, by 2×2 matrices."""
    m, k, c = OWN["mass"], OWN["stiffness"], OWN["damping"]
    A = np.array([[0.0, 1.0], [-k / m, -c / m]])
    one = np.eye(2)
    if scheme == "implicit-midpoint":
        G = np.linalg.solve(one - 0.5 * STEP * A, one + 0.5 * STEP * A)
    elif scheme == "implicit-euler":
        G = np.linalg.inv(one - STEP * A)
    else:
        # (m + h·c + β·h²·k)·v⁺ = (m + h·c)·v + h·(−k·z − c·v), z⁺ = z + h·v⁺; explicit: no h·c, no β
        extra, beta = (STEP * c, 0.5) if scheme == "semi-implicit-euler" else (0.0, 0.0)
        mass = m + extra + beta * STEP**2 * k
        row = np.array([-STEP * k, m + extra - STEP * c]) / mass
        G = np.array([[1.0 + STEP * row[0], STEP * row[1]], row])
    states = [np.array([0.1, 0.0])]
    for _ in range(count):
        states.append(G @ states[-1])
    return STEP * np.arange(count + 1), np.array(states)[:, 0]


@pytest.mark.parametrize(
    "scheme", ["semi-implicit-euler", "explicit-euler", "implicit-euler", "implicit-midpoint"]
)
def test_a_fit_with_the_same_scheme_is_exact(write, scheme):
    times, heights = stepped(scheme)
    estimate, info = fitted(
        spring_task(STEP), write(times[::2], heights[::2]), [SOFT, LOOSE], scheme=scheme, profile="none"
    )
    assert info.status.solved
    k, c = (each.value for each in estimate.fitted)
    assert k == pytest.approx(OWN["stiffness"], rel=1e-5)
    assert c == pytest.approx(OWN["damping"], rel=1e-4)
    assert info.residuals.equation < 1e-7


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ArithmeticError])
def test_what_a_report_raises_ends_the_search(write, raised):
    """CasADi takes it for a bad point and goes on; IPOPT is stopped, and it is raised afterwards."""
    times, heights = stepped("semi-implicit-euler")
    seen: list[object] = []

    def report(numbers):
        seen.append(numbers.get("iteration"))
        if seen[-1] == 3.0:
            raise raised

    config = IpoptFitConfig(
        parameters=(SOFT, LOOSE), markers=Markers(file=write(times, heights), deviation=1e-3), profile="none"
    )
    with pytest.raises(raised):
        IpoptFit(config).estimate(spring_task(STEP), report)
    assert seen[-1] == 3.0


def test_closed_form_oscillation_gives_its_stiffness_to_second_order(write):
    m, k, c = OWN["mass"], OWN["stiffness"], OWN["damping"]
    decay, omega = c / (2 * m), math.sqrt(k / m - (c / (2 * m)) ** 2)
    times = np.arange(0.0, 1.2001, 0.06)
    heights = 0.1 * np.exp(-decay * times) * (np.cos(omega * times) + decay / omega * np.sin(omega * times))
    off = []
    for step in (0.02, 0.01):
        estimate, _ = fitted(
            spring_task(step),
            write(times, heights),
            [SOFT, LOOSE],
            scheme="implicit-midpoint",
            profile="none",
        )
        off.append(estimate.fitted[0].value / k - 1.0)
    # the midpoint rule lowers ω by (ω·h)²/12, so the fitted k is higher by (ω·h)²/6
    assert off[0] == pytest.approx((omega * 0.02) ** 2 / 6, rel=0.15)
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.1)


def test_deviation_from_the_reduced_hessian_is_that_of_the_profile(write):
    times, heights = stepped("semi-implicit-euler")
    noisy = heights + 1e-3 * np.random.default_rng(0).normal(size=len(heights))
    estimate, _ = fitted(
        spring_task(STEP), write(times, noisy), [SOFT, Parameter(name="damping", start=1.0, low=0.5, high=4.0)],
        profile="all", profile_points=7,
    )  # fmt: skip
    for each in estimate.fitted:
        assert each.verdict == "identified"
        assert each.low < OWN[each.name] < each.high
        deviation = math.log(each.high / each.low) / (2 * 1.96)
        z, cost = np.log(each.profile.values / each.value) / deviation, each.profile.cost
        assert np.abs(z).min() < 1e-6
        assert np.abs(z).max() > 3.9
        near = np.abs(z) < 1.5  # farther away the motion is not linear in the parameters
        assert cost[near] == pytest.approx(0.5 * z[near] ** 2, rel=0.1, abs=1e-6)


def test_free_motion_identifies_only_ratios_of_mass_stiffness_and_damping(write):
    times, heights = stepped("semi-implicit-euler")
    estimate, info = fitted(
        spring_task(STEP), write(times, heights),
        [SOFT, LOOSE, Parameter(name="mass", start=1.0, low=0.05, high=36.0)], profile_points=5,
    )  # fmt: skip
    assert info.status.solved
    found = {each.name: each for each in estimate.fitted}
    assert found["mass"].verdict == "not identifiable"
    # m = 0.05 … 36 kg needs k = 1.25 … 900 N/m, within the bounds of k
    assert np.max(found["mass"].profile.cost) < 1e-6
    ratio = found["stiffness"].value / found["mass"].value
    assert ratio == pytest.approx(OWN["stiffness"] / OWN["mass"], rel=1e-3)


def test_without_a_profile_what_the_data_do_not_bound_is_not_called_identified(write):
    """Only ratios of mass, stiffness and damping are known: the reduced Hessian is singular along their scale."""
    times, heights = stepped("semi-implicit-euler")
    estimate, _ = fitted(
        spring_task(STEP), write(times, heights),
        [SOFT, LOOSE, Parameter(name="mass", start=1.0, low=0.05, high=36.0)], profile="none",
    )  # fmt: skip
    for each in estimate.fitted:
        assert each.verdict == "not identifiable"
        assert each.profile is None
        assert not math.isnan(each.low)
        assert not math.isnan(each.high)
        assert each.low <= each.value <= each.high
        assert (each.low, each.high) == (0.0, math.inf)


def test_without_a_profile_a_wide_interval_within_the_bounds_is_the_reduced_hessian_s(write):
    """The prior alone says 5 ± 1.5, a deviation of 30 %."""
    times, heights = stepped("semi-implicit-euler")
    unseen = Parameter(name="colour", scale="linear", prior=5.0, prior_deviation=1.5)
    estimate, _ = fitted(spring_task(STEP), write(times, heights), [SOFT, unseen], profile="none")
    colour = estimate.fitted[1]
    assert colour.verdict == "weakly identified"
    assert (colour.low, colour.high) == pytest.approx((5.0 - 1.96 * 1.5, 5.0 + 1.96 * 1.5), rel=1e-6)


def test_a_parameter_without_effect_keeps_its_prior(write):
    times, heights = stepped("semi-implicit-euler")
    unseen = Parameter(name="colour", scale="linear", prior=5.0, prior_deviation=0.2)
    estimate, _ = fitted(spring_task(STEP), write(times, heights), [SOFT, unseen])
    colour = estimate.fitted[1]
    assert colour.value == pytest.approx(5.0, rel=1e-6)
    assert colour.high - colour.low == pytest.approx(2 * 1.96 * 0.2, rel=1e-6)


def test_a_known_contact_carries_the_load(write, tmp_path):
    # 30 N press the mass on a floor at the rest position of the spring
    task = spring_task(STEP, force=-30.0, floor=0.0, folder=tmp_path)
    times = STEP * np.arange(6)
    estimate, info = fitted(
        task,
        write(times, np.zeros(6)),
        [LOOSE],
        contacts=(KnownContact(obstacle="floor"),),
        profile_points=3,
    )
    assert info.status.solved
    assert estimate.metrics["contact_force_mean_N"] == pytest.approx(30.0, rel=1e-6)
    damping = estimate.fitted[0]
    assert damping.verdict == "not identifiable"
    if find_spec("matplotlib") is None:
        assert estimate.notes == ("no pictures without Matplotlib: pip install corekit-fit[plots]",)
        return
    drawn = {path.name for path in estimate.pictures}
    assert {"overlay.png", "residuals.png", "profile-damping.png"} <= drawn
    assert all(path.stat().st_size > 1000 for path in estimate.pictures)


def test_unmodelled_force_replaces_a_missing_load(write):
    times, heights = stepped("semi-implicit-euler")
    pushed = spring_task(STEP, force=5.0)  # the observations do not contain this force
    stiff = Parameter(name="colour", scale="linear", prior=1.0, prior_deviation=1.0)
    file = write(times, heights)
    hard, _ = fitted(pushed, file, [stiff], start="known")
    soft, _ = fitted(
        pushed,
        file,
        [stiff],
        start="known",
        unmodelled=(Unmodelled(unit="m/s", force=100.0),),
        deviation=1e-6,
    )
    assert np.nanmax(hard.distance) > 0.02
    assert np.nanmax(soft.distance) < 1e-5
    assert soft.metrics["missed_force_rms_deviations"] == pytest.approx(5.0 / 100.0, rel=1e-2)


def test_a_shift_of_every_step_is_found_as_it_was_made(write):
    m, k, c, drift = OWN["mass"], OWN["stiffness"], OWN["damping"], 2e-3
    mass = m + STEP * c + 0.5 * STEP**2 * k
    z, v, heights = 0.1, 0.0, [0.1]
    for _ in range(40):
        v = ((m + STEP * c) * v + STEP * (-k * z - c * v)) / mass
        z += STEP * v + drift
        heights.append(z)
    unseen = Parameter(name="colour", scale="linear", prior=1.0, prior_deviation=1.0)
    estimate, info = fitted(
        spring_task(STEP), write(STEP * np.arange(41), heights), [unseen], start="known", deviation=1e-4,
        unmodelled=(Unmodelled(unit="m/s", shift=1e-2),), profile="none",
    )  # fmt: skip
    assert info.status.solved
    # steps 100 times less certain than markers: a misfit of about 1e-4 of the shift of 2e-3 m
    assert np.nanmax(estimate.distance) < 1e-6
    assert estimate.metrics["shift_rms_deviations"] == pytest.approx(drift / 1e-2, rel=1e-3)
    with pytest.raises(ConfigError, match="must be > 0, or `shift`"):
        Unmodelled(unit="m/s")


def test_mistakes_are_reported(write):
    file = write([0.0, 0.1], [0.1, 0.1])
    wrong = [Parameter(name="stifness"), Parameter(name="colour", start=-1.0, scale="linear", high=0.0)]
    with pytest.raises(ConfigError, match=r"stifness.*stiffness"):
        fitted(spring_task(), file, wrong)
    with pytest.raises(CompositionError, match="no obstacle 'wall'; the scenario has none"):
        fitted(spring_task(), file, [SOFT], contacts=(KnownContact(obstacle="wall"),))
    with pytest.raises(CompositionError, match="names the units rad/s"):
        fitted(spring_task(), file, [SOFT], unmodelled=(Unmodelled(unit="rad/s", force=1.0),))
    strange = evolve(spring_task(), integrator=ComponentRef("rk23"))
    with pytest.raises(CompositionError, match="does not support the integrator 'rk23': give `scheme`"):
        fitted(strange, file, [SOFT])
    with pytest.raises(ConfigError, match="must lie between low and high"):
        Parameter(name="stiffness", start=1.0, low=2.0)
    with pytest.raises(ConfigError, match="needs prior_deviation"):
        Parameter(name="stiffness", prior=1.0)


def test_too_few_iterations_are_not_solved(write):
    times, heights = stepped("semi-implicit-euler")
    estimate, info = fitted(spring_task(STEP), write(times, heights), [SOFT, LOOSE], max_iterations=1)
    assert not info.status.solved
    assert estimate.fitted == ()
