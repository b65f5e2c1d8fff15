"""Options of the planner: the task and the search; `corekit info ipopt-mpcc` prints them."""

from __future__ import annotations

from typing import Any, Literal

from attrs import field, frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import option
from corekit_mpcc.cost import Cost
from corekit_mpcc.task import Bounds, Contact, Horizon, Target

__all__ = ["MpccConfig", "SearchOptions"]


def _metadata(help: str) -> dict[str, str]:
    return {"help": help, "unit": "", "allowed": ""}


def _even(value: int) -> str | None:
    return None if value % 2 == 0 else "must be even, because every direction needs its opposite"


def _check_not_empty(_instance: object, _attribute: object, value: tuple[Any, ...]) -> None:
    if not value:
        raise ValueError("must have at least one entry: only a contact can move the object")


@frozen(kw_only=True)
class SearchOptions:
    """Options of the search.

    Raises:
        ConfigError: `check_modes` where a rolling program, whose modes are fixed, is the last one.
    """

    stages: str = option(
        "dynamic",
        "last phase: a kinematic plan, with free motion of the bodies, or a dynamic plan after it",
        choices=("kinematic", "dynamic"),
    )
    rolling_first: bool = option(
        True, "begin with rolling contact, a program without complementarity, if every contact holds"
    )
    rolling_last: bool = option(
        False,
        "end with rolling contact: a branch of the program with complementarity, certified in it, and optimal among "
        "the motions that do not slip",
    )
    relaxation: str = option("scholtes", "relaxation of complementarity, by name")
    final_relaxation: float = option(1e-7, "last relaxation: bound of the products", unit="SI", above=0)
    first_relaxation: float = option(1e-4, "first relaxation of a homotopy", unit="SI", above=0)
    backend: str = option("ipopt", "solver of the nonlinear programs, by name")
    tolerance: float = option(1e-6, "tolerance of the last nonlinear program, scaled", above=0)
    seed_tolerance: float = option(1e-3, "tolerance of programs that only give an initial guess", above=0)
    iterations: int = option(300, "largest count of iterations of one nonlinear program", low=1)
    kinematic_scale: float = option(10.0, "factor on the cost in the kinematic phase", above=0)
    dynamic_scale: float = option(300.0, "factor on the cost in the dynamic phase", above=0)
    smoothing: float = option(1e-8, "ε that rounds the edges of shapes", unit="m²", above=0)
    seed_smoothing: float | None = option(
        None,
        "`smoothing` of programs that only give an initial guess, with `check_modes` of relaxed ones too: a rounder "
        "edge is followed in fewer iterations",
        unit="m²",
        above=0,
    )
    check_modes: bool = option(
        False,
        "end with the smaller side of every pair at 0, and compare with every mode nearby: if none is cheaper, the "
        "plan is strongly stationary in the program with complementarity; not where the last program rolls",
    )
    time_limit: float = option(600.0, "wall time of the search without preparation", unit="s", above=0)
    batched: Literal["auto", "always", "never"] = option(
        "auto",
        "batched evaluation of the derivatives of all steps: if it is faster, always, or never",
        choices=("auto", "always", "never"),
    )

    def __attrs_post_init__(self) -> None:
        ends_rolling = self.rolling_first and (self.rolling_last or self.stages == "kinematic")
        if self.check_modes and ends_rolling:
            reason = (
                "compares modes, which a last rolling program fixes: set it to false, or `rolling_first` to false, or "
                'leave out `rolling_last = true` and `stages = "kinematic"`'
            )
            raise ConfigError([Mistake("check_modes", True, reason)], "the search")


@frozen(kw_only=True)
class MpccConfig:
    """Options of a task and of its search. The numbers of a task are parameters of the prepared programs.

    Raises:
        ConfigError: no target, or a contact without exactly one body or obstacle.
    """

    object: str = option(help="manipulated body of the scenario: a ball")
    target: Target = field(metadata=_metadata("pose of the object at the end"))
    contacts: tuple[Contact, ...] = field(
        validator=_check_not_empty, metadata=_metadata("contacts with the object")
    )
    friction: float = option(help="friction coefficient of all contacts", low=0)
    directions: int = option(10, "count of directions of the friction pyramid", low=4, high=64, check=_even)
    horizon: Horizon = field(default=Horizon(), metadata=_metadata("duration and count of steps"))
    bounds: Bounds = field(default=Bounds(), metadata=_metadata("bounds of the motion"))
    cost: Cost = field(default=Cost(), metadata=_metadata("weights of the cost"))
    search: SearchOptions = field(default=SearchOptions(), metadata=_metadata("options of the search"))

    def __attrs_post_init__(self) -> None:
        mistakes = []
        if self.target.rotation is None and self.target.position is None:
            mistakes.append(Mistake("target", "nothing", "give `rotation`, `position` or both"))
        for i, contact in enumerate(self.contacts):
            if bool(contact.body) == bool(contact.obstacle):
                found = "both" if contact.body else "neither"
                mistakes.append(Mistake(f"contacts[{i}]", found, "give `body` and `frame`, or `obstacle`"))
            elif contact.body and not contact.frame:
                reason = "give the frame of the shape that touches"
                mistakes.append(Mistake(f"contacts[{i}].frame", "nothing", reason))
            elif contact.name in (each.name for each in self.contacts[:i]):
                mistakes.append(Mistake(f"contacts[{i}]", contact.name, "must be given once"))
        if mistakes:
            raise ConfigError(mistakes, "the task")
