"""What a model shows of itself once it is built: coordinates, input channels, frames, and its plane."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from corekit.errors import CorekitError
from corekit.registry.resolve import load_target
from corekit.registry.spec import ComponentSpec
from corekit.roles.component import BuildContext
from corekit.roles.model import Channel, ModelDescription

__all__ = ["default_interface", "interface_lines", "model_interface"]

_MOST = 12
"""More names than these are shown by their first and last ones."""


def default_interface(spec: ComponentSpec) -> dict[str, Any] | None:
    """Describe a model with default options; None where it needs some, or cannot be built here."""
    try:
        model = load_target(spec.target)(load_target(spec.config)(), BuildContext())
    except (CorekitError, TypeError, ValueError, ImportError):
        return None
    return model_interface(model.description)


def model_interface(description: ModelDescription) -> dict[str, Any]:
    """Describe a model as JSON can hold it."""
    plane = description.plane
    return {
        "coordinates": [{"name": each.name, "unit": each.unit} for each in description.coordinates],
        "velocities": [{"name": each.name, "unit": each.unit} for each in description.velocities],
        "inputs": [_channel(each) for each in description.inputs],
        "frames": list(description.frames),
        "plane": None if plane is None else np.asarray(plane).tolist(),
    }


def _channel(channel: Channel) -> dict[str, Any]:
    bounds = [None if math.isinf(bound) else bound for bound in (channel.lower, channel.upper)]
    return {
        "name": channel.name,
        "size": channel.size,
        "unit": channel.unit,
        "kind": channel.kind.value,
        "sign": channel.sign,
        "bounds": bounds,
    }


def interface_lines(found: Mapping[str, Any], body: str = "", *, whole: bool = False) -> list[str]:
    """Write a description as lines of text; frames of a body as other parts of a scenario and Python name them.

    Args:
        whole: whether every name is written, velocities among them, or of many the first and last ones.
    """
    lines: list[str] = []
    for kind in ("coordinates", "velocities") if whole else ("coordinates",):
        for unit in dict.fromkeys(row["unit"] for row in found[kind]):
            names = [row["name"] for row in found[kind] if row["unit"] == unit]
            lines.append(f"  {kind} [{unit}]: {_listed(names, whole=whole)}")
    for channel in found["inputs"]:
        lower, upper = channel["bounds"]
        limits = [f"≥ {lower:g}" if lower is not None else "", f"≤ {upper:g}" if upper is not None else ""]
        facts = [f"{channel['size']} of kind {channel['kind']}", *filter(None, limits)]
        facts += [f"above 0: {channel['sign']}"] if channel["sign"] else []
        lines.append(f"  input {channel['name']} [{channel['unit']}]: {', '.join(facts)}")
    if not found["inputs"]:
        lines.append("  no inputs")
    frames = [f"{body}.{name}" if body else name for name in found["frames"]]
    lines.append(f"  frames: {_listed(frames, whole=whole) or 'none'}")
    if found["plane"] is not None:
        origin, first, second = (f"({', '.join(f'{x:g}' for x in each)})" for each in found["plane"])
        lines.append(f"  plane through {origin} along {first} and {second}")
    return lines


def _listed(names: Sequence[str], *, whole: bool) -> str:
    if whole or len(names) <= _MOST:
        return ", ".join(names)
    return f"{', '.join([*names[: _MOST - 2], '…', names[-1]])} ({len(names)}, all by --all)"
