"""Friction laws that a solver names: gauge and dissipation fit each other (`laws`), and the solver obeys them.

With the admissible friction F = { f : g(f) ≤ 1 } per unit of normal impulse,

    d(w) = max { −fᵀ·w : f ∈ F } ≥ 0                                                       (1)
    g(λ_t) ≤ λ_n,    −λ_tᵀ·w_t = λ_n·d(w_t)                                                (2)

as (4) and (5) of `corekit.roles.friction`.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from corekit.errors import PluginError
from corekit.roles.component import BuildContext
from corekit.roles.friction import COULOMB, FrictionLaw, friction_law, friction_laws
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.contact_problems import point_mass
from corekit_testing.conformance.laws import NEAR, circle, expect_dual, records
from corekit_testing.conformance.subject import Subject

__all__ = ["LAWS"]


def _laws(subject: Subject) -> list[FrictionLaw]:
    """The laws beside Coulomb's among the words that a solver provides; all there are if it takes any."""
    found, words = [], subject.spec.provides
    for word in sorted(
        (words.union(friction_laws()) if "convex-friction" in words else words) - {COULOMB.name}
    ):
        try:
            found.append(friction_law(word))
        except (
            ValueError,
            PluginError,
        ):  # an ability of another sort, or a law that `corekit doctor` finds broken
            continue
    if not found:
        raise NotApplicable("names no friction law beside Coulomb's")
    return found


@check(
    "friction-law-dual",
    "dissipation is the most power of what the gauge admits, and never negative",
    "impulses",
)
def friction_law_dual(subject: Subject) -> None:
    for law in _laws(subject):
        for record in records(law):
            expect_dual(law, record)


@check(
    "friction-law-obeyed",
    "friction of each law that it names is what the law admits, and dissipates the most",
    "impulses",
)
def friction_law_obeyed(subject: Subject) -> None:
    fall, mass = 9.81e-3, 2.0
    for law in _laws(subject):
        solver = subject.build(BuildContext(path="conformance", friction_law=law.name))
        for record, direction, factor in product(records(law), circle(24), (0.5, 1.5, 4.0)):
            start = factor * fall / law.gauge(record, *-direction) * direction
            problem = point_mass([-fall, *start], np.array([record]), mass, law=law)
            impulse = np.zeros(3)
            info = solver.solve(problem, impulse)
            what = f"{law.name}: sliding at {start} m/s"
            expect(info.status.solved, f"{what} is not solved: {info.status.value}")
            (friction,), (slip,) = problem.tangential(impulse), problem.tangential(problem.relative(impulse))
            needed = law.gauge(record, *friction)
            expect(
                needed <= impulse[0] + NEAR,
                f"{what} meets friction that needs {needed:.6g} N·s of the normal impulse {impulse[0]:.6g}",
            )
            # the coarsest pyramid has its four corners on the axes of an ellipse: it may be 1/√2 short
            power, most = -float(friction @ slip), impulse[0] * law.dissipation(record, *slip)
            expect(
                power >= 0.7 * most - NEAR * fall, f"{what} dissipates {power:.3g}, the most is {most:.3g}"
            )


@check(
    "friction-law-in-plane",
    "in a planar world friction is what the law admits along the first tangent, both ways",
    "impulses",
)
def friction_law_in_plane(subject: Subject) -> None:
    fall, mass = 9.81e-3, 2.0
    for law in _laws(subject):
        solver = subject.build(BuildContext(path="conformance", friction_law=law.name))
        for record, sign, factor in product(records(law), (1.0, -1.0), (0.5, 1.5)):
            most = fall * mass / law.gauge(record, -sign, 0.0)
            start = factor * most / mass * sign
            problem = point_mass([-fall, start], np.array([record]), mass, width=2, law=law)
            impulse = np.zeros(2)
            info = solver.solve(problem, impulse)
            what = f"{law.name} {np.round(record, 3)} in a plane: sliding at {start:.3g} m/s"
            expect(info.status.solved, f"{what} is not solved: {info.status.value}")
            wanted = -sign * min(mass * abs(start), most)
            expect_close(f"{what}: friction [N·s]", impulse[1], np.array(wanted), NEAR)


LAWS: tuple[Check, ...] = (friction_law_dual, friction_law_obeyed, friction_law_in_plane)
"""Checks of friction laws."""
