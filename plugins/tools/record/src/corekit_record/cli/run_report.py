"""Report of a recorded run: the table at its end, and the sheet of `corekit info DIR`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, final

from corekit.cli.terminal import make_console, print_json
from corekit.errors import ResultsError
from corekit.files import read_regular, write_text_whole
from corekit.hooks.installed import installed_hooks
from corekit.registry.resolve import load_target
from corekit_record.results import RESULTS, Results
from corekit_record.statistics import ContactPhase
from corekit_run.cli.run_report import RunReport
from corekit_run.folder import read_log
from corekit_run.json_file import read_json
from corekit_run.output_file import writing

__all__ = ["RecordedRun", "watchdog_lines"]


P = ParamSpec("P")
R = TypeVar("R")


def _or_foreign(method: Callable[P, R]) -> Callable[P, R]:
    """Make a method of a report tell by one ResultsError that files of the folder hold what no run writes."""

    @wraps(method)
    def told(*args: P.args, **kwargs: P.kwargs) -> R:
        own: Any = args[0]
        try:
            return method(*args, **kwargs)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise ResultsError(
                f"{own.path} holds files that no run writes, or damaged ones ({said})"
            ) from error

    return told


@final
class RecordedRun(RunReport):
    """The report of a run with records.

    Args:
        path: of the run's folder or of its results file.
    Raises:
        ResultsError: its results cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._results = Results(path)
        super().__init__(self._results.path)

    @classmethod
    def recognises(cls, path: Path) -> bool:
        is_file = path.is_file() and path.suffix == ".nc"
        return is_file or (path / RESULTS).is_file() or super().recognises(path)

    @classmethod
    def prepare_pictures(cls) -> Callable[[Path], list[Path]]:
        from corekit_record.cli.pictures import installed_viewers
        from corekit_record.cli.run_pictures import RunPictures

        return RunPictures(installed_viewers()).make

    def estimate_step_error(self, scenario: Any, progress: Callable[[float], object] | None = None) -> None:
        from corekit_record.step_error import STEP_ERROR, estimate_step_error

        found = estimate_step_error(self._results, scenario, progress).as_data()
        with writing(self.path):
            write_text_whole(self.path / STEP_ERROR, json.dumps(found, indent=2, ensure_ascii=False) + "\n")

    @_or_foreign
    def as_data(self, pictures: Sequence[Path] = (), whole_s: float | None = None) -> dict[str, Any]:
        results = self._results
        events = read_log(self.path)
        finished = next((event for event in reversed(events) if event["event"] == "finished"), {})
        remarks = [event for event in reversed(events) if event["event"] == "remark" and "between" in event]
        times = ("wall_s", "loop_s", "first_step_s", "step_s", "real_time_factor")
        return {
            **self._status(),
            "pictures": [str(path) for path in pictures],
            **{key: finished.get(key) for key in times},
            "whole_s": whole_s,
            "results": str(results.file),
            "simulated_s": float(results.time[-1] - results.time[0]),
            "statistics": dict(results.statistics),
            "watchdog": finished.get("watchdog", {}),
            "step_error": self._read_json("step-error.json"),
            "remarks": {event["said"]: event["between"] for event in remarks},
        }

    def _status(self) -> dict[str, Any]:
        return {"name": self._results.title, **super().as_data()}

    def _has_table(self) -> bool:
        return len(self._results.time) > 0 and bool(self._results.statistics)

    def _rows(self, data: Mapping[str, Any]) -> list[tuple[str, str]]:
        counted = data["statistics"]
        solves = sum(counted["answered_by"].values()) or 1
        phases = " | ".join(str(ContactPhase.from_data(each)) for each in counted["contact_phases"])
        return [
            ("status", data["status"] + (f": {data['reason']}" if data["reason"] else _doubt(counted))),
            ("steps", f"{counted['steps']}, {counted['kept']} records{_cut(counted)}"),
            *([("lost", self._results.lost)] if self._results.lost else []),
            *_time_rows(data),
            ("contacts, at most", str(counted["most_contacts"])),
            ("deepest penetration", _depth(counted)),
            ("solved by", _counts(counted["answered_by"], solves)),
            ("outcome of solves", _counts(counted["statuses"], solves)),
            ("worst residual", f"{counted['worst_residual']:.1e} (physical: m/s, N·s)"),
            ("contact in records", phases or "no contact"),
            *([("error of the step", data["step_error"]["said"])] if data["step_error"] else []),
            *(("watchdog", each) for each in watchdog_lines(data["watchdog"])),
            *(
                ("note", f"{note} ({count} steps{_between(data['remarks'].get(note, ''))})")
                for note, count in counted["notes"].items()
            ),
            ("results", data["results"]),
            *(("picture", path) for path in data["pictures"]),
        ]

    @_or_foreign
    def print_table(self, data: Mapping[str, Any]) -> None:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, show_header=False, pad_edge=False)
        table.add_column(no_wrap=True, style="bold")
        table.add_column(overflow="fold")
        for name, value in self._rows(data):
            table.add_row(name, Text(value))
        make_console().print(table)

    @_or_foreign
    def show(self, *, as_json: bool) -> None:
        sheet = self.sheet()
        print_json(sheet, indent=2) if as_json else self._print_sheet(sheet)

    def sheet(self) -> dict[str, Any]:
        """Return everything known about the run, as JSON can hold it."""
        further, pictures = self._further_reports(), self._pictures()
        if further:
            report = {**self._status(), "pictures": [str(each) for each in pictures]}
        else:
            report = self.as_data(pictures) if self._has_table() else self._status()
        return {
            "scenario": self._scenario(),
            "report": report,
            **further,
            "records": len(self._results.time),
            "checkpoints": len(list(self.path.glob("checkpoint-*.npz"))),
            "versions": self._read_json("versions.json"),
        }

    @_or_foreign
    def show_step(self, step: int | None, at: float | None, *, as_json: bool) -> None:
        from corekit_record.cli.step_info import print_step, step_sheet

        sheet = step_sheet(self._results, step, at)
        print_json(sheet, indent=2) if as_json else print_step(sheet)

    def _print_sheet(self, sheet: Mapping[str, Any]) -> None:
        from rich.text import Text

        console = make_console(soft_wrap=True)
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
        console.print(Text(f"{sheet['records']} records, {sheet['checkpoints']} checkpoints"))
        if versions:
            plugins = [f"{name} {version}" for name, version in versions.get("plugins", {}).items()]
            libraries = [f"{name} {version}" for name, version in versions.get("libraries", {}).items()]
            made = f"corekit-kernel {versions.get('corekit')}, Python {versions.get('python')}"
            console.print(Text(f"made by {made}, {', '.join([*plugins, *libraries])}"))

    def _pictures(self) -> list[Path]:
        """List the pictures, replays and videos in the folder."""
        return sorted(path for path in self.path.iterdir() if path.suffix in {".png", ".html", ".mp4"})

    def _scenario(self) -> dict[str, Any]:
        """Summarise the resolved scenario; empty if it cannot be read."""
        try:
            return _summary(tomllib.loads(read_regular(self.path / "resolved.toml").decode()))
        except (OSError, ValueError, AttributeError, LookupError, TypeError):
            return {}

    def _further_reports(self) -> dict[str, dict[str, Any]]:
        """Read what other distributions left in the folder for `corekit info`, by its name."""
        found = {each.name: self._read_json(each.file) for each in installed_hooks().folder_reports()}
        return {name: report for name, report in found.items() if report}

    def _read_json(self, name: str) -> dict[str, Any]:
        """Read a file of the folder; empty if it cannot be read."""
        try:
            found = read_json(self.path / name)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def _summary(document: Mapping[str, Any]) -> dict[str, Any]:
    """Summarise a resolved scenario."""
    time, contact = document["time"], document.get("contact", {})
    return {
        "duration_s": float(time["duration"]),
        "step_s": float(time["step"]),
        "every_s": float(document.get("output", {}).get("every", time["step"])),
        "bodies": {body["name"]: body["use"] for body in document["bodies"]},
        "obstacles": {each["name"]: each["shape"] for each in document.get("world", {}).get("obstacles", [])},
        "detectors": [each["use"] for each in contact.get("detector", [])],
        "contact_solver": contact.get("solver", {}).get("use"),
        "integrator": document["integrator"]["use"],
    }


def _time_rows(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the rows of the wall times of a run."""
    step, factor = data["step_s"], data["real_time_factor"]
    walls = [] if data["loop_s"] is None else [f"{data['loop_s']:.3g} s of steps"]
    if data["whole_s"] is not None:
        walls.append(f"{data['whole_s']:.3g} s in all with starting, loading and writing")
    return [
        ("time per step", "unknown" if step is None else f"{1e6 * step:.0f} µs (median)"),
        ("real-time factor", "unknown" if factor is None else f"{factor:.3g}"),
        ("wall time", ", ".join(walls) or "unknown"),
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


def watchdog_lines(watchdog: Mapping[str, Any]) -> list[str]:
    """Return the findings of the watchdog, one line per kind."""
    units = {"unsolved": "", "ambiguous": "", "penetration": " m", "energy": " J"}
    return [
        f"{kind}: {watchdog[kind]['steps']} steps, first at {watchdog[kind]['first_s']:.4g} s, "
        f"worst {watchdog[kind]['worst']:.3g}{unit}"
        for kind, unit in units.items()
        if kind in watchdog
    ]


def _doubt(counted: Mapping[str, Any]) -> str:
    """Say that most steps were not solved, where that is so: such a run shows nothing."""
    unsolved, steps = counted["unsolved_steps"], counted["steps"]
    return (
        f", but {unsolved} of {steps} steps are not solved: do not trust it" if 2 * unsolved > steps else ""
    )


def _cut(counted: Mapping[str, Any]) -> str:
    """Lengths of steps where some were much shorter than others: an impact or fast shapes near each other cut them."""
    shortest, longest = counted["shortest_step_s"], counted["longest_step_s"]
    if shortest is None or shortest > 0.5 * longest:
        return ""
    at = counted["shortest_step_at_s"]
    return f"; of at most {1e3 * longest:.4g} ms, the shortest of {1e3 * shortest:.3g} ms at {at:.4g} s"


def _between(shapes: str) -> str:
    """Say which shapes carried most when a note was made first, if any did."""
    return f"; at the first of them {shapes} carried most" if shapes else ""


def _depth(counted: Mapping[str, Any]) -> str:
    if not counted["deepest_penetration_m"] > 0:
        return "none"
    at = counted["deepest_penetration_at_s"]
    return f"{1e3 * counted['deepest_penetration_m']:.3g} mm" + ("" if at is None else f" at {at:.4g} s")


def _counts(counts: Mapping[str, int], total: int) -> str:
    listed = sorted(counts.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{name or 'unnamed'} {count} ({100.0 * count / total:.3g} %)" for name, count in listed)
