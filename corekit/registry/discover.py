"""Depth 1 of the registry: what is installed, from entry-point metadata alone.

No plugin is imported and neither is numpy; a broken plugin becomes a row with a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec

from attrs import evolve, frozen
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from corekit import __version__
from corekit.registry.spec import ROLES

__all__ = ["Installed", "discover", "module_is_missing"]

KERNEL = "corekit-kernel"
_GROUP_PREFIX = "corekit."
_OTHER_GROUPS = frozenset({"corekit.cases", "corekit.hooks"})


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
        """Whether it is one of the kernel's own reference plugins, which serve tests and are listed apart."""
        return self.distribution == KERNEL

    @property
    def usable(self) -> bool:
        """Whether nothing stands in the way of importing it."""
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
    """Every declared component, sorted by role, name and distribution; never raises over a broken plugin.

    A row is unusable when its role is unknown, its module cannot be found, its distribution was made for
    another kernel, or one of the distribution's requirements is not installed.
    """
    rows: list[Installed] = []
    for distribution in _distributions_with_components():
        problem = _requirement_problem(distribution)
        rows.extend(
            _row(entry, distribution, problem)
            for entry in distribution.entry_points
            if entry.group.startswith(_GROUP_PREFIX) and entry.group not in _OTHER_GROUPS
        )
    order = {role: position for position, role in enumerate(ROLES)}
    rows.sort(key=lambda row: (order.get(row.role, len(order)), row.role, row.name, row.distribution))
    return _mark_shared_names(rows)


def module_is_missing(module: str) -> bool:
    """Whether the top-level package of a module cannot be found; imports nothing."""
    try:
        return find_spec(module.partition(".")[0]) is None
    except (ImportError, ValueError):
        return True


def _distributions_with_components() -> list[metadata.Distribution]:
    """Installed distributions with an entry point of ours; the first of a name on the path wins."""
    found: dict[str, metadata.Distribution] = {}
    shadowed: set[str] = set()
    for distribution in metadata.distributions():
        if f"[{_GROUP_PREFIX}" not in (distribution.read_text("entry_points.txt") or ""):
            continue
        name = distribution.metadata["Name"] or ""
        key = canonicalize_name(name)
        if key and key not in shadowed:
            shadowed.add(key)
            found[key] = distribution
    return list(found.values())


def _row(entry: metadata.EntryPoint, distribution: metadata.Distribution, problem: str) -> Installed:
    name, version = distribution.metadata["Name"], distribution.metadata["Version"] or "unknown"
    role = entry.group.removeprefix(_GROUP_PREFIX)
    module = entry.value.partition(":")[0].strip()
    if role not in ROLES:
        reason = f"this kernel has no role {role!r}; roles are {', '.join(ROLES)}"
    elif problem:
        reason = problem
    elif module_is_missing(module):
        package = module.partition(".")[0]
        reason = f"its module {package} cannot be found; reinstall it: pip install --force-reinstall {name}"
    else:
        reason = ""
    return Installed(
        role=role, name=entry.name, distribution=name, version=version, entry=entry.value, reason=reason
    )


def _requirement_problem(distribution: metadata.Distribution) -> str:
    """The first unmet requirement of a distribution as a sentence, or nothing."""
    for line in distribution.requires or ():
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            return f"its requirement {line!r} cannot be read"
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        sentence = _kernel_problem(requirement) if _is_kernel(requirement) else _install_problem(requirement)
        if sentence:
            return sentence
    return ""


def _is_kernel(requirement: Requirement) -> bool:
    return canonicalize_name(requirement.name) == KERNEL


def _kernel_problem(requirement: Requirement) -> str:
    if requirement.specifier.contains(__version__, prereleases=True):
        return ""
    lower_bounds = [bound for bound in requirement.specifier if bound.operator in {">=", ">", "~=", "=="}]
    newer = any(Version(bound.version.removesuffix(".*")) > Version(__version__) for bound in lower_bounds)
    age = "a newer" if newer else "an older"
    return f"made for {age} kernel: needs {KERNEL}{requirement.specifier}, this is {__version__}"


def _install_problem(requirement: Requirement) -> str:
    wanted = f"{requirement.name}{requirement.specifier}"
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return f'needs {wanted}, which is not installed: pip install "{wanted}"'
    if requirement.specifier.contains(version, prereleases=True):
        return ""
    return f'needs {wanted}, but {version} is installed: pip install "{wanted}"'


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
