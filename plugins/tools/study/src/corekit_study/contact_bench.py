"""Every installed impulse solver on contact problems from files; what it says to have solved is measured here.

The residual is that of Coulomb's law with non-penetration, as a velocity,

    max over contacts of |λ − P_K(λ − ρ·ŵ)|/ρ,   ŵ = (w_n + μ·|w_t|, w_t),  ρ = width/tr W_cc          (1)

An answer is falsely solved where the solver said solved and (1) exceeds `_FALSE` of the largest free velocity. A solver
of a friction pyramid obeys its own law only, so its answers that break (1) alone count as another law.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.errors import CorekitError
from corekit.registry.discover import discover
from corekit.registry.resolve import load_target, resolve
from corekit.roles.component import BuildContext
from corekit.roles.contact import ImpulseSolver
from corekit.roles.contact_laws import cone_distance, law_residuals, relative_velocity
from corekit_study.fclib import FileProblem, read_problem

__all__ = ["ContactResult", "measure_cone", "run_solvers"]

_FALSE: Final = 1e-5


@frozen
class ContactResult:
    """One solver on one file: outcome (solved, declined, other law, falsely solved), time [s], residual (1) [m/s]."""

    file: str
    solver: str
    outcome: str
    seconds: float
    residual: float


def measure_cone(problem: FileProblem, impulse: Array) -> tuple[float, float]:
    """Return (1) and the largest residual of what every law demands [m/s], infinite where λ is not finite."""
    if not np.isfinite(impulse).all():
        return float("inf"), float("inf")
    delassus, width = problem.delassus(), problem.rows_per_contact
    velocity = np.empty(len(impulse))
    relative_velocity(delassus, problem.free_velocity, impulse, velocity)
    cone = law = 0.0
    for c, mu in enumerate(problem.friction):
        own = slice(c * width, (c + 1) * width)
        trace = float(np.trace(delassus[own, own]))
        rho = width / trace if trace > 0.0 else 1.0
        cone = max(cone, float(cone_distance(impulse[own], velocity[own], mu, rho)) / rho)
        # impulses as velocities, so that both are compared
        law = max(law, *law_residuals(impulse[own] / rho, velocity[own], mu))
    return cone, law


def _build(role: str, use: Any) -> Any:
    spec = resolve(role, use.use)
    config = load_target(spec.config)(**dict(use.options))
    return load_target(spec.target)(config, BuildContext(path=use.use, build=_build))


def _installed() -> list[tuple[str, ImpulseSolver]]:
    """Every installed impulse solver with its defaults, by name; references are for tests."""
    found = []
    for row in discover():
        if row.role == "contact_solvers" and row.usable and not row.reference:
            spec = resolve("contact_solvers", row.name)
            if "impulses" in spec.provides:
                config = load_target(spec.config)()
                context = BuildContext(path=row.name, build=_build)
                found.append((row.name, load_target(spec.target)(config, context)))
    return sorted(found, key=lambda each: each[0])


def run_solvers(paths: Sequence[Path]) -> tuple[list[ContactResult], list[str]]:
    """Run every solver on every file; return the results, and why files could not be read."""
    results, unread = [], []
    solvers = _installed()
    for path in paths:
        try:
            problem = read_problem(path)
        except CorekitError as error:
            unread.append(str(error))
            continue
        speed = float(np.abs(problem.free_velocity).max(initial=0.0))
        for name, solver in solvers:
            impulse = np.zeros(len(problem.free_velocity))
            begin = time.perf_counter()
            info = solver.solve(problem, impulse)
            seconds = time.perf_counter() - begin
            cone, law = measure_cone(problem, impulse)
            outcome = "declined"
            if info.status.solved:
                allowed = _FALSE * speed
                outcome = "solved" if cone <= allowed else "other law" if law <= allowed else "falsely solved"
            results.append(ContactResult(path.name, name, outcome, seconds, cone))
    return results, unread
