"""Which integrators there are, and the step of each on a task: the task's own, or one that it is stable with.

    impulses after an explicit smooth part:   h·ω ≤ 1,   ω² = λ_max(K, M) of the model               (1)

(1) keeps a factor of two from the limit. Steps are whole parts of the time between records.
"""

from __future__ import annotations

import math

from attrs import frozen

from corekit.registry.discover import discover
from corekit.registry.resolve import load_spec
from corekit.scenario.load import load
from corekit.simulation.explicit_limit import fastest_rates

__all__ = ["Scheme", "Task", "schemes"]

_CUT = {"local_error": 1e-5}
_OPTIONS = {"newmark": _CUT, "generalized-alpha": _CUT}
"""Second order has a hard time where a smooth contact sets in: these cut their steps there [m or rad]."""


@frozen
class Scheme:
    """An installed integrator.

    Args:
        name: in a scenario. abilities: what its spec provides.
    """

    name: str
    abilities: frozenset[str]

    @property
    def choice(self) -> str:
        """As in `--set`."""
        options = ", ".join(f"{key}={value:g}" for key, value in _OPTIONS.get(self.name, {}).items())
        return f'integrator={{use="{self.name}", options={{{options}}}}}'


def schemes() -> list[Scheme]:
    """Every integrator that is installed, apart from the kernel's reference ones; the coupled ones first."""
    rows = [row for row in discover() if row.role == "integrators" and row.usable and not row.reference]
    found = [Scheme(row.name, load_spec(row).provides) for row in rows]
    return sorted(found, key=lambda each: ("coupled" not in each.abilities, each.name))


@frozen
class Task:
    """What steps depend on.

    Args:
        name: of the shipped scenario.
        step: its own [s]. every: time between records [s].
        omega: ω of (1) at its start [1/s], 0 where no model gives it.
    """

    name: str
    step: float
    every: float
    omega: float

    @classmethod
    def from_scenario(cls, name: str) -> Task:
        """Read a shipped scenario, and the rates of its models."""
        scenario = load(name)
        simulation = scenario.compose()
        rates = [
            fastest_rates(body, state)
            for body, state in zip(simulation.bodies, simulation.state.body_states, strict=True)
        ]
        omega = max((each[0] for each in rates if each is not None), default=0.0)
        return cls(name, scenario.time.step, scenario.output.every or scenario.time.step, omega)

    def step_of(self, scheme: Scheme) -> float:
        """The step [s] of a scheme by (1), the task's own at most."""
        explicit = "split" in scheme.abilities and "implicit" not in scheme.abilities
        longest = min(self.step, 1.0 / self.omega) if explicit and self.omega else self.step
        return self.every / math.ceil(self.every / longest * (1.0 - 1e-9))
