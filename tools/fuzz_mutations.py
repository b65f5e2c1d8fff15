"""Small changes of sound files: of a table, of a text, of bytes."""

from __future__ import annotations

import copy
import datetime as dt
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

__all__ = ["mutate_bytes", "mutate_document", "mutate_text"]

_NUMBERS = (
    0, 1, -1, 2, 3, 7, 10**6, 10**9, 2**31, 2**63 - 1, -(2**63), 10**30, 0.0, -0.0, 1e-308, 5e-324, 1e-20, 1e-9, 1e9,
    1e20, 1e308, -1e308, float("inf"), float("-inf"), float("nan"),
)  # fmt: skip
_TEXTS = (
    "", " ", "a" * 300, "a" * 5000, "../../etc", "/dev/null", "\x00", "\u202e", "é", "1e-3", "true", "os:system",
    "pcc", "gvs", "der", "vine", "rigid", "lcp", "qp", "imc", "cone", "sdf", "mpr", "lemke", "pgs", "sphere", "box",
    "half-space", "capsule", "ramp", "csv", "table", "implicit-euler", "newmark", "rk23", "equilibrium", "initial",
)  # fmt: skip


def mutate_document(
    chance: Random, document: dict[str, Any], others: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """A copy of a table with one to four changes; `others` lend parts of theirs."""
    changed = copy.deepcopy(document)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        _change(chance, changed, others)
    return changed


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every entry of a table and of what it holds, as container and key."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        here = waiting.pop()
        keys = list(here) if isinstance(here, dict) else range(len(here))
        for key in keys:
            found.append((here, key))
            if isinstance(here[key], (dict, list)):
                waiting.append(here[key])
    return found


def _change(chance: Random, document: dict[str, Any], others: Sequence[dict[str, Any]]) -> None:
    places = _places(document)
    if not places:
        document["name"] = _leaf(chance)
        return
    holder, key = chance.choice(places)
    value, kind = holder[key], chance.random()
    if kind < 0.3 and isinstance(value, (int, float)) and not isinstance(value, bool):
        holder[key] = _number_near(chance, value)
    elif kind < 0.5:
        holder[key] = _leaf(chance)
    elif kind < 0.62:
        del holder[key]
    elif kind < 0.72:
        lent, lent_key = chance.choice(_places(chance.choice(others)))
        holder[key] = copy.deepcopy(lent[lent_key])
    elif kind < 0.8:
        other, other_key = chance.choice(places)
        holder[key] = copy.deepcopy(other[other_key])
    elif kind < 0.86 and isinstance(holder, dict):
        lent, lent_key = chance.choice(_places(chance.choice(others)))
        holder[lent_key if isinstance(lent_key, str) else "extra"] = copy.deepcopy(lent[lent_key])
    elif kind < 0.92 and isinstance(holder, dict):
        holder[_garbled(chance, str(key))] = holder.pop(key)
    elif isinstance(value, list):
        _stretch(chance, value)
    elif isinstance(value, str):
        holder[key] = _garbled(chance, value)
    else:
        holder[key] = [value] if chance.random() < 0.5 else {"value": value}


def _leaf(chance: Random) -> Any:
    kind = chance.random()
    if kind < 0.4:
        return chance.choice(_NUMBERS)
    if kind < 0.7:
        return chance.choice(_TEXTS)
    others: tuple[Callable[[], Any], ...] = (
        lambda: True, lambda: False, list, dict, lambda: [[]], lambda: [1.0] * chance.randrange(40),
        lambda: dt.date(2000, 1, 1), lambda: dt.time(1, 2), lambda: {"kind": "ramp"}, lambda: {"use": "pcc"},
        lambda: _nested(chance.randrange(60)), lambda: chance.uniform(-10.0, 10.0), lambda: chance.randrange(-5, 300),
    )  # fmt: skip
    return chance.choice(others)()


def _nested(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


def _number_near(chance: Random, value: float) -> float:
    factors = (0.0, -1.0, 0.5, 2.0, 10.0, 1e-3, 1e3, 1e-9, 1e9, 1e-15, 1e15)
    if isinstance(value, int):
        return chance.choice(
            (0, -value, value + 1, value - 1, 2 * value, 10 * value, 1000 * value, float(value))
        )
    return value * chance.choice(factors) + chance.choice((0.0, 0.0, 1e-3))


def _stretch(chance: Random, values: list[Any]) -> None:
    if not values or chance.random() < 0.3:
        values.append(_leaf(chance))
    elif chance.random() < 0.5:
        values.pop(chance.randrange(len(values)))
    elif chance.random() < 0.7:
        values.extend(copy.deepcopy(values))
    else:
        chance.shuffle(values)


def _garbled(chance: Random, text: str) -> str:
    at = chance.randrange(len(text) + 1)
    letter = chance.choice("abxyz_-.0 \n\"'[]{}=é\x01")
    return chance.choice(
        (text[:at] + letter + text[at:], text[:at] + text[at + 1 :], text.upper(), text[:at])
    )


def mutate_text(chance: Random, text: str) -> str:
    """A text with a few lines or letters changed."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        lines = text.split("\n")
        i, kind = chance.randrange(len(lines)), chance.random()
        if kind < 0.2:
            del lines[i]
        elif kind < 0.4:
            lines.insert(chance.randrange(len(lines) + 1), lines[i])
        elif kind < 0.5:
            lines = lines[:i]
        else:
            lines[i] = _garbled(chance, lines[i])
        text = "\n".join(lines)
    return text


def mutate_bytes(chance: Random, data: bytes) -> bytes:
    """Bytes with bits turned, parts cut, doubled, set to zero or replaced."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        if not changed:
            return b""
        at, kind = chance.randrange(len(changed)), chance.random()
        length = chance.choice((1, 2, 4, 8, 64, 512))
        if kind < 0.5:
            changed[at] ^= 1 << chance.randrange(8)
        elif kind < 0.6:
            changed[at : at + length] = bytes(len(changed[at : at + length]))
        elif kind < 0.7:
            changed[at : at + length] = chance.randbytes(length)
        elif kind < 0.8:
            changed[at:at] = changed[at : at + length]
        elif kind < 0.9:
            del changed[at : at + length]
        else:
            del changed[at:]
    return bytes(changed)
