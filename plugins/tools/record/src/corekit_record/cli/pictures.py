"""Viewers by what they can do and the endings of files they write, and a picture of a run made by one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from corekit.errors import ConfigError, Mistake, PluginError, ResultsError
from corekit.registry.discover import discover
from corekit.registry.first_party import FIRST_PARTY
from corekit.registry.resolve import did_you_mean, find, load_spec, load_target
from corekit.registry.spec import ComponentSpec
from corekit.roles.component import BuildContext
from corekit.scenario.overrides import apply_overrides
from corekit.scenario.structure import structure
from corekit_record.actuator_tracks import with_actuators
from corekit_record.results import Results
from corekit_run.plugin_errors import named_errors

if TYPE_CHECKING:
    from corekit.roles.viewer import LineChart

__all__ = [
    "InstalledViewer",
    "draw",
    "draw_chart",
    "installed_viewers",
    "viewer_for",
    "viewer_with",
]


@frozen(eq=False)
class InstalledViewer:
    """A viewer and its spec.

    Args:
        spec: its light description.
        viewer: a `Viewer`, and whatever protocols the abilities it provides stand for.
    """

    spec: ComponentSpec
    viewer: Any

    @property
    def name(self) -> str:
        """The word that chooses it."""
        return self.spec.name

    @classmethod
    def built(cls, spec: ComponentSpec, settings: Sequence[str] = ()) -> InstalledViewer:
        """Build the viewer of a spec with options, given as texts such as `fps=60`.

        Raises:
            ConfigError: the options have mistakes: all of them.
        """
        path = f"viewers.{spec.name}"
        config = _options(load_target(spec.config), settings, path)
        return cls(spec, load_target(spec.target)(config, BuildContext(path=path)))

    def with_options(self, settings: Sequence[str]) -> InstalledViewer:
        """Build the same viewer with options."""
        return InstalledViewer.built(self.spec, settings) if settings else self


def _options(cls: type, settings: Sequence[str], path: str) -> Any:
    if not settings:
        return cls()
    mistakes: list[Mistake] = []
    table: dict[str, Any] = {}
    apply_overrides(table, settings, mistakes)
    made = structure(cls, table, "", mistakes)
    if mistakes:
        raise ConfigError(mistakes, f"options of {path} (`corekit info {path}` lists them)")
    return made


def installed_viewers(only: str = "") -> list[InstalledViewer]:
    """List every usable viewer, or the one named.

    Raises:
        PluginError: there is none, with the line that installs one.
    """
    rows = [row for row in discover() if row.role == "viewers"]
    if only:
        return [InstalledViewer.built(load_spec(find("viewers", only, rows)))]
    found: list[InstalledViewer] = []
    for row in rows:
        with suppress(PluginError):
            if row.usable:
                found.append(InstalledViewer.built(load_spec(row)))
    if not found:
        raise PluginError(f"no viewer is installed: {_install_line()}{_left_out()}")
    return found


def _left_out() -> str:
    """Say why viewers that are installed cannot be used, one after the other."""
    reasons = ""
    for row in discover():
        if row.role == "viewers":
            try:
                InstalledViewer.built(load_spec(row))
            except PluginError as error:
                reasons += f"; {error}"
    return reasons


def _install_line() -> str:
    return next(known.install_line for known in FIRST_PARTY if known.role == "viewers")


def viewer_for(path: Path, viewers: Sequence[InstalledViewer], only: str = "") -> InstalledViewer:
    """Find the first viewer that writes files of this ending.

    Args:
        only: the one that the user named, which `viewers` is of.
    Raises:
        PluginError: none does, with the endings that could be written, and what other viewers lack.
    """
    for each in viewers:
        if path.suffix in each.viewer.suffixes:
            return each
    endings = sorted({suffix for each in viewers for suffix in each.viewer.suffixes})
    ending = path.suffix or "an empty ending"
    who, they = (
        (f"viewer {only!r} does not write", "it writes")
        if only
        else ("no installed viewer writes", "they write")
    )
    left_out = "" if only else _left_out()
    raise PluginError(
        f"{who} {ending}{did_you_mean(path.suffix, endings)}; {they} {', '.join(endings)}{left_out}"
    )


def viewer_with(ability: str, what: str, only: str = "") -> InstalledViewer:
    """Find the first installed viewer with an ability.

    Args:
        ability: its id. what: what it does, after “no installed viewer”.
        only: the one to look at, if the user named one.
    Raises:
        PluginError: none has, with those that do or the line that installs one.
    """
    viewers = installed_viewers(only)
    for each in viewers:
        if ability in each.spec.provides:
            return each
    able = [each.name for each in installed_viewers() if ability in each.spec.provides] if only else []
    if able:
        raise PluginError(
            f"{only!r} is no viewer that {what}: choose {' or '.join(able)}, or leave --viewer out"
        )
    names = ", ".join(each.name for each in viewers)
    raise PluginError(f"no installed viewer {what} ({names}): {_install_line()}")


def draw_chart(chart: LineChart, stem: Path) -> tuple[Path | None, str]:
    """Draw a line chart into `stem` with the first ending of the first viewer that draws charts.

    Returns:
        The file; or None, and the sentence why nothing was drawn.
    """
    try:
        chosen = viewer_with("charts", "draws charts")
        path = stem.with_name(stem.name + chosen.viewer.suffixes[0])
        chosen.viewer.chart(chart, path)
    except (PluginError, ResultsError) as error:
        return None, str(error)
    return path, ""


def draw(
    results: Results,
    path: Path,
    chosen: InstalledViewer,
    progress: Callable[[float], None] | None = None,
    *,
    actuators: bool = False,
) -> None:
    """Draw a run into a file, whose folder is made if it is not there.

    Args:
        results: of the run. path: of the file. chosen: viewer.
        progress: is handed the share that is done, by viewers with the ability `progress`.
        actuators: whether cables and chambers are shown, in bodies that are drawn as lines.
    Raises:
        ResultsError: there is nothing to draw, or the file cannot be written.
    """
    replay = with_actuators(results.replay(), results) if actuators else results.replay()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with named_errors():
            if progress is not None and "progress" in chosen.spec.provides:
                chosen.viewer.render(replay, path, progress)
            else:
                chosen.viewer.render(replay, path)
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {error.strerror or error}") from error
