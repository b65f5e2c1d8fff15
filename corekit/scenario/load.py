"""Scenario files read and checked: all mistakes at once, nothing executed, nothing heavy imported."""

from __future__ import annotations

import contextlib
import copy
import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs

from corekit.distributions import entry_points, import_path
from corekit.errors import ConfigError, Mistake
from corekit.files import read_regular
from corekit.hooks.installed import installed_hooks
from corekit.registry.first_party import is_ours
from corekit.registry.resolve import call_target
from corekit.registry.spec import SCENARIOS
from corekit.roles.code import code_allowed
from corekit.scenario.checks import mistakes_between
from corekit.scenario.dump import plain, resolved_document
from corekit.scenario.error_text import Described, shown
from corekit.scenario.overrides import apply_overrides
from corekit.scenario.provenance import name_origins
from corekit.scenario.scenario import Scenario
from corekit.scenario.structure import structure
from corekit.scenario.templates import TEMPLATES, include_files, write_out
from corekit.simulation.arguments import PATH, TABLE, TEXTS, TRUTH, Kind, check_arguments, or_none

__all__ = [
    "find_shipped",
    "from_document",
    "load",
    "loads",
    "shipped_scenarios",
    "syntax_mistake",
    "unreadable",
]


_DOCUMENT: Kind = "the text of a scenario file", lambda value: isinstance(value, str)


def load(path: str | Path, overrides: Iterable[str] = (), *, allow_code: bool = False) -> Scenario:
    """Load the scenario in a TOML file; relative file paths in it are relative to the file.

    Args:
        path: of the file, or the name of a shipped scenario: `cusp/inclined-box`.
        overrides: `contact.solver.use=qp`, one or several; see `corekit.scenario.overrides`.
        allow_code: whether Python functions that it names, `module:function`, may be imported when it is composed.
    Raises:
        ConfigError: every mistake in it at once, or why it cannot be read.
    """
    check_arguments("corekit.load", path=(path, PATH))
    path = Path(path)
    try:
        file = path if path.exists() else find_shipped(path.as_posix()) or path
        text = read_regular(file).decode("utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ConfigError([unreadable(path, error, "scenario file")], "scenario file") from error
    return _from_text(text, overrides, str(file), file.resolve(), allow_code=allow_code)


def loads(text: str, overrides: Iterable[str] = (), *, allow_code: bool = False) -> Scenario:
    """Load the scenario in a TOML text; see `load`."""
    return _from_text(text, overrides, "scenario", None, allow_code=allow_code)


def from_document(
    document: Mapping[str, Any],
    overrides: Iterable[str] = (),
    source: Path | None = None,
    *,
    allow_code: bool = False,
) -> Scenario:
    """Make the scenario of a table, as a TOML file would hold it; see `load`.

    Args:
        document: left as it is; tuples, numpy arrays and paths may stand for lists and texts.
        overrides, allow_code: as for `load`.
        source: the file it was read from.
    """
    called = "scenario" if source is None else str(source)
    return _from_table(document, overrides, called, source, allow_code=allow_code)


def with_values(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """Return a scenario with other values of some entries.

    Args:
        values: path → value, for example `{"bodies.arm.options.stiffness": 200.0}`; paths as in overrides, but none of
            a template, which is written out by now.
    """
    import tomli_w

    mistakes: list[Mistake] = []
    check_arguments("the parameters", values=(values, TABLE))
    table = {path: plain(value, path, mistakes) for path, value in values.items()}
    mistakes += [
        Mistake(
            path, value, "must name the entry of each copy: a loaded scenario has its templates written out"
        )
        for path, value in table.items()
        if path.lstrip().startswith(f"{TEMPLATES}.")
    ]
    if mistakes:
        raise ConfigError(mistakes, f"scenario {scenario.name!r}")
    texts = [
        f"{path}={tomli_w.dumps({'value': value}).partition('=')[2].strip()}" for path, value in table.items()
    ]
    changed = from_document(
        resolved_document(scenario), texts, scenario.source, allow_code=scenario.allow_code
    )
    return attrs.evolve(changed, added=scenario.added, dropped=(*scenario.dropped, *changed.dropped))


def _from_text(
    text: str, overrides: Iterable[str], called: str, source: Path | None, *, allow_code: bool
) -> Scenario:
    check_arguments("scenario", text=(text, _DOCUMENT))
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError([syntax_mistake(text, error)], called) from error
    return _from_table(document, overrides, called, source, allow_code=allow_code, text=text)


def _from_table(
    given: object,
    overrides: Iterable[str],
    called: str,
    source: Path | None,
    *,
    allow_code: bool,
    text: str = "",
) -> Scenario:
    check_arguments(
        called, overrides=(overrides, TEXTS), source=(source, or_none(PATH)), allow_code=(allow_code, TRUTH)
    )
    source = None if source is None else Path(source)
    mistakes: list[Mistake] = []
    try:
        with code_allowed(allow_code):
            texts = (overrides,) if isinstance(overrides, str) else tuple(overrides)
            scenario = _structured(given, texts, source, mistakes)
    except RecursionError as error:
        raise ConfigError(
            [Mistake("scenario", Described("tables"), "are nested too deeply")], called
        ) from error
    if scenario is None or mistakes:
        raise ConfigError(mistakes, called)
    return attrs.evolve(scenario, allow_code=allow_code, text="" if texts else text)


def _structured(
    given: object, overrides: tuple[str, ...], source: Path | None, mistakes: list[Mistake]
) -> Scenario | None:
    if not isinstance(given, Mapping):
        mistakes.append(Mistake("scenario", shown(given), "must be a table"))
        return None
    directory = None if source is None else source.parent
    document, dropped = _written_out(plain(given, "", mistakes), overrides, directory, mistakes)
    if document is None:
        return None
    found: list[Mistake] = []
    whole = _with_imports(document, directory, found)
    found += mistakes_between(whole)
    own: list[Mistake] = []
    scenario = structure(Scenario, whole, "", own, directory=directory, components=True)
    # the scenario, if all else is right, finds again what contradicts between its parts
    known = {str(each) for each in found}
    found += [each for each in own if str(each) not in known]
    mistakes += name_origins(whole, found)
    if scenario is None:
        return None
    return attrs.evolve(scenario, source=source, document=document, dropped=dropped)


def _written_out(
    given: dict[str, Any], overrides: tuple[str, ...], directory: Path | None, mistakes: list[Mistake]
) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """Return a table without includes and templates, with its overrides, and what these dropped.

    Overrides of templates come before their use. The table is None if what it is made of has mistakes: what it lacks
    then would be another one.
    """
    before = len(mistakes)
    of_templates = [text for text in overrides if str(text).lstrip().startswith(f"{TEMPLATES}.")]
    document = include_files(given, directory or Path.cwd(), _included_table, mistakes)
    known = set(document.get(TEMPLATES, ()))
    apply_overrides(document, of_templates, mistakes)
    for name in set(document.get(TEMPLATES, ())) - known:
        said = f"must be one of the file's templates: {', '.join(known) or 'it has none'}"
        mistakes.append(Mistake(f"--set {TEMPLATES}.{name}", name, said))
    whole = write_out(document, mistakes)
    if len(mistakes) > before:
        return None, ()
    return whole, apply_overrides(whole, [text for text in overrides if text not in of_templates], mistakes)


def _included_table(file: Path, mistakes: list[Mistake]) -> Mapping[str, Any] | None:
    try:
        text = read_regular(file).decode("utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        mistakes.append(unreadable(file, error, "scenario file"))
        return None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        found = syntax_mistake(text, error)
        mistakes.append(Mistake(f"{file}, {found.path}", found.found, found.allowed, found.hint))
        return None


def _with_imports(
    document: dict[str, Any], directory: Path | None, mistakes: list[Mistake]
) -> dict[str, Any]:
    """Return a copy in which installed distributions replaced references to files by what these hold."""
    targets = installed_hooks().targets("corekit_scenario_imports")
    if not targets:
        return document
    whole = copy.deepcopy(document)
    for owner, target in targets:
        call_target(target, " ".join(owner), whole, directory, mistakes)
    return whole


def syntax_mistake(text: str, error: Exception) -> Mistake:
    """Return the mistake in the TOML itself, with its line."""
    if isinstance(error, RecursionError):
        return Mistake("the file", Described("tables or lists"), "are nested too deeply")
    said = str(error)
    place = re.search(r"\(at (line (\d+), column \d+)\)", said)
    lines = text.splitlines()
    if place is not None:
        number = int(place[2])
        found = shown(lines[number - 1].strip()) if number <= len(lines) else Described("the end of the file")
        comma = re.search(r"= *[-+]?\d+,\d", lines[number - 1]) if number <= len(lines) else None
        hint = "numbers have a decimal point" if comma else said.removesuffix(f" {place[0]}")
        return Mistake(place[1], found, "is not TOML", hint)
    return Mistake(f"line {len(lines)}", Described("the end of the file"), "is not TOML", said)


def unreadable(path: Path, error: Exception, kind: str) -> Mistake:
    """Return why a file of a kind, `scenario file`, cannot be read."""
    where, allowed = str(path), f"must be a {kind}"
    if isinstance(error, UnicodeDecodeError):
        return Mistake(where, Described("other bytes"), "must be a text file in UTF-8")
    if isinstance(error, FileNotFoundError):
        return Mistake(where, Described("no such file"), allowed, _near_files(path))
    if isinstance(error, IsADirectoryError):
        inside = sorted(each.name for each in path.glob("*.toml"))[:6]
        hint = f"it holds {', '.join(inside)}" if inside else ""
        return Mistake(where, Described("a folder"), allowed, hint)
    reason = getattr(error, "strerror", None) or str(error)
    return Mistake(where, Described(f"a file that cannot be read ({reason})"), allowed)


def _near_files(path: Path) -> str:
    """Name scenario files in the folder of the missing one, or shipped ones with a similar name."""
    if path.is_symlink():
        return f"it is a link to {path.readlink()}, which is not there"
    named = difflib.get_close_matches(path.as_posix(), list(shipped_scenarios()), n=1, cutoff=0.5)
    if named:
        return f"did you mean {named[0]!r}, which is shipped?"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    names = sorted(each.name for each in path.parent.glob("*.toml"))
    close = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(repr(str(path.with_name(name))) for name in close)}?"
    return f"{path.parent} holds {', '.join(names[:6])}" if names else f"{path.parent} holds no .toml file"


def shipped_scenarios() -> dict[str, Path]:
    """Return name → file of every shipped scenario, without those of a distribution whose folder fails to load."""
    found: dict[str, Path] = {}
    for folder in _scenario_folders(import_path()):
        for file in sorted(folder.glob("*/*.toml")):
            found.setdefault(_normalise_name(f"{file.parent.name}/{file.stem}"), file)
    return found


@lru_cache(maxsize=1)
def _scenario_folders(_import_path: tuple[tuple[str, int], ...]) -> tuple[Path, ...]:
    """Return the folders that an import path brings, as it is now, those of this project first."""
    folders: list[Path] = []
    for entry in sorted(entry_points(SCENARIOS), key=lambda each: not is_ours(each.distribution)):
        with contextlib.suppress(Exception):  # `corekit doctor` says what is wrong with it
            folders.append(Path(entry.load()()))
    return tuple(folders)


def find_shipped(name: str) -> Path | None:
    """Find the shipped file of a name, with or without `.toml`; `-` and `_` are the same."""
    return shipped_scenarios().get(_normalise_name(name.removesuffix(".toml")))


def _normalise_name(name: str) -> str:
    return name.replace("_", "-").replace("\\", "/")
