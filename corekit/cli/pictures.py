"""Viewers by the endings of files they can write, and pictures of a run made by them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from corekit.errors import PluginError, ResultsError
from corekit.registry.discover import discover
from corekit.registry.first_party import FIRST_PARTY
from corekit.registry.resolve import did_you_mean, find, load_spec, load_target

if TYPE_CHECKING:
    from corekit.roles.chart import LineChart
    from corekit.roles.viewer import Viewer
    from corekit.run.results import Results

__all__ = ["draw", "draw_chart", "installed_viewers", "viewer_for"]


def installed_viewers(only: str = "") -> list[tuple[str, Viewer]]:
    """Name and viewer of every usable one, or of the one named.

    Raises:
        PluginError: there is none, with the line that installs one.
    """
    from corekit.roles.component import BuildContext

    rows = [row for row in discover() if row.role == "viewers"]
    chosen = [find("viewers", only, rows)] if only else [row for row in rows if row.usable]
    if not chosen:
        line = next(known.install_line for known in FIRST_PARTY if known.role == "viewers")
        trouble = "".join(f"; {row.name} cannot be used: {row.reason}" for row in rows)
        raise PluginError(f"no viewer is installed: {line}{trouble}")
    found: list[tuple[str, Viewer]] = []
    for row in chosen:
        spec = load_spec(row)
        viewer = load_target(spec.target)(
            load_target(spec.config)(), BuildContext(path=f"viewers.{row.name}")
        )
        found.append((row.name, viewer))
    return found


def viewer_for(path: Path, viewers: Sequence[tuple[str, Viewer]]) -> Viewer:
    """The first viewer that writes files of this ending.

    Raises:
        PluginError: none does, with the endings that could be written.
    """
    for _, viewer in viewers:
        if path.suffix in viewer.suffixes:
            return viewer
    endings = sorted({suffix for _, viewer in viewers for suffix in viewer.suffixes})
    ending = path.suffix or "an empty ending"
    raise PluginError(
        f"no installed viewer writes {ending}{did_you_mean(path.suffix, endings)}; they write {', '.join(endings)}"
    )


def draw_chart(chart: LineChart, stem: Path) -> tuple[Path | None, str]:
    """Draw a line chart into `stem` with the first ending of the first viewer that draws charts.

    Returns:
        The file; or None, and the sentence why nothing was drawn.
    """
    from corekit.roles.component import BuildContext

    line = next(known.install_line for known in FIRST_PARTY if known.role == "viewers")
    trouble = f"no installed viewer draws charts: {line}"
    for row in discover():
        if row.role != "viewers" or not row.usable:
            continue
        try:
            spec = load_spec(row)
            if "charts" not in spec.provides:
                continue
            viewer = load_target(spec.target)(
                load_target(spec.config)(), BuildContext(path=f"viewers.{row.name}")
            )
            path = stem.with_name(stem.name + viewer.suffixes[0])
            viewer.chart(chart, path)
        except (PluginError, ResultsError) as error:
            trouble = str(error)
        else:
            return path, ""
    return None, trouble


def draw(results: Results, path: Path, viewer: Viewer) -> None:
    """Draw a run into a file, whose folder is made if it is not there.

    Raises:
        ResultsError: there is nothing to draw, or the file cannot be written.
    """
    replay = results.replay()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        viewer.render(replay, path)
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {error.strerror or error}") from error
