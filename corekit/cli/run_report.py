"""What `corekit run` and `corekit info` say of a run: from its folder alone, and more where records are read."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from corekit.errors import PluginError
from corekit.hooks.installed import installed_hooks
from corekit.registry.first_party import RECORDER
from corekit.registry.resolve import load_target
from corekit.simulation.folder import STATUS, read_log, read_status

__all__ = ["RunReport", "run_report", "time_rows"]

Data = dict[str, Any]


def run_report() -> type[RunReport]:
    """The installed class that says what was recorded of a run; without one, what every run leaves."""
    target = installed_hooks().run_report()
    return load_target(target) if target else RunReport


class RunReport:
    """What the folder of a run says without records.

    A recorder derives its own from it and names that in the hook `corekit_run_report`.

    Args:
        path: of the run's folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Whether a path is the folder of a run."""
        return (path / STATUS).is_file()

    @classmethod
    def prepare_pictures(cls) -> Callable[[Path], list[Path]]:
        """What draws the run in a folder and returns the files; called before the run, to name a missing viewer.

        Raises:
            PluginError: nothing that is installed draws runs.
        """
        raise PluginError(
            f"pictures show what was recorded, and no recorder is installed: pip install {RECORDER}"
        )

    # — a run that is over —

    def as_data(self, pictures: Sequence[Path] = (), whole_s: float | None = None) -> Data:
        """How it went, as JSON can hold it.

        Args:
            whole_s: wall time of the command so far, with imports, composing and files [s]; None of an earlier run.
        """
        keys = ("wall_s", "loop_s", "first_step_s", "step_s", "real_time_factor")
        times = self.finished
        return {
            **self.status,
            "pictures": [str(path) for path in pictures],
            **{key: times.get(key) for key in keys},
            "whole_s": whole_s,
        }

    @property
    def status(self) -> Data:
        """Its name, how it stands and where it lies."""
        outcome, scenario = read_status(self.path), self._document
        return {
            "name": scenario.get("name", ""), "status": outcome.status, "reason": outcome.reason,
            "folder": str(self.path),
        }  # fmt: skip

    @property
    def finished(self) -> Data:
        """What the log says of its end; empty if it has not finished."""
        return next((event for event in reversed(read_log(self.path)) if event["event"] == "finished"), {})

    def rows(self, data: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The lines of its table, from `as_data`."""
        return [
            ("status", data["status"] + (f": {data['reason']}" if data["reason"] else "")),
            *time_rows(data),
            ("folder", data["folder"]),
            *(("picture", path) for path in data["pictures"]),
        ]

    def print_table(self, data: Mapping[str, Any]) -> None:
        """Print `as_data` for a reader."""
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, show_header=False, pad_edge=False)
        table.add_column(no_wrap=True, style="bold")
        table.add_column(overflow="fold")
        for name, value in self.rows(data):
            table.add_row(name, Text(value))
        Console(highlight=False).print(table)

    # — any run —

    def show(self, *, as_json: bool) -> None:
        """Print everything known about the run; no plugin of it is imported."""
        sheet = self.sheet()
        print(json.dumps(sheet, indent=2, ensure_ascii=False)) if as_json else self._print(sheet)

    def show_step(self, step: int | None, at: float | None, *, as_json: bool) -> None:
        """Print what was recorded of a step, given by its number or by an instant in it.

        Raises:
            PluginError: nothing that is installed reads it.
        """
        del step, at, as_json
        raise PluginError(
            f"steps are told from records, and no recorder is installed: pip install {RECORDER}"
        )

    def sheet(self) -> Data:
        """Everything known about the run, as JSON can hold it."""
        further = self._further()
        if further:
            report = {**self.status, "pictures": [str(each) for each in self.pictures]}
        else:
            report = self.as_data(self.pictures) if self.has_table else self.status
        return {
            "scenario": self.scenario,
            "report": report,
            **further,
            **self.counts,
            "versions": self._json("versions.json"),
        }

    @property
    def has_table(self) -> bool:
        """Whether `as_data` has something to say."""
        return bool(self.finished)

    @property
    def counts(self) -> dict[str, int]:
        """How much of what lies in the folder."""
        return {"checkpoints": len(list(self.path.glob("checkpoint-*.npz")))}

    def _print(self, sheet: Mapping[str, Any]) -> None:
        from rich.console import Console
        from rich.text import Text

        console = Console(highlight=False, soft_wrap=True)
        report, versions = sheet["report"], sheet["versions"]
        console.print(Text(report["name"] or "unnamed run", style="bold"), Text(report["folder"]))
        for line in _scenario_lines(sheet["scenario"]):
            console.print(Text(f"  {line}"))
        console.print()
        further = [each for each in installed_hooks().folder_reports() if each.name in sheet]
        for each in further:
            load_target(each.function)({**sheet[each.name], "pictures": report["pictures"]})
        if "step_s" in report:
            self.print_table(report)
        elif not further:
            console.print(Text(f"status {report['status']}: {report['reason'] or 'nothing is recorded yet'}"))
        console.print(Text(", ".join(f"{sheet[what]} {what}" for what in self.counts)))
        if versions:
            plugins = [f"{name} {version}" for name, version in versions.get("plugins", {}).items()]
            libraries = [f"{name} {version}" for name, version in versions.get("libraries", {}).items()]
            made = f"corekit-kernel {versions.get('corekit')}, Python {versions.get('python')}"
            console.print(Text(f"made by {made}, {', '.join([*plugins, *libraries])}"))

    @property
    def pictures(self) -> list[Path]:
        """Pictures, replays and videos in the folder."""
        return sorted(path for path in self.path.iterdir() if path.suffix in {".png", ".html", ".mp4"})

    @property
    def scenario(self) -> Data:
        """What the resolved scenario says; empty where it cannot be read."""
        document = self._document
        if not document:
            return {}
        contact = document.get("contact", {})
        return {
            "duration_s": document["time"]["duration"],
            "step_s": document["time"]["step"],
            "every_s": document["output"]["every"],
            "bodies": {body["name"]: body["use"] for body in document["bodies"]},
            "obstacles": {
                each["name"]: each["shape"] for each in document.get("world", {}).get("obstacles", [])
            },
            "detectors": [each["use"] for each in contact.get("detector", [])],
            "contact_solver": contact.get("solver", {}).get("use"),
            "integrator": document["integrator"]["use"],
        }

    @property
    def _document(self) -> Data:
        try:
            return tomllib.loads((self.path / "resolved.toml").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def _further(self) -> dict[str, Data]:
        """What other distributions left in the folder for `corekit info`, by its name."""
        found = {each.name: self._json(each.file) for each in installed_hooks().folder_reports()}
        return {name: told for name, told in found.items() if told}

    def _json(self, name: str) -> Data:
        """A file of the folder; empty where it cannot be read."""
        try:
            return json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}


def time_rows(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How long a run took."""
    step, factor = data["step_s"], data["real_time_factor"]
    told = [] if data["loop_s"] is None else [f"{data['loop_s']:.3g} s of steps"]
    if data["whole_s"] is not None:
        told.append(f"{data['whole_s']:.3g} s in all with starting, loading and writing")
    return [
        ("time per step", "unknown" if step is None else f"{1e6 * step:.0f} µs (median)"),
        ("real-time factor", "unknown" if factor is None else f"{factor:.3g}"),
        ("wall time", ", ".join(told) or "unknown"),
    ]


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
