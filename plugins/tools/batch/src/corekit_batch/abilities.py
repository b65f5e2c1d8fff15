"""What installed components promise, by their registered names."""

from __future__ import annotations

from corekit.errors import CorekitError
from corekit.registry.discover import discover
from corekit.registry.resolve import resolve

__all__ = ["abilities_of"]


def abilities_of(role: str, name: str) -> frozenset[str]:
    """Return the words that the spec of a component provides; none of one that no distribution registers."""
    try:
        return resolve(role, name, discover()).provides
    except CorekitError:
        return frozenset()
