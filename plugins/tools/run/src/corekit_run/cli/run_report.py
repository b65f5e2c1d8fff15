"""Report of a run from its folder alone; the recorder that is installed reports what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from corekit.cli.terminal import print_json
from corekit.errors import PluginError
from corekit.hooks.installed import installed_hooks
from corekit.registry.first_party import RECORDER
from corekit.registry.resolve import load_target
from corekit_run.folder import STATUS, read_status

__all__ = ["RunReport", "run_report"]


def run_report() -> type[RunReport]:
    """Return the class that the hook `corekit_run_report` names, or `RunReport` without a recorder."""
    target = installed_hooks().target("corekit_run_report")
    return load_target(target) if target else RunReport


class RunReport:
    """Status of a run and where its files are; a recorder derives a class that reports the records too.

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
        """Return what draws the run in a folder and returns the files; called before the run, to name a missing viewer.

        Raises:
            PluginError: nothing that is installed draws runs.
        """
        raise PluginError(
            f"pictures show what was recorded, and no recorder is installed: pip install {RECORDER}"
        )

    def estimate_step_error(self, scenario: Any, progress: Callable[[float], object] | None = None) -> None:
        """Run a scenario once more with half of its step, and keep how far the run here is off.

        Raises:
            PluginError: nothing that is installed reads the run.
        """
        del scenario, progress
        raise PluginError(
            f"the error of the step is measured on records, and no recorder is installed: pip install {RECORDER}"
        )

    def as_data(self, pictures: Sequence[Path] = (), whole_s: float | None = None) -> dict[str, Any]:
        """Return the report as JSON can hold it.

        Args:
            pictures: files that show the run.
            whole_s: wall time of the command so far, with imports, composing and files [s]; None of an earlier run.
        """
        del pictures, whole_s
        outcome = read_status(self.path)
        return {"status": outcome.status, "reason": outcome.reason, "folder": str(self.path)}

    def print_table(self, data: Mapping[str, Any]) -> None:
        """Print `as_data` for a reader."""
        reason = f": {data['reason']}" if data["reason"] else ""
        print(f"{data['status']}{reason}; log and checkpoints are in {data['folder']}")

    def show(self, *, as_json: bool) -> None:
        """Print everything that is known about the run; no plugin of the run is imported."""
        data = self.as_data()
        print_json(data) if as_json else self.print_table(data)

    def show_step(self, step: int | None, at: float | None, *, as_json: bool) -> None:
        """Print what was recorded of a step, given by its number or by an instant in it.

        Raises:
            PluginError: nothing that is installed reads it.
        """
        del step, at, as_json
        raise PluginError(
            f"steps are read from records, and no recorder is installed: pip install {RECORDER}"
        )
