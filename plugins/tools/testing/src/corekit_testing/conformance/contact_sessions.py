"""Questions put to a contact solver of either kind, one step after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from corekit_testing.conformance.contact_problems import feasible
from corekit_testing.conformance.potentials import GivenMotion, new_terms, pressed
from corekit_testing.conformance.subject import SERIES, Answer, Session

__all__ = ["ContactSession"]


class ContactSession(Session):
    """A series of random problems for impulse solvers; a floor pressed deeper and deeper for potentials."""

    def ask(self, index: int) -> Answer:
        if "potential" in self.subject.spec.provides:
            return self._pressed(index)
        problem = feasible(np.random.default_rng(20 + index), contacts=1 + SERIES[index], friction=0.3)
        handed = {
            "free": problem.free_velocity, "friction": problem.friction, "gap": problem.gap, "id": problem.id,
            "delassus": problem.matrix, "lower": problem.lower, "upper": problem.upper,
        }  # fmt: skip
        before = {name: values.copy() for name, values in handed.items()}
        impulse = np.zeros(len(problem.free_velocity))
        solver: Any = self.component
        info = solver.solve(problem, impulse)
        said = np.array(
            [info.residuals.normal, info.residuals.friction, info.residuals.cone, info.iterations]
        )
        given = {name: (before[name], values) for name, values in handed.items()}
        return Answer(given, {"impulse": impulse, "report": said})

    def _pressed(self, index: int) -> Answer:
        solver: Any = self.component
        layer = solver.activation_distance or 1e-3
        one = pressed(solver.activation_distance, (0.2 + 0.2 * index) * layer, 0.4)
        contacts, m = one.contacts, one.contacts.count
        handed = {
            name: getattr(contacts, name)[:m] for name in ("gap", "normal", "tangent", "weight", "friction")
        }
        handed |= {"position": one.position, "velocity": one.velocity}
        before = {name: values.copy() for name, values in handed.items()}
        out = new_terms(m)
        solver.evaluate(contacts, one.position, one.velocity, 1e-3, out)
        solver.on_step_accepted(contacts, GivenMotion(np.full(m, -0.1), np.zeros(m)), 1e-3)
        found = {
            name: getattr(out, name)
            for name in ("energy", "force", "stiffness", "damping", "normal_force", "tangential_force")
        }
        return Answer({name: (before[name], values) for name, values in handed.items()}, found)
