"""`corekit info RUNDIR`: what a run was, how it stands, its statistics, and the versions that made it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corekit.hooks.installed import installed_hooks
from corekit.registry.resolve import load_target

if TYPE_CHECKING:
    from corekit.run.results import Results

__all__ = ["is_run", "print_run", "run_sheet"]

_SIGNS = ("STATUS", "results.nc")


def is_run(path: Path) -> bool:
    """Whether a path is the folder of a run, or its results file."""
    return (path.is_file() and path.suffix == ".nc") or any((path / sign).is_file() for sign in _SIGNS)


def run_sheet(path: Path) -> dict[str, Any]:
    """Everything known about a run, as JSON can hold it; reads its folder alone, no plugin is imported.

    Raises:
        ResultsError: its results cannot be read.
    """
    from corekit.cli.run_report import as_data
    from corekit.run.results import Results

    results = Results(path)
    found = _folder_reports(results.path)
    if found:
        return {
            "scenario": _scenario(results.path),
            "report": {**_little(results), "pictures": [str(each) for each in _pictures(results)]},
            **found,
            "records": len(results.time),
            "checkpoints": 0,
            "versions": _versions(results.path),
        }
    recorded = len(results.time) > 0 and bool(results.statistics)
    return {
        "scenario": _scenario(results.path),
        "report": as_data(results, _pictures(results)) if recorded else _little(results),
        "records": len(results.time),
        "checkpoints": len(list(results.path.glob("checkpoint-*.npz"))),
        "versions": _versions(results.path),
    }


def print_run(sheet: Mapping[str, Any]) -> None:
    """Print the sheet for a reader."""
    from rich.console import Console
    from rich.text import Text

    from corekit.cli.run_report import print_table

    console = Console(highlight=False, soft_wrap=True)
    report, scenario, versions = sheet["report"], sheet["scenario"], sheet["versions"]
    console.print(Text(report["name"] or "unnamed run", style="bold"), Text(report["folder"]))
    for line in _scenario_lines(scenario):
        console.print(Text(f"  {line}"))
    console.print()
    shown = [each for each in installed_hooks().folder_reports() if each.name in sheet]
    for each in shown:
        load_target(each.function)({**sheet[each.name], "pictures": report["pictures"]})
    if not shown and "statistics" in report:
        print_table(report)
    elif not shown:
        console.print(Text(f"status {report['status']}: {report['reason'] or 'nothing is recorded yet'}"))
    console.print(Text(f"{sheet['records']} records, {sheet['checkpoints']} checkpoints"))
    if versions:
        plugins = [f"{name} {version}" for name, version in versions.get("plugins", {}).items()]
        libraries = [f"{name} {version}" for name, version in versions.get("libraries", {}).items()]
        made = f"corekit-kernel {versions.get('corekit')}, Python {versions.get('python')}"
        console.print(Text(f"made by {made}, {', '.join([*plugins, *libraries])}"))


def _little(results: Results) -> dict[str, Any]:
    outcome = results.outcome
    return {
        "name": results.title, "status": outcome.word, "reason": outcome.reason, "folder": str(results.path),
    }  # fmt: skip


def _folder_reports(folder: Path) -> dict[str, Any]:
    """What other distributions left in a folder for `corekit info`, each by the name of its file."""
    found: dict[str, Any] = {}
    for each in installed_hooks().folder_reports():
        with suppress(OSError, ValueError):
            found[each.name] = json.loads((folder / each.file).read_text(encoding="utf-8"))
    return found


def _pictures(results: Results) -> list[Path]:
    return sorted(path for path in results.path.iterdir() if path.suffix in {".png", ".html", ".mp4"})


def _scenario(folder: Path) -> dict[str, Any]:
    """What the resolved scenario says; empty where it cannot be read."""
    try:
        document = tomllib.loads((folder / "resolved.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    contact = document.get("contact", {})
    return {
        "duration_s": document["time"]["duration"],
        "step_s": document["time"]["step"],
        "every_s": document["output"]["every"],
        "bodies": {body["name"]: body["use"] for body in document["bodies"]},
        "obstacles": {each["name"]: each["shape"] for each in document.get("world", {}).get("obstacles", [])},
        "detectors": [each["use"] for each in contact.get("detector", [])],
        "contact_solver": contact.get("solver", {}).get("use"),
        "integrator": document["integrator"]["use"],
    }


def _scenario_lines(scenario: Mapping[str, Any]) -> list[str]:
    if not scenario:
        return ["its resolved.toml cannot be read"]
    bodies = ", ".join(f"{name} ({use})" for name, use in scenario["bodies"].items())
    obstacles = ", ".join(f"{name} ({shape})" for name, shape in scenario["obstacles"].items())
    solver = scenario["contact_solver"]
    contact = f"found by {', '.join(scenario['detectors'])}, solved by {solver}" if solver else "none"
    return [
        f"{scenario['duration_s']:g} s in steps of {scenario['step_s']:g} s, a record every {scenario['every_s']:g} s",
        f"bodies: {bodies}; obstacles: {obstacles or 'none'}",
        f"contact: {contact}; integrator: {scenario['integrator']}",
    ]


def _versions(folder: Path) -> dict[str, Any]:
    try:
        return json.loads((folder / "versions.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
