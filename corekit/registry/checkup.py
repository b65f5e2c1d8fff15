"""Whether every installed plugin really imports: each is tried in a process of its own, with a time limit."""

from __future__ import annotations

import json
import subprocess
import sys
import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata

from attrs import field, frozen
from packaging.utils import canonicalize_name

from corekit.registry.case import CASES, SCENARIOS
from corekit.registry.discover import KERNEL, discover
from corekit.registry.examine import MARK
from corekit.registry.first_party import FIRST_PARTY

__all__ = ["Finding", "check_up"]

_HOOKS = "corekit.hooks"
_AT_ONCE = 2


@frozen(kw_only=True)
class Finding:
    """What came of trying one plugin.

    Args:
        kind: role id, or `cases`, `scenarios`, `hooks`. name: of the plugin.
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
        ours = {KERNEL, "corekit-scenarios", *(known.distribution for known in FIRST_PARTY)}
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
    patients = [*_components(), *_others()]
    findings: list[Finding] = []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for finding in pool.map(lambda patient: _examined(patient, limit), patients):
            findings.append(finding)
            if tell is not None:
                tell(finding)
    return findings


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
    for group in (CASES, SCENARIOS, _HOOKS):
        for entry in sorted(metadata.entry_points(group=group), key=lambda each: (each.name, each.value)):
            finding = Finding(
                kind=group.removeprefix("corekit."),
                name=entry.name,
                distribution="unknown" if entry.dist is None else entry.dist.name,
                version="unknown" if entry.dist is None else entry.dist.version,
            )
            yield _Patient(finding, (group, entry.value))


def _examined(patient: _Patient, limit: float) -> Finding:
    finding = patient.finding
    if not patient.arguments:
        return finding
    began = clock.perf_counter()
    command = [sys.executable, "-m", "corekit.registry.examine", *patient.arguments]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=limit, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        problem, missing = f"its import did not end within {limit:g} s", {}
    else:
        problem, missing = _verdict(done.returncode, done.stdout.splitlines(), done.stderr.splitlines())
    return Finding(
        kind=finding.kind, name=finding.name, distribution=finding.distribution, version=finding.version,
        problem=problem, missing=missing, wall_s=clock.perf_counter() - began,
    )  # fmt: skip


def _verdict(code: int, lines: Sequence[str], errors: Sequence[str]) -> tuple[str, Mapping[str, str]]:
    said = next((line for line in reversed(lines) if line.startswith(MARK)), None)
    if said is not None and code == 0:
        data = json.loads(said.removeprefix(MARK))
        return data["problem"], data["missing"]
    last = next((line for line in reversed(errors) if line.strip()), "it says nothing")
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"importing it ended the interpreter ({how}): {last.strip()}", {}
