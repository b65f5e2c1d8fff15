"""`corekit conform`: whether a plugin keeps what its role promises, check by check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from corekit.cli import DONE, FAILED
from corekit.cli.terminal import make_console, print_json
from corekit.errors import ConfigError, Mistake, PluginError
from corekit.simulation.arguments import Kind, check_arguments, is_number

if TYPE_CHECKING:
    from corekit_testing.conformance.check import Outcome

__all__ = ["conform"]

_STYLES = {
    "passed": "green",
    "failed": "bold red",
    "not applicable": "dim",
    "not judged": "dim",
    "fails as expected": "yellow",
}

_JUDGED_BY = {
    "shapes": (
        "`corekit doctor` loads its spec, and `corekit conform contact_detectors.NAME` places it before its detector; "
        "a formula for its gaps is for tests of your own"
    ),
    "friction_laws": (
        "`corekit doctor` loads it, and `corekit conform contact_solvers.NAME` judges it with a solver that provides it"
    ),
}
"""What is no component, by its entry-point group, and what says whether it is sound."""


_FACTOR: Kind = "a factor above 0", lambda value: is_number(value) and value > 0


def conform(
    name: str,
    /,
    *,
    overrides: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    spread: float = 1.0,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Run the conformance checks of a plugin's role and abilities.

    Parameters
    ----------
    name
        `role.name`, for example models.pcc, or the bare name if one role alone uses it.
    overrides
        `sections=2`: another value for an option; may be given several times.
    spread
        Factor on how far a model is displaced from its rest state: less than 1 for one with narrow limits.
    as_json
        Print one JSON object instead of a table.
    """
    from corekit_testing.conformance import Subject, run_checks
    from corekit_testing.conformance.check import Verdict

    check_arguments("corekit conform", spread=(spread, _FACTOR))
    role, rest = _role_and_name(name)
    subject = Subject.installed(role, rest, _options(overrides), spread=spread)
    subject.config()  # options that do not fit are misuse, not a failed check
    outcomes: list[Outcome] = []
    for outcome in run_checks(subject):
        outcomes.append(outcome)
        if not as_json:
            _print_row(outcome)
    failed = sum(outcome.verdict is Verdict.FAILED for outcome in outcomes)
    counts = {each.value: sum(one.verdict is each for one in outcomes) for each in Verdict}
    if as_json:
        rows = [{"check": o.check, "verdict": o.verdict.value, "reason": o.reason} for o in outcomes]
        report: dict[str, Any] = {"role": role, "name": rest, "conforms": not failed, "checks": rows}
        print_json(report)
    else:
        print(f"{role}.{rest}: " + ", ".join(f"{count} {what}" for what, count in counts.items() if count))
    return FAILED if failed else DONE


def _role_and_name(name: str) -> tuple[str, str]:
    """The role and name of one installed component."""
    from corekit.registry.discover import discover
    from corekit.registry.resolve import did_you_mean, find
    from corekit.registry.spec import ROLES

    role, _, rest = name.partition(".")
    installed = discover()
    if role in _JUDGED_BY:
        raise PluginError(f"conform judges components, and {name!r} is none: {_JUDGED_BY[role]}")
    if role in ROLES and rest:
        find(role, rest, installed)
        return role, rest
    bare = name.rpartition(":")[2]
    roles = sorted({row.role for row in installed if row.name == bare})
    if len(roles) == 1:
        return roles[0], name
    if roles:
        raise PluginError(
            f"{bare!r} is a name in several roles: write {' or '.join(f'{r}.{bare}' for r in roles)}"
        )
    hint = did_you_mean(bare, sorted({row.name for row in installed}))
    raise PluginError(f"unknown component {name!r}{hint}; write role.name, for example models.pcc")


def _options(overrides: tuple[str, ...]) -> dict[str, Any]:
    """A table of options from `path=value` texts."""
    from corekit.scenario.overrides import apply_overrides

    options: dict[str, Any] = {}
    mistakes: list[Mistake] = []
    apply_overrides(options, overrides, mistakes)
    if mistakes:
        raise ConfigError(mistakes, "the options")
    return options


def _print_row(outcome: Outcome) -> None:
    from rich.text import Text

    verdict = outcome.verdict.value
    row = Text.assemble(f"{outcome.check:<32}", (verdict, _STYLES[verdict]))
    if outcome.reason:
        row.append(f": {outcome.reason}")
    make_console(soft_wrap=True).print(row)
