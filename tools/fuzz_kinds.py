"""Kinds of files that `fuzz_files.py` tries: how a case is made, and what reads it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import tomli_w
from attrs import frozen
from fuzz_mutations import mutate_bytes, mutate_document, mutate_text

from corekit.scenario.load import shipped_scenarios

__all__ = ["KINDS", "Kind"]


@frozen
class Kind:
    """A kind of file.

    Args:
        make: the bytes of a case. read: reads the file as corekit does. suffix: of its name.
    """

    name: str
    suffix: str
    make: Callable[[Random], bytes]
    read: Callable[[Path], object]


_SLOW = {"gvs/cdpr", "teaching/snake"}
"""Scenarios that begin with an equilibrium whose search takes seconds."""


@cache
def _shipped(form: str) -> dict[str, dict[str, Any]]:
    tables = {name: tomllib.loads(file.read_text("utf-8")) for name, file in shipped_scenarios().items()}
    return {
        name: table
        for name, table in tables.items()
        if table["format"].startswith(form) and name not in _SLOW
    }


def _toml(chance: Random, sound: dict[str, dict[str, Any]]) -> bytes:
    """A mutation of one of some tables, of the table or of its text."""
    document = sound[chance.choice(sorted(sound))]
    if chance.random() < 0.85:
        document = mutate_document(chance, document, list(sound.values()))
    text = tomli_w.dumps(document)
    if chance.random() < 0.2:
        text = mutate_text(chance, text)
    data = text.encode()
    return mutate_bytes(chance, data) if chance.random() < 0.05 else data


def _read_scenario(file: Path) -> None:
    from corekit.scenario.load import load

    load(file).compose()


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "scenario", ".toml", lambda chance: _toml(chance, _shipped("corekit-scenario/")), _read_scenario
        ),
    )
}
