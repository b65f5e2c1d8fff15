"""`corekit conform`: whether a plugin keeps what its role promises, check by check."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from attrs import evolve
from cyclopts import Parameter

from corekit.cli import DONE, FAILED
from corekit.cli.terminal import make_console, print_json
from corekit.errors import ConfigError, Mistake, PluginError
from corekit.simulation.arguments import COUNT, Kind, check_arguments, is_number

if TYPE_CHECKING:
    from corekit_testing.conformance import Subject
    from corekit_testing.conformance.check import Check, Outcome

__all__ = ["conform"]

_STYLES = {
    "passed": "green",
    "failed": "bold red",
    "not applicable": "dim",
    "not judged": "dim",
    "fails as expected": "yellow",
}

_JUDGED_BY = {
    "observers": "`observer_conformance` of `corekit_testing.conformance` judges one in its distribution's own tests",
    "verbs": "`corekit --help` lists it, and tests call its function",
}
"""What is no component and has no name by which it is found, and what says whether it is sound."""
_STATED = "friction_laws", "shapes"
"""What is no component and is found by its name."""


_FACTOR: Kind = "a factor above 0", lambda value: is_number(value) and value > 0


def conform(
    name: str,
    /,
    *,
    overrides: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    draw: int = 0,
    world: Path | None = None,
    shapes: Annotated[tuple[str, ...], Parameter(name="--shape", negative="")] = (),
    spread: float = 1.0,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Run the conformance checks of a plugin's role and abilities, of a friction law or of a kind of shape.

    Parameters
    ----------
    name
        `role.name`, for example models.pcc, or the bare name if one role alone uses it; `friction_laws.NAME` or
        `shapes.KIND`, of which `--shape` alone is read.
    overrides
        `sections=2`: another value for an option; may be given several times.
    draw
        So many times more, with options drawn from the ranges that its config states; those given by `--set` stay.
        What is 0 or off by default is exercised so, and the first that fails names the options with which it does.
    world
        A scenario that uses it: with its options there, and in three short runs of that world. Controllers are
        asked about that world in place of the kit's.
    shapes
        `terrain=0.05,0.4`: sizes [m] of a kind of shape in the scenes of detectors; may be given several times.
    spread
        Factor on how far a model is displaced from its rest state: less than 1 for one with narrow limits.
    as_json
        Print one JSON object instead of a table.
    """
    from corekit_testing.conformance import Subject, checks_of
    from corekit_testing.conformance.drawn_options import draw_subject

    check_arguments("corekit conform", spread=(spread, _FACTOR), draw=(draw, COUNT))
    group, _, stated = name.partition(".")
    if group in _STATED:
        if overrides or draw or world is not None:
            raise PluginError(
                f"{name} has no options and no world: --set, --draw and --world are of components"
            )
        return _conform_stated(group, stated, _sizes(shapes), as_json=as_json)
    role, rest = _role_and_name(name)
    subject = Subject.installed(role, rest, _options(overrides), spread=spread)
    subject = evolve(subject, shapes=_sizes(shapes))
    checks = checks_of(role)
    if world is not None:
        from corekit_testing.conformance.in_world import WORLD_CHECKS, subject_in

        subject, checks = subject_in(subject, world), (*checks, *WORLD_CHECKS)
    subject.config()  # options that do not fit are misuse, not a failed check
    # drawn options are asked about in the worlds of the kit: a scenario has those that it has
    drawn_ones = [(draw_subject(subject, seed), checks_of(role)) for seed in range(1, draw + 1)]
    rounds = [
        _judge(one, asked, number, quiet=as_json)
        for number, (one, asked) in enumerate([(subject, checks), *drawn_ones])
    ]
    conforms = all(each["conforms"] for each in rounds)
    if as_json:
        first, *drawn = rounds
        report: dict[str, Any] = {"role": role, "name": rest, **first, "conforms": conforms}
        print_json(report | ({"drawn": drawn} if draw else {}))
    return DONE if conforms else FAILED


def _conform_stated(group: str, name: str, sizes: dict[str, tuple[float, ...]], *, as_json: bool) -> int:
    """Judge a friction law or a kind of shape."""
    from corekit.geometry.shape_specs import shape_spec
    from corekit.roles.friction import friction_law
    from corekit_testing.conformance.claims import judged
    from corekit_testing.conformance.laws import LAW_CLAIMS
    from corekit_testing.conformance.shapes import SHAPE_CLAIMS

    try:
        if group == "shapes":
            outcomes = judged(SHAPE_CLAIMS, shape_spec(name), sizes.get(name))
        else:
            outcomes = judged(LAW_CLAIMS, friction_law(name))
    except ValueError as unknown:
        raise PluginError(str(unknown)) from None
    report = _report(f"{group}.{name}", outcomes, quiet=as_json, failures_alone=False)
    if as_json:
        print_json({"role": group, "name": name, **report})
    return DONE if report["conforms"] else FAILED


def _judge(subject: Subject, checks: Sequence[Check], number: int, *, quiet: bool) -> dict[str, Any]:
    """Run the checks and print them; of drawn options only what fails. Returns what JSON tells."""
    from corekit_testing.conformance import run_checks

    if number and not quiet:
        print(f"draw {number}: {json.dumps(subject.options, ensure_ascii=False)}")
    found = run_checks(subject, checks=checks)
    what = f"{subject.spec.role}.{subject.spec.name}"
    told = _report(what, found, quiet=quiet, failures_alone=bool(number))
    return told | ({"options": subject.options} if number else {})


def _report(what: str, found: Iterable[Outcome], *, quiet: bool, failures_alone: bool) -> dict[str, Any]:
    """Print outcomes as they come, and how many there are of each sort. Returns what JSON tells."""
    from corekit_testing.conformance.check import Verdict

    outcomes: list[Outcome] = []
    for outcome in found:
        outcomes.append(outcome)
        if not quiet and (not failures_alone or outcome.verdict is Verdict.FAILED):
            _print_row(outcome)
    counts = {each.value: sum(one.verdict is each for one in outcomes) for each in Verdict}
    if not quiet:
        listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
        print(f"{what}: {listed}")
    rows = [{"check": o.check, "verdict": o.verdict.value, "reason": o.reason} for o in outcomes]
    return {"conforms": not counts[Verdict.FAILED.value], "checks": rows}


def _sizes(texts: tuple[str, ...]) -> dict[str, tuple[float, ...]]:
    """Kind → sizes from `kind=1,2` texts."""
    from corekit.geometry.shape_specs import shape_kinds, shape_spec
    from corekit.registry.resolve import did_you_mean

    found: dict[str, tuple[float, ...]] = {}
    mistakes: list[Mistake] = []
    for text in texts:
        kind, _, given = text.partition("=")
        if kind not in shape_kinds():
            hint = did_you_mean(kind, shape_kinds()).removeprefix(", ")
            mistakes.append(Mistake("--shape", text, "must be KIND=SIZES of a kind of shape", hint))
            continue
        names = shape_spec(kind).sizes
        try:
            sizes = tuple(float(each) for each in given.split(","))
        except ValueError:
            sizes = ()
        if len(sizes) != len(names) or not all(0.0 < each < math.inf for each in sizes):
            wanted = (
                f"must be {kind}={','.join(names)}, numbers above 0 in metres" if names else "has no sizes"
            )
            mistakes.append(Mistake("--shape", text, wanted))
        found[kind] = sizes
    if mistakes:
        raise ConfigError(mistakes, "corekit conform")
    return found


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
