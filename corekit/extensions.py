"""Lists of the kernel to which installed distributions add by entry points, one object for each name.

Components have the registry. This is for what their specs are stated with: shapes and friction laws. Two distributions
that bring one name are refused, since the order of folders would say which of them counts.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar

from attrs import frozen

from corekit.distributions import entry_points
from corekit.errors import PluginError

__all__ = ["Extensions"]

Kind = TypeVar("Kind")


@frozen(eq=False)
class Extensions(Generic[Kind]):
    """The kernel's objects of one kind, and those of a group of entry points, each with the name of its entry point.

    Args:
        group: of the entry points.
        kind: class of the objects.
        what: in words, as “shape”.
        naming: attribute of an object that has its name.
        own: name → object of the kernel; no distribution can bring another one.
    """

    group: str
    kind: type[Kind]
    what: str
    naming: str
    own: Mapping[str, Kind]

    def names(self) -> tuple[str, ...]:
        """Every name, the kernel's first; imports nothing."""
        return (*self.own, *sorted({entry.name for entry in entry_points(self.group)} - set(self.own)))

    def find(self, name: str) -> Kind:
        """The object of a name.

        Raises:
            ValueError: there is no such name.
            PluginError: it cannot be loaded, is something else or has another name, or two distributions bring it.
        """
        known = self.own.get(name)  # another import path makes what was found elsewhere stale
        return known if known is not None else _load(self, name, tuple(sys.path))


@lru_cache(maxsize=64)
def _load(extensions: Extensions[Any], name: str, _import_path: tuple[str, ...]) -> Any:
    entries = [entry for entry in entry_points(extensions.group) if entry.name == name]
    if not entries:
        raise ValueError(
            f"unknown {extensions.what} {name!r}; {extensions.what}s are {', '.join(extensions.names())}"
        )
    owners = " and ".join(f"{entry.distribution} {entry.version}" for entry in entries)
    subject = f"the {extensions.what} {name!r}"
    if len(entries) > 1:
        raise PluginError(f"{subject} is brought by {owners}: uninstall all but one")
    (entry,) = entries
    try:
        found = entry.load()
    except (Exception, SystemExit) as error:  # a stranger's module may raise anything
        said = f"loading {entry.value} failed with {type(error).__name__}: {error}"
        raise PluginError(f"{subject} of {owners}: {said}") from error
    kind = extensions.kind.__name__
    if not isinstance(found, extensions.kind):
        said = f"its entry point {entry.value} is a {type(found).__name__}, not a {kind}"
        raise PluginError(f"{subject} of {owners}: {said}")
    if (its_own := getattr(found, extensions.naming)) != name:
        raise PluginError(f"{subject} of {owners}: its {kind} says {its_own!r}; the names must agree")
    return found
