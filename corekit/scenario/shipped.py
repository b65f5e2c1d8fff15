"""Scenario files that installed distributions bring, found by name: `cusp/inclined-box`."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from corekit.registry.case import SCENARIOS

__all__ = ["find_shipped", "shipped"]


def shipped() -> dict[str, Path]:
    """Name → file of every scenario that is shipped; a distribution whose folder cannot be told is passed over."""
    found: dict[str, Path] = {}
    for entry in sorted(metadata.entry_points(group=SCENARIOS), key=lambda each: each.name):
        try:
            folder = Path(entry.load()())
        except Exception:  # noqa: BLE001, S112 - `corekit doctor` says what is wrong with it
            continue
        for file in sorted(folder.glob("*/*.toml")):
            found.setdefault(_spelled(f"{file.parent.name}/{file.stem}"), file)
    return found


def find_shipped(name: str) -> Path | None:
    """The shipped file of this name, with or without `.toml`; `-` and `_` are the same."""
    return shipped().get(_spelled(name.removesuffix(".toml")))


def _spelled(name: str) -> str:
    return name.replace("_", "-").replace("\\", "/")
