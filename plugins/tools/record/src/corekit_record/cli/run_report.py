"""What was recorded of a run: what contacts did, who solved and how well, and what the watchdog found."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

from corekit.cli.run_report import Data, RunReport, time_rows
from corekit_record.results import RESULTS, Results
from corekit_record.statistics import ContactPhase

__all__ = ["RecordedRun", "watchdog_lines"]

_PICTURES = (".png", ".html")


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
        from corekit_record.cli.pictures import draw, installed_viewers

        viewers = installed_viewers()

        def make(folder: Path) -> list[Path]:
            results = Results(folder)
            # a file for every viewer and ending; the second of one ending bears its viewer's name
            targets: dict[Path, Any] = {}
            for each in viewers:
                for suffix in _PICTURES:
                    if suffix in each.viewer.suffixes:
                        path = folder / f"{results.title}{suffix}"
                        own = folder / f"{results.title}-{each.name}{suffix}"
                        targets[own if path in targets else path] = each
            for path, viewer in targets.items():
                draw(results, path, viewer)
            return list(targets)

        return make

    def as_data(self, pictures: Sequence[Path] = (), whole_s: float | None = None) -> Data:
        results = self._results
        return {
            **super().as_data(pictures, whole_s),
            "results": str(results.file),
            "simulated_s": float(results.time[-1] - results.time[0]),
            "statistics": dict(results.statistics),
            "watchdog": self.finished.get("watchdog", {}),
        }

    @property
    def status(self) -> Data:
        return {**super().status, "name": self._results.title}

    @property
    def has_table(self) -> bool:
        return len(self._results.time) > 0 and bool(self._results.statistics)

    @property
    def counts(self) -> dict[str, int]:
        return {"records": len(self._results.time), **super().counts}

    def rows(self, data: Mapping[str, Any]) -> list[tuple[str, str]]:
        said = data["statistics"]
        solves = sum(said["answered_by"].values()) or 1
        phases = " | ".join(str(ContactPhase.from_data(each)) for each in said["contact_phases"])
        return [
            ("status", data["status"] + (f": {data['reason']}" if data["reason"] else "")),
            ("steps", f"{said['steps']}, {said['kept']} records"),
            *time_rows(data),
            ("contacts, at most", str(said["most_contacts"])),
            ("deepest penetration", _depth(said)),
            ("solved by", _counts(said["answered_by"], solves)),
            ("outcome of solves", _counts(said["statuses"], solves)),
            ("worst residual", f"{said['worst_residual']:.1e} (physical: m/s, N·s)"),
            ("contact over time", phases or "no contact"),
            *(("watchdog", each) for each in watchdog_lines(data["watchdog"])),
            *(("note", f"{note} ({count} steps)") for note, count in said["notes"].items()),
            ("results", data["results"]),
            *(("picture", path) for path in data["pictures"]),
        ]

    def show_step(self, step: int | None, at: float | None, *, as_json: bool) -> None:
        from corekit_record.cli.step_info import print_step, step_sheet

        sheet = step_sheet(self._results, step, at)
        print(json.dumps(sheet, indent=2, ensure_ascii=False)) if as_json else print_step(sheet)


def watchdog_lines(watchdog: Mapping[str, Any]) -> list[str]:
    """What the watchdog saw, a line a kind."""
    units = {"unsolved": "", "penetration": " m", "energy": " J"}
    return [
        f"{kind}: {watchdog[kind]['steps']} steps, first at {watchdog[kind]['first_s']:.4g} s, "
        f"worst {watchdog[kind]['worst']:.3g}{unit}"
        for kind, unit in units.items()
        if kind in watchdog
    ]


def _depth(said: Mapping[str, Any]) -> str:
    if not said["deepest_penetration_m"] > 0:
        return "none"
    at = said["deepest_penetration_at_s"]
    return f"{1e3 * said['deepest_penetration_m']:.3g} mm" + ("" if at is None else f" at {at:.4g} s")


def _counts(counts: Mapping[str, int], total: int) -> str:
    listed = sorted(counts.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{name or 'unnamed'} {count} ({100.0 * count / total:.3g} %)" for name, count in listed)
