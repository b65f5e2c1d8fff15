"""Depth 1 of the registry: what is installed, from entry-point metadata alone.

No plugin is imported and neither is numpy; a broken plugin becomes a row with a reason. The rows are cached
until a folder of the import path changes: composing a scenario needs them a dozen times. What is read of a file is
kept until the file changes.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from email.message import Message
from email.parser import HeaderParser
from functools import cache, lru_cache
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec

from attrs import evolve, frozen
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from corekit.registry.spec import ROLES, api_problem
from corekit.version import __version__

__all__ = ["Installed", "discover", "extra_with", "import_path", "module_is_missing"]

KERNEL = "corekit-kernel"
_TESTING = "corekit-testing"
_GROUP_PREFIX = "corekit."
_VersionOf = Callable[[str], str | None]
_Find = Callable[[str], ModuleSpec | None]
_PATHS = 8
"""Import paths whose rows are kept: programs that extend theirs for a moment come back to the one before."""
_OTHER_GROUPS = frozenset(
    f"{_GROUP_PREFIX}{each}"
    for each in ("cases", "friction_laws", "hooks", "scenarios", "section_solvers", "shapes")
)


@frozen(kw_only=True)
class Installed:
    """One component that an installed distribution declares.

    Args:
        role: role id, a key of `ROLES`, or what the entry point's group says instead.
        name: the word a scenario file uses.
        distribution: name of the distribution that brings it.
        version: of that distribution.
        entry: `package.module:object` of its `ComponentSpec`.
        reason: why it cannot be used, in one sentence; empty if it can.
        shared_by: all distributions that offer this role and name, if more than one does.
    """

    role: str
    name: str
    distribution: str
    version: str
    entry: str
    reason: str = ""
    shared_by: tuple[str, ...] = ()

    @property
    def reference(self) -> bool:
        """Whether it is a reference component, which serves tests and is listed apart."""
        return self.distribution == _TESTING

    @property
    def usable(self) -> bool:
        """Whether it can be imported, as far as the metadata show."""
        return not self.reason

    @property
    def status(self) -> str:
        """`ok`, `ambiguous` (select it as `dist:name`) or `unusable`."""
        if self.reason:
            return "unusable"
        return "ambiguous" if self.shared_by else "ok"

    @property
    def remark(self) -> str:
        """What a reader of the listing should know: the reason, the clash and how to select, or nothing."""
        sentences = [self.reason] if self.reason else []
        if self.shared_by:
            sentences.append(
                f"name taken by {' and '.join(self.shared_by)}: select this one as "
                f"`{self.distribution}:{self.name}`"
            )
        return "; ".join(sentences)


def discover() -> tuple[Installed, ...]:
    """List every declared component, sorted by role, name and distribution; a broken plugin never raises.

    A row is unusable when its role is unknown, its module cannot be found, its distribution or its spec was made
    for another kernel, or one of the distribution's requirements is not installed.
    """
    return _discovered(import_path())


def import_path() -> tuple[tuple[str, int], ...]:
    """Return the folders of the import path and when each last changed: what is found there is the same till then."""
    folders = [folder or os.getcwd() for folder in sys.path]
    return tuple((folder, _changed(folder)) for folder in folders)


def _changed(folder: str) -> int:
    """Return when the entries of a folder of the import path last changed [ns]."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return -1


@lru_cache(maxsize=_PATHS)
def _discovered(_path: tuple[tuple[str, int], ...]) -> tuple[Installed, ...]:
    """List the rows of an import path as it is now."""
    installed_version, find = cache(_installed_version), cache(_find_module)
    rows: list[Installed] = []
    for distribution, about in _distributions_with_components():
        problem = _requirement_problem(about.get_all("Requires-Dist") or (), installed_version)
        rows.extend(
            _row(entry, about, problem, find)
            for entry in distribution.entry_points
            if entry.group.startswith(_GROUP_PREFIX) and entry.group not in _OTHER_GROUPS
        )
    order = {role: position for position, role in enumerate(ROLES)}
    rows.sort(key=lambda row: (order.get(row.role, len(order)), row.role, row.name, row.distribution))
    return _mark_shared_names(rows)


def module_is_missing(module: str) -> bool:
    """Whether the top-level package of a module cannot be found; imports nothing."""
    return _find_module(module.partition(".")[0]) is None


def _distributions_with_components() -> list[tuple[metadata.Distribution, Message]]:
    """Find the installed distributions with an entry point of ours, and their metadata, which is slow to parse.

    The first of a name on the path wins.
    """
    found: dict[str, tuple[metadata.Distribution, Message]] = {}
    for distribution in metadata.distributions():
        if f"[{_GROUP_PREFIX}" in (distribution.read_text("entry_points.txt") or ""):
            about = _headers(distribution)
            name = canonicalize_name(about["Name"] or "")
            if name:
                found.setdefault(name, (distribution, about))
    return list(found.values())


def _headers(distribution: metadata.Distribution) -> Message:
    """Parse the metadata without the description below them, which is most of the text."""
    text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    return HeaderParser().parsestr(text.partition("\n\n")[0])


def _row(entry: metadata.EntryPoint, about: Message, problem: str, find: _Find) -> Installed:
    name, version = about["Name"], about["Version"] or "unknown"
    role = entry.group.removeprefix(_GROUP_PREFIX)
    module = entry.value.partition(":")[0].strip()
    if role not in ROLES:
        reason = f"this kernel has no role {role!r}; roles are {', '.join(ROLES)}"
    elif problem:
        reason = problem
    elif find(module.partition(".")[0]) is None:
        package = module.partition(".")[0]
        reason = f"its module {package} cannot be found; reinstall it: pip install --force-reinstall {name}"
    else:
        api = _declared_api(find(module))
        reason = "" if api is None else api_problem(api, name)
    return Installed(
        role=role, name=entry.name, distribution=name, version=version, entry=entry.value, reason=reason
    )


def _declared_api(found: ModuleSpec | None) -> str | None:
    """Return the kernel API that the specs of a module declare, read from its text, so that no plugin is imported.

    It is the one text that calls at the top of the module give as `api=`; None if there is none, or more than one. The
    check after the import decides.
    """
    if found is None or found.origin is None or not found.origin.endswith(".py"):
        return None
    return _api_in(found.origin, _changed(found.origin))


@lru_cache(maxsize=1024)
def _api_in(file: str, _changed: int) -> str | None:
    try:
        with open(file, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return None
    found = {
        keyword.value.value
        for statement in tree.body
        if isinstance(call := getattr(statement, "value", None), ast.Call)
        for keyword in call.keywords
        if keyword.arg == "api" and isinstance(keyword.value, ast.Constant)
    }
    only = found.pop() if len(found) == 1 else None
    return only if isinstance(only, str) else None


def _find_module(module: str) -> ModuleSpec | None:
    """Find a module without running the packages above it."""
    try:
        top, *inner = module.split(".")
        found, name = find_spec(top), top
        for part in inner:
            if found is None:
                return None
            name = f"{name}.{part}"
            found = PathFinder.find_spec(name, found.submodule_search_locations)
    except (ImportError, ValueError):
        return None
    return found


def _requirement_problem(lines: Iterable[str], installed_version: _VersionOf) -> str:
    """Return the first unmet requirement of a distribution as a sentence, or nothing."""
    for line in lines:
        try:
            requirement = _requirement(line)
        except InvalidRequirement:
            return f"its requirement {line!r} cannot be read"
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        if canonicalize_name(requirement.name) == KERNEL:
            sentence = _kernel_problem(requirement)
        else:
            sentence = _install_problem(requirement, installed_version(requirement.name))
        if sentence:
            return sentence
    return ""


def extra_with(distribution: str, modules: Sequence[str]) -> str:
    """Return the first extra of a distribution that brings one of some modules, by their names; empty if none does.

    Its extra for tests comes last.
    """
    about = metadata.metadata(distribution)
    for extra in sorted(about.get_all("Provides-Extra") or (), key=lambda extra: extra == "test"):
        for requirement in map(_requirement, about.get_all("Requires-Dist") or ()):
            marker = requirement.marker
            if marker is None or marker.evaluate({"extra": ""}) or not marker.evaluate({"extra": extra}):
                continue
            if canonicalize_name(requirement.name) in map(canonicalize_name, modules):
                return extra
    return ""


@lru_cache(maxsize=1024)
def _requirement(line: str) -> Requirement:
    return Requirement(line)


def _kernel_problem(requirement: Requirement) -> str:
    if requirement.specifier.contains(__version__, prereleases=True):
        return ""
    lower_bounds = [bound for bound in requirement.specifier if bound.operator in {">=", ">", "~=", "=="}]
    newer = any(Version(bound.version.removesuffix(".*")) > Version(__version__) for bound in lower_bounds)
    age = "a newer" if newer else "an older"
    return f"made for {age} kernel: needs {KERNEL}{requirement.specifier}, this is {__version__}"


def _install_problem(requirement: Requirement, version: str | None) -> str:
    wanted = f"{requirement.name}{requirement.specifier}"
    if version is None:
        return f'needs {wanted}, which is not installed: pip install "{wanted}"'
    try:
        satisfied = requirement.specifier.contains(version, prereleases=True)
    except InvalidVersion:
        satisfied = False
    return "" if satisfied else f'needs {wanted}, but {version} is installed: pip install "{wanted}"'


def _installed_version(distribution: str) -> str | None:
    try:
        return _headers(metadata.distribution(distribution))["Version"] or "unknown"
    except metadata.PackageNotFoundError:
        return None


def _mark_shared_names(rows: Sequence[Installed]) -> tuple[Installed, ...]:
    owners: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        owners.setdefault((row.role, row.name), []).append(row.distribution)
    return tuple(
        evolve(row, shared_by=tuple(owners[row.role, row.name]))
        if len(owners[row.role, row.name]) > 1
        else row
        for row in rows
    )
