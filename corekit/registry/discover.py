"""Depth 1 of the registry: what is installed, from entry-point metadata alone.

No plugin is imported and neither is numpy; a broken plugin becomes a row with a reason. The rows are cached
until a folder of the import path changes: composing a scenario needs them a dozen times. What is read of a file is
kept until the file changes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec

from attrs import evolve, frozen
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from corekit.distributions import (
    GROUP_PREFIX,
    KERNEL,
    Distribution,
    EntryPoint,
    changed,
    distributions,
    import_path,
    version_of,
)
from corekit.registry.first_party import owner_of
from corekit.registry.spec import ROLES, api_problem
from corekit.version import __version__

__all__ = ["Installed", "discover", "extra_with", "module_is_missing"]

_TESTING = "corekit-testing"
_VersionOf = Callable[[str], str | None]
_Find = Callable[[str], ModuleSpec | None]
_PATHS = 8
"""Import paths whose rows are kept: programs that extend theirs for a moment come back to the one before."""
_OTHER_GROUPS = frozenset(
    f"{GROUP_PREFIX}{each}"
    for each in ("cases", "engines", "friction_laws", "hooks", "scenarios", "section_solvers", "shapes")
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
        shared_by: all distributions that offer this role and name, if more than one does; of a name of this project
            the one whose it is, and this one.
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
            project = owner_of(self.role, self.name)
            taken = f"the name is {project}'s" if project else f"name taken by {' and '.join(self.shared_by)}"
            sentences.append(f"{taken}: select this one as `{self.distribution}:{self.name}`")
        return "; ".join(sentences)


def discover() -> tuple[Installed, ...]:
    """List every declared component, sorted by role, name and distribution; a broken plugin never raises.

    A row is unusable when its role is unknown, its module cannot be found, its distribution or its spec was made
    for another kernel, or one of the distribution's requirements is not installed.
    """
    return _discovered(import_path())


@lru_cache(maxsize=_PATHS)
def _discovered(_path: tuple[tuple[str, int], ...]) -> tuple[Installed, ...]:
    """List the rows of an import path as it is now."""
    version, find = cache(version_of), cache(_find_module)
    rows: list[Installed] = []
    for distribution in distributions():
        problem = _problem(distribution, version)
        rows.extend(
            _row(entry, problem, find) for entry in distribution.entries if entry.group not in _OTHER_GROUPS
        )
    order = {role: position for position, role in enumerate(ROLES)}
    rows.sort(key=lambda row: (order.get(row.role, len(order)), row.role, row.name, row.distribution))
    return _mark_shared_names(rows)


def module_is_missing(module: str) -> bool:
    """Whether the top-level package of a module cannot be found; imports nothing."""
    return _find_module(module.partition(".")[0]) is None


def _problem(distribution: Distribution, version: _VersionOf) -> str:
    """Return why nothing of a distribution can be used, as far as its metadata show, or nothing."""
    if not distribution.about["Name"]:
        return distribution.damage
    return _requirement_problem(distribution.about.get_all("Requires-Dist") or (), version)


def _row(entry: EntryPoint, problem: str, find: _Find) -> Installed:
    role = entry.group.removeprefix(GROUP_PREFIX)
    module = entry.value.partition(":")[0].strip()
    package = module.partition(".")[0]
    if role not in ROLES:
        reason = f"this kernel has no role {role!r}; roles are {', '.join(ROLES)}"
    elif problem:
        reason = problem
    elif (lost := package if find(package) is None else _lost_module(module, find)) != "":
        again = f"pip install --force-reinstall {entry.distribution}"
        reason = f"its module {lost} cannot be found; reinstall it: {again}"
    else:
        api = _declared_api(find(module))
        reason = "" if api is None else api_problem(api, entry.distribution)
    return Installed(
        role=role,
        name=entry.name,
        distribution=entry.distribution,
        version=entry.version,
        entry=entry.value,
        reason=reason,
    )


def _lost_module(module: str, find: _Find) -> str:
    """Return a module that an ordinary package should hold and does not; empty if it does, or who knows."""
    package = find(module.partition(".")[0])
    is_ordinary = (
        package is not None and package.origin is not None and bool(package.submodule_search_locations)
    )
    return module if is_ordinary and find(module) is None else ""


def _declared_api(found: ModuleSpec | None) -> str | None:
    """Return the kernel API that the specs of a module declare, read from its text, so that no plugin is imported.

    It is the one text that calls at the top of the module give as `api=`; None if there is none, or more than one. The
    check after the import decides.
    """
    if found is None or found.origin is None or not found.origin.endswith(".py"):
        return None
    return _api_in(found.origin, changed(found.origin))


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


def _mark_shared_names(rows: Sequence[Installed]) -> tuple[Installed, ...]:
    """Mark those that their name alone does not select: see `resolve.find`."""
    owners: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        owners.setdefault((row.role, row.name), []).append(row.distribution)
    return tuple(evolve(row, shared_by=_sharing(row, owners[row.role, row.name])) for row in rows)


def _sharing(row: Installed, owners: Sequence[str]) -> tuple[str, ...]:
    project = owner_of(row.role, row.name)
    if project == canonicalize_name(row.distribution):
        return ()
    return (project, row.distribution) if project else tuple(owners) if len(owners) > 1 else ()
