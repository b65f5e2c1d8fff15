"""Options of the planner: the task and how it is searched; `corekit info ipopt-mpcc` prints them."""

from __future__ import annotations

from typing import Any, Literal

from attrs import field, frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import option
from corekit_mpcc.cost import Cost
from corekit_mpcc.task import Bounds, Contact, Horizon, Target

__all__ = ["MpccConfig", "SearchOptions"]


def _about(help: str) -> dict[str, str]:
    return {"help": help, "unit": "", "allowed": ""}


def _even(value: int) -> str | None:
    return None if value % 2 == 0 else "must be even, so that each direction has its opposite"


def _some(_instance: object, _attribute: object, value: tuple[Any, ...]) -> None:
    if not value:
        raise ValueError("must have at least one entry: without contact nothing can be moved")


@frozen(kw_only=True)
class SearchOptions:
    """How the search goes and when it ends."""

    stages: str = option(
        "dynamic",
        "how far to go: a kinematic plan, in which bodies move as they like, or on to a dynamic one",
        choices=("kinematic", "dynamic"),
    )
    bridge: bool = option(
        True, "begin with rolling contact, a program without complementarity, where every contact holds"
    )
    relaxation: str = option("scholtes", "how complementarity is relaxed, by name")
    final: float = option(1e-7, "relaxation at the end: bound of the products", unit="SI", above=0)
    first: float = option(1e-4, "relaxation that a homotopy begins with", unit="SI", above=0)
    backend: str = option("ipopt", "solver of the nonlinear programs, by name")
    tolerance: float = option(1e-6, "tolerance of the last nonlinear program, scaled", above=0)
    seed_tolerance: float = option(
        1e-3, "tolerance of programs whose answer is a start for the next", above=0
    )
    iterations: int = option(300, "most iterations of one nonlinear program", low=1)
    kinematic_scale: float = option(10.0, "factor on the cost in the kinematic stage", above=0)
    dynamic_scale: float = option(300.0, "factor on the cost in the dynamic stage", above=0)
    smoothing: float = option(1e-8, "ε that rounds the edges of shapes", unit="m²", above=0)
    time_limit: float = option(600.0, "wall time of the search, preparing left out", unit="s", above=0)
    batched: Literal["auto", "always", "never"] = option(
        "auto",
        "derivatives of all steps evaluated at once: where it pays, always, or never",
        choices=("auto", "always", "never"),
    )


@frozen(kw_only=True)
class MpccConfig:
    """A task and how it is searched; its numbers are parameters of the prepared programs, which serve every task.

    Raises:
        ConfigError: parts that contradict each other.
    """

    object: str = option(help="the body of the scenario that is manipulated: a ball")
    target: Target = field(metadata=_about("where it is to be at the end"))
    contacts: tuple[Contact, ...] = field(validator=_some, metadata=_about("what may touch it"))
    friction: float = option(help="friction coefficient of all contacts", low=0)
    directions: int = option(10, "of the friction pyramid", low=4, high=64, check=_even)
    horizon: Horizon = field(default=Horizon(), metadata=_about("how long and how finely"))
    bounds: Bounds = field(default=Bounds(), metadata=_about("what must not be exceeded"))
    cost: Cost = field(default=Cost(), metadata=_about("what the motion costs"))
    search: SearchOptions = field(default=SearchOptions(), metadata=_about("how the search goes"))

    def __attrs_post_init__(self) -> None:
        mistakes = []
        if self.target.rotation is None and self.target.position is None:
            mistakes.append(Mistake("target", "nothing", "give `rotation`, `position` or both"))
        for i, contact in enumerate(self.contacts):
            if bool(contact.body) == bool(contact.obstacle):
                found = "both" if contact.body else "neither"
                mistakes.append(Mistake(f"contacts[{i}]", found, "give `body` and `frame`, or `obstacle`"))
            elif contact.body and not contact.frame:
                said = "must be given: the frame whose shape touches"
                mistakes.append(Mistake(f"contacts[{i}].frame", "nothing", said))
        if mistakes:
            raise ConfigError(mistakes, "the task")
