"""Contact solvers and potentials with one small mistake each."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import evolve

from corekit.data.status import Residuals, SolveInfo, Status

from .defects import counter, drift

__all__ = ["IMPULSES", "POTENTIALS"]


def solves(change: Any) -> dict[str, Any]:
    """A solver after whose answer `change(self, problem, impulse, info)` gives what it says of it."""

    def method(right: Any, self: Any, problem: Any, impulse: Any) -> SolveInfo:
        info = right(self, problem, impulse)
        return change(self, problem, impulse, info) or info

    return {"solve": method}


def normals(problem: Any) -> slice:
    return slice(0, problem.contact_count * problem.rows_per_contact, problem.rows_per_contact)


def one_side(self, problem, impulse, info):
    impulse[normals(problem)] *= 1.001


def no_friction(self, problem, impulse, info):
    for axis in range(1, problem.rows_per_contact):
        impulse[axis : problem.contact_count * problem.rows_per_contact : problem.rows_per_contact] = 0.0


def square_friction(self, problem, impulse, info):
    """Each tangent is bounded alone: a square in place of a disk."""
    width = problem.rows_per_contact
    for c in range(problem.contact_count):
        rows = slice(c * width + 1, (c + 1) * width)
        if width == 3 and np.all(np.abs(impulse[rows]) > 1e-9):
            bound = problem.friction[c] * impulse[c * width]
            impulse[rows] = np.sign(impulse[rows]) * np.maximum(np.abs(impulse[rows]), bound)


def drives(self, problem, impulse, info):
    for axis in range(1, problem.rows_per_contact):
        impulse[axis : problem.contact_count * problem.rows_per_contact : problem.rows_per_contact] *= -1.0


def pulls(self, problem, impulse, info):
    impulse[normals(problem)] -= 1e-3


def free_bounds(self, problem, impulse, info):
    impulse[problem.contact_count * problem.rows_per_contact :] *= 2.0


def no_bounds(self, problem, impulse, info):
    impulse[problem.contact_count * problem.rows_per_contact :] = 0.0


def solved_anyway(self, problem, impulse, info):
    return evolve(info, status=Status.CONVERGED)


def never_solved(self, problem, impulse, info):
    return evolve(info, status=Status.ITERATION_LIMIT)


def no_residuals(self, problem, impulse, info):
    return evolve(info, residuals=Residuals())


def huge_residuals(self, problem, impulse, info):
    return evolve(info, residuals=Residuals(normal=1.0, friction=1.0))


def swallows_nan(self, problem, impulse, info):
    if info.status is Status.NON_FINITE:
        np.nan_to_num(impulse, copy=False)
        return SolveInfo()
    return None


def by_lot(self, problem, impulse, info):
    impulse *= 1.0 + 1e-14 * drift(self)


def ages(self, problem, impulse, info):
    return evolve(info, iterations=counter(self))


def writes_the_free_velocity(self, problem, impulse, info):
    problem.free_velocity[:] *= 1.0 + 1e-15


def sorts_the_ids(self, problem, impulse, info):
    problem.id[:] = np.sort(problem.id)[::-1]


def trusts_the_guess(right, self, problem, impulse):
    guess = impulse.copy()
    info = right(self, problem, impulse)
    impulse[guess > 1.0] = guess[guess > 1.0]
    return info


def coarse(right, self, config, context=None):
    right(self, evolve(config, tolerance=1e-2, max_iterations=5000), context)


def impatient(right, self, config, context=None):
    right(self, evolve(config, max_iterations=1), context)


def foreign(self, problem, impulse, info):
    return evolve(info, answered_by="reference-penalty")


IMPULSES = {
    "a thousandth more": (solves(one_side), "resting-impulse"),
    "no friction": (solves(no_friction), "sticking-and-sliding"),
    "friction bounded axis by axis": (solves(square_friction), "friction-cone"),
    "friction that drives": (solves(drives), "sticking-and-sliding"),
    "contacts that pull": (solves(pulls), "complementarity"),
    "bounds that give way": (solves(free_bounds), "bounded-rows-held"),
    "no bounded rows": (solves(no_bounds), "bounded-rows-held"),
    "solved whatever comes": (solves(solved_anyway), "infeasible-not-solved"),
    "never solved": (solves(never_solved), "resting-impulse"),
    "no residuals": (solves(no_residuals), "residuals-truthful"),
    "made-up residuals": (solves(huge_residuals), "residuals-truthful"),
    "NaN becomes 0": (solves(swallows_nan), "nan-unsolved"),
    "a lottery": (solves(by_lot), "deterministic"),
    "ages": (solves(ages), "saved-and-loaded"),
    "writes to w₀": (solves(writes_the_free_velocity), "inputs-unchanged"),
    "sorts ids": (solves(sorts_the_ids), "inputs-unchanged"),
    "trusts the guess": ({"solve": trusts_the_guess}, "guess-harmless"),
    "a loose tolerance of its own": ({"__init__": coarse}, "complementarity"),
    "one sweep": ({"__init__": impatient}, "complementarity"),
    "another's name": (solves(foreign), "answered-by-itself"),
}


def evaluates(change: Any) -> dict[str, Any]:
    """A potential after whose answer `change(self, contacts, velocity, out, n)` happens."""

    def method(
        right: Any, self: Any, contacts: Any, position: Any, velocity: Any, step: float, out: Any
    ) -> Any:
        info = right(self, contacts, position, velocity, step, out)
        change(self, contacts, velocity, out, contacts.count)
        return info

    return {"evaluate": method}


def times(name: str, factor: float) -> dict[str, Any]:
    return evaluates(
        lambda self, contacts, velocity, out, n: np.multiply(
            getattr(out, name), factor, out=getattr(out, name)
        )
    )


def symmetric_stiffness(self, contacts, velocity, out, n):
    out.stiffness[:n] = 0.5 * (out.stiffness[:n] + out.stiffness[:n].transpose(0, 2, 1))


def diagonal_damping(self, contacts, velocity, out, n):
    out.damping[:n] *= np.eye(12)


def couples(self, contacts, velocity, out, n):
    out.energy[:n] = out.energy[:n].sum()


def unweighted(self, contacts, velocity, out, n):
    out.force[:n] = np.abs(out.force[:n])


def attracts(self, contacts, velocity, out, n):
    out.force[:n] += 1e-3 * np.repeat(contacts.weight[:n], 3, axis=1)


def remembers_slip(self, contacts, velocity, out, n):
    out.energy[:n] += 1e-9 * counter(self)


def touches_gaps(self, contacts, velocity, out, n):
    contacts.gap[:n] += 1e-15


POTENTIALS = {
    "force twice": (times("force", 2.0), "force-is-slope-of-energy"),
    "force with the other sign": (times("force", -1.0), "force-is-slope-of-energy"),
    "no energy": (times("energy", 0.0), "force-is-slope-of-energy"),
    "K with the other sign": (times("stiffness", -1.0), "potential-stiffness-is-slope"),
    "K is half": (times("stiffness", 0.5), "potential-stiffness-is-slope"),
    "no D": (times("damping", 0.0), "potential-damping-is-slope"),
    "D with the other sign": (times("damping", -1.0), "potential-damping-is-slope"),
    "a symmetric K": (evaluates(symmetric_stiffness), "potential-stiffness-is-slope"),
    "a diagonal D": (evaluates(diagonal_damping), "potential-damping-is-slope"),
    "no normal force to read": (times("normal_force", 0.0), "forces-readable"),
    "friction read with the other sign": (times("tangential_force", -1.0), "forces-readable"),
    "contacts that share an energy": (evaluates(couples), "force-is-slope-of-energy"),
    "both sides pushed alike": (evaluates(unweighted), "reaction-equal"),
    "a pull from afar": (evaluates(attracts), "within-reach"),
    "remembers": (evaluates(remembers_slip), "saved-and-loaded"),
    "touches the gaps": (evaluates(touches_gaps), "inputs-unchanged"),
    "a resolution of nothing": ({"resolution": lambda right, self: 0.0}, "resolution-bounded"),
    "a layer that is not told": (
        {"activation_distance": lambda right, self: 0.5 * right(self)},
        "within-reach",
    ),
}
