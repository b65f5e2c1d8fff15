"""Whether every installed plugin can be imported: tried in other processes, with a time limit."""

from __future__ import annotations

import faulthandler
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from corekit.cli import verbs_left_out
from corekit.distributions import EntryPoint, distributions, entry_points
from corekit.errors import ExtraNotInstalled, PluginError
from corekit.geometry.shape_specs import GROUP as SHAPES
from corekit.geometry.shape_specs import KERNEL_SHAPES, shape_spec
from corekit.hooks.installed import GROUP as HOOKS
from corekit.hooks.installed import Hooks, Owner, installed_hooks
from corekit.interpreters import python_command
from corekit.registry.contract import contract_problem
from corekit.registry.discover import discover
from corekit.registry.first_party import is_ours
from corekit.registry.resolve import load_target, missing_abilities, resolve
from corekit.registry.spec import CASES, SCENARIOS, Case
from corekit.roles.friction import FRICTION_LAWS as KERNEL_LAWS
from corekit.roles.friction import GROUP as FRICTION_LAWS
from corekit.roles.friction import friction_law

__all__ = ["ITSELF", "LISTS_OF_TARGETS", "TARGETS", "Finding", "check_up"]

MARK = "corekit-examined "
ITSELF = "itself"
"""What is missing of a component that an extra of its distribution brings."""
LISTS_OF_TARGETS = ("corekit_run_observers", "corekit_scenario_doubts", "corekit_scenario_imports")
"""The hooks that answer with `module:name`s."""
TARGETS = (
    "corekit_batch", "corekit_equilibrium_finder", "corekit_gradient_tool", "corekit_open", "corekit_results",
    "corekit_run_report", "corekit_runner",
)  # fmt: skip
"""The hooks that answer with one `module:name`."""
_OF_THE_KERNEL = {SHAPES: KERNEL_SHAPES, FRICTION_LAWS: KERNEL_LAWS}
"""Group of entry points → the names that the kernel takes."""
_AT_ONCE = 2
_TOGETHER = 32
"""Plugins that one process tries: most of its time is the import of libraries."""
_START = 10.0
"""Wall time [s] granted to the start of an interpreter."""


@frozen(kw_only=True)
class Finding:
    """Result of trying one plugin.

    Args:
        kind: role id, or `cases`, `scenarios`, `hooks`, `shapes`, `friction_laws`, `verbs`; `distributions` where the
            files of one are damaged. name: of the plugin.
        distribution, version: of the plugin.
        problem: why it cannot be used, empty if it can.
        missing: ability, or `ITSELF` → why it is not available here.
        wall_s: how long its import took [s].
    """

    kind: str
    name: str
    distribution: str
    version: str
    problem: str = ""
    missing: Mapping[str, str] = field(factory=dict)
    wall_s: float = 0.0

    @property
    def first_party(self) -> bool:
        """Whether this project offers it."""
        return is_ours(self.distribution)


@frozen
class _Trial:
    """A plugin to try: the finding to complete and an entry of `main`'s list; empty if its problem is known."""

    finding: Finding
    arguments: tuple[str, ...] = ()


def check_up(limit: float = 60.0, report: Callable[[Finding], None] | None = None) -> list[Finding]:
    """Try every installed plugin.

    Args:
        limit: on the import of each [s].
        report: called with each finding.
    """
    trials = [*_components(), *_others()]
    size = min(_TOGETHER, -(-len(trials) // _AT_ONCE)) or 1
    batches = [trials[begin : begin + size] for begin in range(0, len(trials), size)]
    findings: list[Finding] = []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for batch in pool.map(lambda batch: _try_together(batch, limit), batches):
            for finding in batch:
                findings.append(finding)
                if report is not None:
                    report(finding)
    return findings


def _owner(trial: _Trial) -> str:
    return trial.finding.distribution


def _components() -> Iterator[_Trial]:
    for row in discover():
        finding = Finding(
            kind=row.role,
            name=row.name,
            distribution=row.distribution,
            version=row.version,
            problem=row.reason,
        )
        if row.reason:
            yield _Trial(finding)
        else:
            yield _Trial(finding, ("component", row.role, f"{row.distribution}:{row.name}"))


def _others() -> Iterator[_Trial]:
    for each in distributions():
        if each.damage:
            yield _unused("distributions", each.name, Owner(each.name, each.version), each.damage)
    for group in (CASES, SCENARIOS, HOOKS, SHAPES, FRICTION_LAWS):
        for entry in entry_points(group):
            finding = Finding(
                kind=group.removeprefix("corekit."),
                name=entry.name,
                distribution=entry.distribution,
                version=entry.version,
            )
            yield _Trial(finding, (group, entry.name if group in {SHAPES, FRICTION_LAWS} else entry.value))
    for owner, verb in verbs_left_out():
        yield _unused("verbs", verb.name, owner, "it is left out: there is a verb of that name")
    for hook in TARGETS:
        owners = [owner for owner, _ in installed_hooks().offered(hook)]
        for owner in owners[1:]:
            yield _unused("hooks", hook, owner, f"it is not used: {' '.join(owners[0])} answers first")


def _unused(kind: str, name: str, owner: Owner, problem: str) -> _Trial:
    return _Trial(
        Finding(kind=kind, name=name, distribution=owner.name, version=owner.version, problem=problem)
    )


def _try_together(trials: Sequence[_Trial], limit: float) -> list[Finding]:
    """Try plugins in one process, which imports their libraries once; what fails there gets one of its distribution."""
    waiting = [trial for trial in trials if trial.arguments]
    given, _ = _run_main(waiting, limit) if waiting else ([], "")
    sound = {
        id(trial): verdict for trial, verdict in zip(waiting, given, strict=False) if not verdict["problem"]
    }
    findings: list[Finding] = []
    for _, group in groupby(trials, _owner):
        of_one = list(group)
        if all(id(trial) in sound or not trial.arguments for trial in of_one):
            findings += [evolve(trial.finding, **sound.get(id(trial), {})) for trial in of_one]
        else:
            findings += _try_all(of_one, limit)
    return findings


def _try_all(trials: Sequence[_Trial], limit: float) -> list[Finding]:
    """Try the plugins of one distribution in one process; after one that ends it, the rest are tried in another."""
    waiting = [trial for trial in trials if trial.arguments]
    verdicts: list[dict[str, Any]] = []
    while len(verdicts) < len(waiting):
        left = waiting[len(verdicts) :]
        given, ended = _run_main(left, limit)
        verdicts += given
        if len(given) < len(left):
            verdicts.append({"problem": ended, "missing": {}, "wall_s": 0.0})
    in_order = iter(verdicts)
    return [evolve(trial.finding, **next(in_order)) if trial.arguments else trial.finding for trial in trials]


def _run_main(trials: Sequence[_Trial], limit: float) -> tuple[list[dict[str, Any]], str]:
    """Return the verdicts of a process on the first of them, and why there is none on the next."""
    entries = json.dumps([trial.arguments for trial in trials])
    command = python_command("-m", "corekit_inspect.checkup", f"{limit:g}", entries)
    too_long = f"its import did not end within {limit:g} s"
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=(limit + _START) * len(trials), check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:  # a child that even its own clock could not end
        return [], too_long
    verdicts = [
        json.loads(line.removeprefix(MARK)) for line in done.stdout.splitlines() if line.startswith(MARK)
    ]
    errors = [line for line in done.stderr.splitlines() if line.strip()]
    if any(line.startswith("Timeout (") for line in errors):
        return verdicts, too_long
    how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
    said = errors[-1].strip() if errors else "it says nothing"
    return verdicts, f"importing it ended the interpreter ({how}): {said}"


def main(arguments: Sequence[str]) -> None:
    """Import plugins one after the other; this module is run as a program for that.

    For each, in order, a line is printed, after whatever the plugin prints: `MARK` and a JSON object with `problem`,
    empty if all is well, `missing`, ability → why it is not available here, and `wall_s`.

    Args:
        arguments: limit on an import [s], at which the process ends, and a JSON list of `["component", ROLE, NAME]`,
            `["corekit.shapes", KIND]`, `["corekit.friction_laws", NAME]` or, of another entry point, `[GROUP, VALUE]`.
    """
    limit, plugins = float(arguments[0]), json.loads(arguments[1])
    for plugin in plugins:
        # also where it hangs in foreign code, which no exception would reach
        faulthandler.dump_traceback_later(limit, exit=True)
        began = time.perf_counter()
        problem, missing = _import_plugin(plugin)
        verdict = {"problem": problem, "missing": missing, "wall_s": time.perf_counter() - began}
        faulthandler.cancel_dump_traceback_later()
        sys.stdout.write(f"\n{MARK}{json.dumps(verdict)}\n")
        sys.stdout.flush()


def _import_plugin(plugin: Sequence[str]) -> tuple[str, dict[str, str]]:
    missing: dict[str, str] = {}
    problem = ""
    try:
        if plugin[0] == "component":
            spec = resolve(plugin[1], plugin[2])
            missing = dict(missing_abilities(spec))
            for target in (spec.config, *([spec.initial] if spec.initial else [])):
                load_target(target)
            problem = contract_problem(load_target(spec.target), spec)
        elif plugin[1] in _OF_THE_KERNEL.get(plugin[0], ()):
            problem = f"it is never used: the kernel has {plugin[1]!r} itself; give it another name"
        elif plugin[0] == SHAPES:
            surface = shape_spec(plugin[1]).surface
            if surface:
                load_target(surface)
        elif plugin[0] == FRICTION_LAWS:
            friction_law(plugin[1])
        elif plugin[0] == HOOKS:
            problem = _hook_problem(plugin[1])
        else:
            problem = _entry_problem(*plugin)
    except ExtraNotInstalled as error:
        missing[ITSELF] = str(error)
    except PluginError as error:
        problem = str(error)
    return problem, missing


def _hook_problem(value: str) -> str:
    """Why hooks are left out, or what they name cannot be used; or nothing.

    Hooks that tell of a run are not called: they would take an examination for one.
    """
    hooks = Hooks([EntryPoint("examined", value, HOOKS)])
    named = [verb.function for _, verb in hooks.verbs()]
    named += [report.function for report in hooks.folder_reports()]
    named += [entry.function for _, entry in hooks.schedulers()]
    named += [target for hook in LISTS_OF_TARGETS for _, target in hooks.targets(hook)]
    named += filter(None, map(hooks.target, TARGETS))
    problems = list(hooks.left_out.values())
    for target in dict.fromkeys(named):
        try:
            if not callable(load_target(target)):
                problems.append(f"{target} cannot be called")
        except PluginError as error:
            problems.append(str(error))
    return "; ".join(problems)


def _entry_problem(group: str, value: str) -> str:
    """Why an entry point is of no use, or nothing."""
    try:
        found = EntryPoint("examined", value, group).load()
        if group == SCENARIOS and not Path(found()).is_dir():
            return f"{value} names {found()}, which is not a folder"
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's code may raise anything
        return f"loading {value} failed with {type(error).__name__}: {error}"
    if group == CASES and not isinstance(found, Case):
        return f"{value} is a {type(found).__name__}, not a Case"
    return ""


if __name__ == "__main__":
    main(sys.argv[1:])
