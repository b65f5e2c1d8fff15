"""A fit file (TOML) read and checked: all mistakes at once, those of its scenario among them.

format = "corekit-fit/1"
name = "swinging-robot"
scenario = "oscillation.toml"        # beside this file, or the name of a shipped one
set = ["time.step=0.01"]             # as `--set` of `corekit run`
body = "robot"                       # which of its bodies was observed; may be left out if there is one
use = "ipopt-fit"                    # the estimator; its options: `corekit info ipopt-fit`
[options]
...
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from attrs import field, frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.code import code_allowed
from corekit.roles.options import option
from corekit.scenario.dump import plain
from corekit.scenario.error_text import Described, shown
from corekit.scenario.scenario import Scenario
from corekit.scenario.schema import run_name_problem
from corekit.scenario.structure import structure
from corekit.simulation.arguments import PATH, TRUTH, check_arguments
from corekit_study.toml_file import named_scenario, toml_table

__all__ = ["FORMAT", "FitFile", "load_fit"]

FORMAT = "corekit-fit/1"


@frozen(kw_only=True)
class FitFile:
    """Entries of a fit file.

    Args:
        loaded: the scenario it names, loaded.
        given: the text of the file.
    """

    format: str = option(help="version of this format", choices=(FORMAT,))
    name: str = option(help="names the folder of results", check=run_name_problem)
    scenario: str = option(help="file of the scenario, relative to this one, or the name of a shipped one")
    overrides: tuple[str, ...] = field(
        default=(), metadata={"help": "changes to the scenario, as `--set` takes them", "key": "set"}
    )
    body: str = option("", "which body of the scenario was observed; may be left out if there is one")
    use: str = field(metadata={"help": "the estimator", "role": "estimators"})
    options: Mapping[str, Any] = field(factory=dict, metadata={"help": "the estimator's own options"})
    loaded: Scenario | None = field(default=None, eq=False, repr=False, metadata={"hidden": True})
    given: str = field(default="", eq=False, repr=False, metadata={"hidden": True})


def load_fit(path: str | Path, *, allow_code: bool = False) -> FitFile:
    """Load the fit in a TOML file, with its scenario; relative paths in it are relative to the file.

    Args:
        path: of the file.
        allow_code: for the scenario and the estimator's options, as for `corekit.load`.
    Raises:
        ConfigError: every mistake in it and in its scenario at once, or why it cannot be read.
    """
    check_arguments("load_fit", path=(path, PATH), allow_code=(allow_code, TRUTH))
    path = Path(path)
    text, table = toml_table(path, "fit file", FORMAT)
    mistakes: list[Mistake] = []
    document = plain(table, "", mistakes)
    directory = path.resolve().parent
    with code_allowed(allow_code):
        made = structure(FitFile, document, "", mistakes, directory=directory, components=True)
    loaded = named_scenario(document, directory, mistakes, allow_code=allow_code)
    if loaded is not None:
        _check_body(document.get("body", ""), loaded, mistakes)
    if made is None or loaded is None or mistakes:
        raise ConfigError(mistakes, str(path))
    return attrs.evolve(made, body=made.body or loaded.bodies[0].name, loaded=loaded, given=text)


def _check_body(named: object, scenario: Scenario, mistakes: list[Mistake]) -> None:
    names = [body.name for body in scenario.bodies]
    if named in names or (not named and len(names) == 1):
        return
    found = shown(named) if named else Described("nothing")
    mistakes.append(Mistake("body", found, f"must name one of the scenario's bodies: {', '.join(names)}"))
