"""Whether every installed plugin really imports: tried apart, a process a distribution, with a time limit."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from itertools import groupby
from typing import Any

from attrs import evolve, field, frozen
from packaging.utils import canonicalize_name

from corekit.geometry.shape_specs import GROUP as SHAPES
from corekit.registry.discover import KERNEL, discover
from corekit.registry.examine import MARK
from corekit.registry.first_party import FIRST_PARTY, FIRST_PARTY_VERBS
from corekit.registry.spec import CASES, SCENARIOS

__all__ = ["Finding", "check_up"]

_HOOKS = "corekit.hooks"
_AT_ONCE = 2
_START = 10.0
"""Wall time [s] granted to the start of an interpreter."""


@frozen(kw_only=True)
class Finding:
    """What came of trying one plugin.

    Args:
        kind: role id, or `cases`, `scenarios`, `hooks`, `shapes`. name: of the plugin.
        distribution, version: who brings it.
        problem: why it cannot be used, empty if it can.
        missing: ability → why it is not available here.
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
        ours = {KERNEL, "corekit-scenarios", *FIRST_PARTY_VERBS.values()}
        ours |= {known.distribution for known in FIRST_PARTY}
        return canonicalize_name(self.distribution) in ours


@frozen
class _Patient:
    """A plugin to try: the finding to complete and the arguments of `examine`; without any its problem is known."""

    finding: Finding
    arguments: tuple[str, ...] = ()


def check_up(limit: float = 60.0, tell: Callable[[Finding], None] | None = None) -> list[Finding]:
    """Try every installed plugin.

    Args:
        limit: on the import of each [s].
        tell: told each finding as it is made.
    """
    groups = [list(group) for _, group in groupby([*_components(), *_others()], _owner)]
    findings: list[Finding] = []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for group in pool.map(lambda patients: _examined(patients, limit), groups):
            for finding in group:
                findings.append(finding)
                if tell is not None:
                    tell(finding)
    return findings


def _owner(patient: _Patient) -> str:
    return patient.finding.distribution


def _components() -> Iterator[_Patient]:
    for row in discover():
        finding = Finding(
            kind=row.role,
            name=row.name,
            distribution=row.distribution,
            version=row.version,
            problem=row.reason,
        )
        if row.reason:
            yield _Patient(finding)
        else:
            yield _Patient(finding, ("component", row.role, f"{row.distribution}:{row.name}"))


def _others() -> Iterator[_Patient]:
    for group in (CASES, SCENARIOS, _HOOKS, SHAPES):
        for entry in sorted(metadata.entry_points(group=group), key=lambda each: (each.name, each.value)):
            finding = Finding(
                kind=group.removeprefix("corekit."),
                name=entry.name,
                distribution="unknown" if entry.dist is None else entry.dist.name,
                version="unknown" if entry.dist is None else entry.dist.version,
            )
            yield _Patient(finding, (group, entry.name if group == SHAPES else entry.value))


def _examined(patients: Sequence[_Patient], limit: float) -> list[Finding]:
    """All of one distribution in one process; whoever ends it is found out, and the rest go on in another."""
    waiting = [patient for patient in patients if patient.arguments]
    verdicts: list[dict[str, Any]] = []
    while len(verdicts) < len(waiting):
        left = waiting[len(verdicts) :]
        given, ended = _answers(left, limit)
        verdicts += given
        if len(given) < len(left):
            verdicts.append({"problem": ended, "missing": {}, "wall_s": 0.0})
    answered = iter(verdicts)
    return [
        evolve(patient.finding, **next(answered)) if patient.arguments else patient.finding
        for patient in patients
    ]


def _answers(patients: Sequence[_Patient], limit: float) -> tuple[list[dict[str, Any]], str]:
    """What the process says of the first of them, and why it says nothing of the next."""
    asked = json.dumps([patient.arguments for patient in patients])
    command = [sys.executable, "-m", "corekit.registry.examine", f"{limit:g}", asked]
    too_long = f"its import did not end within {limit:g} s"
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=(limit + _START) * len(patients), check=False,
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
