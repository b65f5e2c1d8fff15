"""Impulse solvers on problems with known answers: complementarity, friction, honesty."""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from typing import Any

import attrs
import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo
from corekit.roles.component import BuildContext
from corekit.roles.friction import ANISOTROPIC_COULOMB
from corekit_testing.conformance.check import (
    Check,
    check,
    expect,
    expect_close,
    expect_own_name,
    expect_unsolved,
)
from corekit_testing.conformance.contact_problems import (
    DenseProblem,
    crushed,
    feasible,
    point_mass,
    random_problems,
)
from corekit_testing.conformance.friction_laws import LAWS
from corekit_testing.conformance.solver_directions import DIRECTIONS
from corekit_testing.conformance.subject import Subject

__all__ = ["IMPULSES"]

_NEAR = 1e-6
"""Residual below which an answer counts as exact [m/s or N·s]."""


def _answer(solver: Any, problem: DenseProblem, guess: Array | None = None) -> tuple[Array, SolveInfo]:
    impulse = np.zeros(len(problem.free_velocity)) if guess is None else guess.copy()
    info = solver.solve(problem, impulse)
    return impulse, info


def _solved(solver: Any, problem: DenseProblem, what: str, guess: Array | None = None) -> Array:
    impulse, info = _answer(solver, problem, guess)
    expect(info.status.solved, f"{what}: not solved: {info.status.value}")
    return impulse


def _hampered(subject: Subject) -> Any:
    """The solver stopped after one iteration, where it has such an option."""
    config = subject.config()
    if not any(each.name == "max_iterations" for each in attrs.fields(type(config))):
        return subject.build()
    return subject.build_from(attrs.evolve(config, max_iterations=1))


@check("resting-impulse", "a mass at rest is carried by the impulse of its weight over the step", "impulses")
def resting_impulse(subject: Subject) -> None:
    fall = 9.81e-3
    impulse = _solved(subject.build(), point_mass([-fall, 0.0, 0.0], 0.5), "a resting point")
    expect_close("normal and tangential impulse [N·s]", impulse, np.array([2.0 * fall, 0.0, 0.0]), _NEAR)


@check(
    "separating-untouched",
    "what separates, or has room enough, gets no impulse; nothing to solve is solved",
    "impulses",
)
def separating_untouched(subject: Subject) -> None:
    solver = subject.build()
    for velocity in ([0.2, -1.0, 0.5], [0.0, 0.0, 0.0]):
        impulse = _solved(solver, point_mass(velocity, 0.7), "a separating point")
        expect_close("impulse of a separating contact [N·s]", impulse, np.zeros(3), _NEAR)
    problem = DenseProblem(
        np.eye(3), np.eye(3), np.array([-1.0, 0.0, 0.0]), 0.3, stabilisation=np.array([0.4, 0, 0])
    )
    after = problem.after(_solved(solver, problem, "an open gap"))
    expect_close("speed that an open gap allows [m/s]", after[0], np.array(-0.4), _NEAR)
    empty = DenseProblem(np.eye(3), np.zeros((0, 3)), np.zeros(3))
    _solved(solver, empty, "no contact at all")


@check(
    "sticking-and-sliding",
    "a point on a slope sticks below the friction angle and slides above it",
    "impulses",
)
def sticking_and_sliding(subject: Subject) -> None:
    solver, mu, pull = subject.build(), 0.4, 9.81e-2
    for width in (3, 2):
        for factor in (0.5, 0.98, 1.02, 2.0):
            slope = math.atan(factor * mu)
            velocity = [-pull * math.cos(slope), pull * math.sin(slope), 0.0][:width]
            problem = point_mass(velocity, mu, width=width)
            impulse = _solved(solver, problem, f"a point at {factor:g} of the friction angle, {width} rows")
            wanted = pull * max(0.0, math.sin(slope) - mu * math.cos(slope))
            after = problem.after(impulse)
            where = f"at {factor:g} of the friction angle, {width} rows"
            expect_close(f"slip {where} [m/s]", after[1], np.array(wanted), _NEAR)
            friction = -2.0 * min(pull * math.sin(slope), mu * pull * math.cos(slope))
            expect_close(f"friction {where} [N·s]", impulse[1], np.array(friction), _NEAR)


@check("complementarity", "impulse and separation are never negative and never both", "impulses")
def complementarity(subject: Subject) -> None:
    solver = subject.build()
    for problem in random_problems():
        impulse = _solved(solver, problem, f"{problem.contact_count} random contacts")
        normal, speed = problem.normal(impulse), problem.normal(problem.relative(impulse))
        expect(normal.min() >= -_NEAR, f"a normal impulse is {normal.min():.3g} N·s")
        expect(speed.min() >= -_NEAR, f"a contact closes at {-speed.min():.3g} m/s")
        both = np.abs(np.minimum(normal, speed)).max()
        expect(both <= _NEAR, f"a contact with {both:.3g} N·s separates at as many m/s")


@check(
    "friction-cone",
    "friction stays in its cone, opposes slip, and is at its bound where it slips",
    "impulses",
)
def friction_cone(subject: Subject) -> None:
    solver = subject.build()
    slips = 0
    for problem in random_problems():
        impulse = _solved(solver, problem, f"{problem.contact_count} random contacts")
        slip = problem.tangential(problem.relative(impulse))
        friction, bound = problem.tangential(impulse), problem.friction * problem.normal(impulse)
        for c in range(problem.contact_count):
            size, speed = float(np.linalg.norm(friction[c])), float(np.linalg.norm(slip[c]))
            expect(size <= bound[c] + _NEAR, f"friction of {size:.6g} N·s, the cone ends at {bound[c]:.6g}")
            power = float(friction[c] @ slip[c])
            # the coarsest pyramid allowed has four sides: it points up to 45° away and may be 1/√2 short
            if speed > 1e-3 and bound[c] > 1e-3:
                slips += 1
                expect(
                    power <= -0.7 * bound[c] * speed,
                    f"slip at {speed:.3g} m/s is opposed by a power of {power:.3g}",
                )
            expect(power <= _NEAR, f"friction drives the slip with {power:.3g}")
    expect(slips, "no contact of the reference problems slips")


@check(
    "anisotropic-friction",
    "sliding forward and backward is resisted by as much as the coefficients say",
    "impulses",
    "anisotropic-coulomb",
)
def anisotropic_friction(subject: Subject) -> None:
    law, fall, mass = ANISOTROPIC_COULOMB, 9.81e-3, 2.0
    solver = subject.build(BuildContext(path="conformance", friction_law=law.name))
    record = (0.2, 0.8, 0.5)
    records = np.array([record])
    for width, sign, factor in product((3, 2), (1.0, -1.0), (0.9, 1.1, 3.0)):
        mu = record[0] if sign > 0.0 else record[1]
        where = f"{'forward' if sign > 0.0 else 'backward'} at {factor:g} of the friction angle, {width} rows"
        problem = point_mass([-fall, sign * factor * mu * fall, 0.0][:width], records, mass, width=width)
        slip = problem.after(_solved(solver, problem, f"a point that slides {where}"))[1]
        expect_close(f"slip {where} [m/s]", slip, np.array(sign * max(0.0, factor - 1.0) * mu * fall), _NEAR)


@check("duplicates-harmless", "the same contact listed three times leaves the velocity as it is", "impulses")
def duplicates_harmless(subject: Subject) -> None:
    for mu in (0.0, 0.4):
        once, thrice = (point_mass([-1.0, 0.9, 0.0], mu, copies=copies) for copies in (1, 3))
        solver = subject.build()
        one = once.after(_solved(solver, once, "one contact"))
        three = thrice.after(_solved(solver, thrice, "a contact listed three times"))
        expect_close("velocity with the contact three times [m/s]", three, one, _NEAR)


@check(
    "scale-harmless",
    "at other speeds and with other masses the answer is the same, relative to them",
    "impulses",
)
def scale_harmless(subject: Subject) -> None:
    mass, rows = np.eye(3), np.vstack([np.eye(3), [[0.8, 0.6, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]])
    for velocity in ([-1.0, 0.2, 0.1], [-1.0, 0.9, -0.4]):
        problem = DenseProblem(mass, rows, np.array(velocity), 0.4)
        wanted = problem.relative(_solved(subject.build(), problem, "two contacts of a point"))
        for speed, mobility in ((1e-5, 1.0), (1e5, 1.0), (1.0, 1e-5), (1.0, 1e5)):
            where = f"at {speed:g} times the speed, with {1 / mobility:g} times the mass"
            other = DenseProblem(mass / mobility, rows, speed * problem.velocity, 0.4)
            impulse = _solved(subject.build(), other, f"two contacts {where}")
            found = problem.relative(impulse * (mobility / speed))
            expect_close(f"velocities {where}, relative to it", found, wanted, _NEAR)


@check("infeasible-not-solved", "a problem without solution is never said to be solved", "impulses")
def infeasible_not_solved(subject: Subject) -> None:
    for mu in (0.0, 0.5):
        impulse, info = _answer(subject.build(), crushed(mu))
        expect(not info.status.solved, f"two walls closing in on a point are {info.status.name}")
        expect(np.isfinite(impulse).all(), "the best answer of a problem without solution is not finite")


@check(
    "residuals-truthful", "reported residuals are those of the physical problem, solved or not", "impulses"
)
def residuals_truthful(subject: Subject) -> None:
    problems = [*random_problems(), point_mass([-1.0, 0.9, 0.0], 0.4), crushed(0.0), crushed(0.5)]
    for problem, make in product(problems, (subject.build, partial(_hampered, subject))):
        impulse, info = _answer(make(), problem)
        true, said = problem.normal_error(impulse), info.residuals.normal
        same = abs(true - said) <= 1e-9 + 1e-5 * true
        expect(same, f"says a normal residual of {said:.6g}, it is {true:.6g}")
        radius = problem.friction * np.maximum(problem.normal(impulse), 0.0)
        beyond = float(np.max(np.linalg.norm(problem.tangential(impulse), axis=1) - radius, initial=0.0))
        expect(
            info.residuals.cone >= beyond - 1e-9 - 1e-5 * beyond,
            f"says a cone violation of {info.residuals.cone:.6g} N·s, it is {beyond:.6g}",
        )
        least, reported = problem.friction_error(impulse), info.residuals.friction
        expect(
            reported >= least - 1e-9 - 1e-5 * least,
            f"says a friction residual of {reported:.6g}, it is at least {least:.6g}",
        )


@check("guess-harmless", "a bad guess does not spoil the answer", "impulses")
def guess_harmless(subject: Subject) -> None:
    problem = feasible(np.random.default_rng(12), contacts=2, friction=0.0)
    wanted = problem.after(_solved(subject.build(), problem, "two contacts"))
    for size in (1.0, -3.0, 1e3):
        guess = size * np.random.default_rng(13).normal(size=len(problem.free_velocity))
        after = problem.after(
            _solved(subject.build(), problem, f"two contacts from a guess of size {size:g}", guess)
        )
        expect_close("velocity from another guess [m/s]", after, wanted, _NEAR)


@check(
    "bounded-rows-held",
    "a bounded row holds within its bounds and gives way at them",
    "impulses",
    "bounded-constraints",
)
def bounded_rows_held(subject: Subject) -> None:
    for speed in (0.1, -0.1, 0.5, -0.5):
        problem = DenseProblem(2.0 * np.eye(1), np.eye(1), np.array([speed]), width=3, bounds=[(-0.4, 0.6)])
        impulse = _solved(subject.build(), problem, "a brake")
        wanted = float(np.clip(-2.0 * speed, -0.4, 0.6))
        expect_close("impulse of a brake [N·s]", impulse, np.array([wanted]), _NEAR)
    for bounds in ((-np.inf, np.inf), (-np.inf, 0.6), (-0.4, np.inf)):
        for speed in (0.5, -0.5):
            problem = DenseProblem(2.0 * np.eye(1), np.eye(1), np.array([speed]), width=3, bounds=[bounds])
            impulse = _solved(subject.build(), problem, f"a row with bounds {bounds}")
            wanted = float(np.clip(-2.0 * speed, *bounds))
            expect_close(f"impulse of a row with bounds {bounds} [N·s]", impulse, np.array([wanted]), _NEAR)


@check(
    "bounded-rows-beside-contacts",
    "bounded rows hold and contacts keep their laws where both act on each other",
    "impulses",
    "bounded-constraints",
)
def bounded_rows_beside_contacts(subject: Subject) -> None:
    random = np.random.default_rng(15)
    bounds = [(-0.3, 0.2), (-np.inf, 0.1), (-np.inf, np.inf)]
    for mu in (np.array([0.0]), np.array([0.5, 0.2]), np.array([0.1, 0.7, 0.3, 0.0])):
        problem = feasible(random, len(mu), mu, bounds)
        impulse = _solved(subject.build(), problem, f"{len(mu)} contacts and {len(bounds)} bounded rows")
        error = problem.normal_error(impulse)
        expect(error <= _NEAR, f"beside {len(mu)} contacts a row or contact is {error:.3g} m/s or N·s off")
        lacking = problem.friction_error(impulse)
        expect(lacking <= _NEAR, f"beside bounded rows friction is {lacking:.3g} m/s or N·s off")


@check("nan-unsolved", "what is not a number is never said to be solved", "impulses")
def nan_unsolved(subject: Subject) -> None:
    for name, mu in product(("free_velocity", "matrix"), (0.0, 0.4)):
        for row in range(3):
            problem = point_mass([-1.0, 0.3, 0.0], mu, copies=2)
            spoilt = getattr(problem, name)
            spoilt[row] = spoilt.T[row] = np.nan
            expect_unsolved(f"a problem with nan in {name}", _answer(subject.build(), problem)[1])


@check("answered-by-itself", "an answer is not ascribed to another solver", "impulses")
def answered_by_itself(subject: Subject) -> None:
    solver = subject.build()
    for problem in (*random_problems(), point_mass([0.2, 0.0, 0.0]), crushed(0.5)):
        expect_own_name(subject, _answer(solver, problem)[1])


IMPULSES: tuple[Check, ...] = (
    resting_impulse,
    separating_untouched,
    sticking_and_sliding,
    complementarity,
    friction_cone,
    anisotropic_friction,
    *LAWS,
    duplicates_harmless,
    scale_harmless,
    infeasible_not_solved,
    residuals_truthful,
    guess_harmless,
    nan_unsolved,
    answered_by_itself,
    bounded_rows_held,
    bounded_rows_beside_contacts,
    *DIRECTIONS,
)
"""Checks of impulse solvers."""
