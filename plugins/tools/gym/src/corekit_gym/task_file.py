"""A task file (TOML) read and checked: all mistakes at once, those of its scenario among them.

format = "corekit-task/1"
name = "reach"
scenario = "reach_world.toml"        # beside this file, or the name of a shipped one: the world
set = ["time.step=0.002"]            # as `--set` of `corekit run`
frame_skip = 10                      # grid steps for which an action is held
duration = 2.0                       # s
[[targets]]                          # drawn at each reset
[[quantities]]                       # what is observed, rewarded and what ends an episode
[[actions]]                          # what drives which channel
[[rewards]]
[[endings]]
[[draws]]                            # numbers of the scenario drawn at each reset
[[starts]]                           # where bodies begin, drawn at each reset
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import attrs

from corekit.errors import ConfigError, Mistake
from corekit.files import is_there
from corekit.registry.resolve import did_you_mean
from corekit.roles.code import absolute_name, code_allowed
from corekit.scenario.dump import plain
from corekit.scenario.load import load
from corekit.scenario.overrides import apply_overrides
from corekit.scenario.scenario import Scenario
from corekit.scenario.structure import structure
from corekit.simulation.arguments import PATH, TEXTS, TRUTH, check_arguments
from corekit_gym.task import FORMAT, Task
from corekit_study.toml_file import toml_table

__all__ = ["load_task", "shipped_tasks"]

_SHIPPED = Path(__file__).with_name("tasks")


def shipped_tasks() -> dict[str, Path]:
    """Name of every task that this distribution brings, and its file."""
    return {path.stem: path for path in sorted(_SHIPPED.glob("*.toml")) if not path.stem.endswith("_world")}


def load_task(path: str | Path, overrides: Iterable[str] = (), *, allow_code: bool = False) -> Task:
    """Load the task in a TOML file, or of a shipped name, with its scenario.

    Args:
        path: relative paths in the file are relative to it.
        overrides: changes to the task file itself: `duration=4.0`.
        allow_code: for the scenario and for quantities that name functions, as for `corekit.load`.
    Raises:
        ConfigError: every mistake in it and in its scenario at once, or why it cannot be read.
    """
    check_arguments(
        "load_task", path=(path, PATH), overrides=(overrides, TEXTS), allow_code=(allow_code, TRUTH)
    )
    path = Path(path)
    if not is_there(path):
        shipped = shipped_tasks()
        if path.as_posix() not in shipped and path.suffix != ".toml":
            hint = did_you_mean(path.as_posix(), shipped)
            said = f"is no file and no shipped task{hint}; shipped are {', '.join(shipped)}"
            raise ConfigError([Mistake("task", str(path), said)], "task")
        path = shipped.get(path.as_posix(), path)
    text, table = toml_table(path, "task file", FORMAT)
    del text
    mistakes: list[Mistake] = []
    document = plain(table, "", mistakes)
    apply_overrides(document, (overrides,) if isinstance(overrides, str) else overrides, mistakes)
    directory = path.resolve().parent
    made = structure(Task, document, "", mistakes, directory=directory)
    if made is not None and not made.scenario:
        mistakes.append(Mistake("scenario", "", "must name the file of a scenario, or a shipped one"))
    scenario = document.get("scenario")
    loaded = None
    if isinstance(scenario, str) and scenario:
        world = directory / scenario if is_there(directory / scenario) else Path(scenario)
        loaded = _scenario(world, document.get("set", []), mistakes, allow_code=allow_code)
    if made is None or loaded is None or mistakes:
        raise ConfigError(mistakes, str(path))
    quantities = tuple(
        attrs.evolve(each, function=absolute_name(each.function, directory))
        if isinstance(each.function, str) and each.function
        else each
        for each in made.quantities
    )
    return attrs.evolve(made, loaded=loaded, source=path.resolve(), quantities=quantities)


def _scenario(
    world: Path, overrides: object, mistakes: list[Mistake], *, allow_code: bool
) -> Scenario | None:
    """Load the scenario of the task; its mistakes are added, with `scenario:` before their path."""
    try:
        with code_allowed(allow_code):
            changes = [str(each) for each in overrides] if isinstance(overrides, list) else []
            return load(world, changes, allow_code=allow_code)
    except ConfigError as error:
        mistakes.extend(
            Mistake(f"scenario: {each.path}", each.found, each.allowed, each.hint) for each in error.mistakes
        )
    return None
