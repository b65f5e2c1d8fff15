"""The table at the end of a run: how long it took, what contacts did, who solved, where it all lies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corekit.run.results import Results

__all__ = ["as_data", "print_table", "watchdog_lines"]


def as_data(results: Results, pictures: Sequence[Path], whole_s: float | None = None) -> dict[str, Any]:
    """The report as JSON can hold it.

    Args:
        whole_s: wall time of the command so far, with imports, composing and files [s]; None of an earlier run.
    """
    outcome = results.outcome
    times = next((event for event in reversed(results.events) if event["event"] == "finished"), {})
    keys = ("wall_s", "loop_s", "first_step_s", "step_s", "real_time_factor")
    return {
        "name": results.title,
        "status": outcome.word,
        "reason": outcome.reason,
        "folder": str(results.path),
        "results": str(results.file),
        "pictures": [str(path) for path in pictures],
        "simulated_s": float(results.time[-1] - results.time[0]),
        **{key: times.get(key) for key in keys},
        "whole_s": whole_s,
        "statistics": dict(results.statistics),
        "watchdog": times.get("watchdog", {}),
    }


def print_table(report: dict[str, Any]) -> None:
    """Print the report for a reader."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from corekit.run.statistics import ContactPhase

    said = report["statistics"]
    solves = sum(said["answered_by"].values()) or 1
    phases = " | ".join(str(ContactPhase.from_data(each)) for each in said["contact_phases"])
    rows = [
        ("status", report["status"] + (f": {report['reason']}" if report["reason"] else "")),
        ("steps", f"{said['steps']}, {said['kept']} records"),
        ("time per step", _per_step(report)),
        ("real-time factor", _number(report["real_time_factor"], "{:.3g}")),
        ("wall time", _wall(report)),
        ("contacts, at most", str(said["most_contacts"])),
        ("deepest penetration", _depth(said)),
        ("solved by", _counts(said["answered_by"], solves)),
        ("outcome of solves", _counts(said["statuses"], solves)),
        ("worst residual", f"{said['worst_residual']:.1e} (physical: m/s, N·s)"),
        ("contact over time", phases or "no contact"),
        *(("watchdog", each) for each in watchdog_lines(report["watchdog"])),
        *(("note", f"{note} ({count} steps)") for note, count in said["notes"].items()),
        ("results", report["results"]),
        *(("picture", path) for path in report["pictures"]),
    ]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(value))
    Console(highlight=False).print(table)


def watchdog_lines(watchdog: dict[str, Any]) -> list[str]:
    """What the watchdog saw, a line a kind."""
    units = {"unsolved": "", "penetration": " m", "energy": " J"}
    return [
        f"{kind}: {watchdog[kind]['steps']} steps, first at {watchdog[kind]['first_s']:.4g} s, "
        f"worst {watchdog[kind]['worst']:.3g}{unit}"
        for kind, unit in units.items()
        if kind in watchdog
    ]


def _per_step(report: dict[str, Any]) -> str:
    if report["step_s"] is None:
        return "unknown"
    return f"{1e6 * report['step_s']:.0f} µs (median)"


def _wall(report: dict[str, Any]) -> str:
    """How long the steps took, watched and recorded, and how long all of it."""
    steps, whole = report["loop_s"], report["whole_s"]
    told = [] if steps is None else [f"{steps:.3g} s of steps"]
    if whole is not None:
        told.append(f"{whole:.3g} s in all with starting, loading and writing")
    return ", ".join(told) or "unknown"


def _number(value: float | None, form: str) -> str:
    return "unknown" if value is None else form.format(value)


def _depth(said: dict[str, Any]) -> str:
    if not said["deepest_penetration_m"] > 0:
        return "none"
    at = said["deepest_penetration_at_s"]
    return f"{1e3 * said['deepest_penetration_m']:.3g} mm" + ("" if at is None else f" at {at:.4g} s")


def _counts(counts: dict[str, int], total: int) -> str:
    listed = sorted(counts.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{name or 'unnamed'} {count} ({100.0 * count / total:.3g} %)" for name, count in listed)
