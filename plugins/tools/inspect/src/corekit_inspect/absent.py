"""The components of this project that could be installed."""

from __future__ import annotations

from collections.abc import Iterable

from corekit.registry.discover import Installed
from corekit.registry.first_party import FIRST_PARTY, FirstParty

__all__ = ["not_installed"]


def not_installed(installed: Iterable[Installed]) -> tuple[FirstParty, ...]:
    """List the components of `FIRST_PARTY` that no installed distribution offers."""
    present = {(component.role, component.name) for component in installed}
    return tuple(known for known in FIRST_PARTY if (known.role, known.name) not in present)
