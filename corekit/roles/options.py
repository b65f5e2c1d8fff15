"""Options of components: attrs fields that carry unit, meaning and allowed values::

    @frozen(kw_only=True)
    class LCPConfig:
        friction_directions: int = option(8, "directions of the friction pyramid, even", low=4, high=64)
        lcp_solver: ComponentRef = component_option("lcp_solvers", "lemke", "solver of the assembled problem")

The loader reads the metadata to report every mistake of a file at once; `corekit info` and the docs
print it. Validation happens here too, so a config built in Python is checked alike.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import attrs
from attrs import NOTHING, Attribute, frozen

from corekit.errors import Mistake

__all__ = [
    "ComponentRef", "all_but", "component_list_option", "component_option", "doubt_given", "option", "refuse_given",
]  # fmt: skip


@frozen
class ComponentRef:
    """A component chosen by name, with its options: `"lemke"` or `{ use = "lemke", options = {...} }`."""

    use: str
    options: Mapping[str, Any] = attrs.field(factory=dict)

    @classmethod
    def from_value(cls, value: str | Mapping[str, Any] | ComponentRef) -> ComponentRef:
        """Make one from what a scenario file may hold."""
        if isinstance(value, ComponentRef):
            return value
        if isinstance(value, str):
            return cls(value)
        return cls(value["use"], dict(value.get("options", {})))


def allowed_text(
    low: float | None, high: float | None, above: float | None, choices: Sequence[object] | None
) -> str:
    """The allowed values in words, for errors and docs."""
    if choices is not None:
        return "one of " + ", ".join(repr(choice) for choice in choices)
    parts = []
    if above is not None:
        parts.append(f"> {above:g}")
    if low is not None:
        parts.append(f"≥ {low:g}")
    if high is not None:
        parts.append(f"≤ {high:g}")
    return "must be " + " and ".join(parts) if parts else ""


def _numbers(value: object) -> list[float]:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [float(value)]
    if isinstance(value, (tuple, list)):
        return [number for entry in value for number in _numbers(entry)]
    return []


_KINDS: Mapping[str, tuple[type, str]] = {
    "int": (numbers.Integral, "must be a whole number"),
    "float": (numbers.Real, "must be a number"),
    "str": (str, "must be a text"),
}
"""Annotation → what a value is, and the words for it."""


def _wrong_kind(annotation: object, value: object) -> str:
    """What is wrong with the kind of a value, empty if nothing is; sequences and unions are left to checks."""
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    kind, words = _KINDS.get(name, (object, ""))
    return words if not isinstance(value, kind) or (words and isinstance(value, bool)) else ""


def option(
    default: Any = NOTHING,
    help: str = "",
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    choices: Sequence[object] | None = None,
    check: Callable[[Any], str | None] | None = None,
    converter: Callable[[Any], Any] | None = None,
    infinite: bool = False,
) -> Any:
    """An attrs field with unit, meaning and allowed values; bounds hold for every entry of a sequence.

    Args:
        default: its default; without one the option must be given.
        help: what it means, a phrase.
        unit: SI unit, empty if it has none.
        low, high: inclusive bounds. above: exclusive lower bound.
        choices: the allowed values, beside the default.
        check: further test; returns what is wrong, or None.
        converter: as in attrs.
        infinite: whether ±inf is a meaningful value; nan never is.
    """
    words = allowed_text(low, high, above, choices)

    def validate(_instance: object, attribute: Attribute[Any], value: Any) -> None:
        if value is default:
            return  # most options are: what is left out needs no check
        kind = _wrong_kind(attribute.type, value)
        if kind:
            raise ValueError(f"{attribute.name} = {value!r}: {kind}")
        if choices is not None and value not in (*choices, default):
            raise ValueError(f"{attribute.name} = {value!r}: {words}")
        for number in _numbers(value):
            if math.isnan(number) or (math.isinf(number) and not infinite):
                raise ValueError(f"{attribute.name} = {value!r}: must be finite")
            outside = (
                (low is not None and number < low)
                or (high is not None and number > high)
                or (above is not None and number <= above)
            )
            if outside:
                raise ValueError(f"{attribute.name} = {value!r}: {words}")
        wrong = check(value) if check is not None else None
        if wrong:
            raise ValueError(f"{attribute.name} = {value!r}: {wrong}")

    if isinstance(default, list):
        raise TypeError("give sequences as tuples: a list default would be shared")
    factory = default if default is not dict else attrs.Factory(dict)
    metadata = {"help": help, "unit": unit, "allowed": words, "range": (low, high, above), "choices": choices}
    return attrs.field(default=factory, validator=validate, converter=converter, metadata=metadata)


def component_option(role: str, default: str | None = None, help: str = "", *, optional: bool = False) -> Any:
    """An attrs field of type `ComponentRef`: another component, chosen by name and built by the kernel.

    Args:
        role: role id of what may be named here, for example `lcp_solvers`.
        default: the name used when the option is not given.
        help: what it is for.
        optional: whether None is allowed (then it is the default).
    """
    metadata = {"help": help, "unit": "", "allowed": f"the name of a component of role {role}", "role": role}
    chosen: Any = NOTHING if default is None else ComponentRef(default)
    convert: Any = ComponentRef.from_value
    if optional:
        chosen, convert = None, attrs.converters.optional(convert)
    return attrs.field(default=chosen, converter=convert, metadata=metadata)


def component_list_option(role: str, default: Sequence[str] = (), help: str = "") -> Any:
    """An attrs field of type `tuple[ComponentRef, ...]`: several components of one role, in order."""
    metadata = {"help": help, "unit": "", "allowed": f"a list of components of role {role}", "role": role}

    def convert(values: Sequence[Any]) -> tuple[ComponentRef, ...]:
        return tuple(ComponentRef.from_value(value) for value in values)

    return attrs.field(
        default=tuple(ComponentRef(name) for name in default), converter=convert, metadata=metadata
    )


def all_but(cls: type, *left_out: str) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads all options of a class but some, to see whether two configs differ in these alone."""
    return attrgetter(*(name for name in attrs.fields_dict(cls) if name not in left_out))


def refuse_given(config: Any, names: Sequence[str], allowed: str) -> list[Mistake]:
    """Return a mistake for each of the named options that is given, where nothing would read it.

    An option at its default is as one that is left out: resolved scenarios write every default.

    Args:
        config: an instance of a class of options.
        names: of its options.
        allowed: what to do, for example "must be left out, for a fixed joint".
    """
    values = {name: getattr(config, name) for name in _given(config, names)}
    return [
        Mistake(name, list(value) if isinstance(value, tuple) else value, allowed)
        for name, value in values.items()
    ]


def doubt_given(config: Any, choice: str, names: Sequence[str], path: str = "") -> tuple[str, ...]:
    """Return a doubt for each of the named options that is given, where a choice by name leaves it unread.

    Choices of how something acts, a law, a drive, what touches, can so be swapped without editing what stands beside.

    Args:
        config, names: as of `refuse_given`.
        choice: the option whose word leaves them unread.
        path: of the config among the options of its component, with a dot behind, or empty.
    """
    said = f"does nothing with {path}{choice} = {getattr(config, choice)!r}"
    return tuple(f"{path}{name} {said}" for name in _given(config, names))


def _given(config: Any, names: Sequence[str]) -> list[str]:
    """Those of the named options that are not at their default."""
    every = attrs.fields_dict(type(config))
    return [name for name in names if getattr(config, name) != every[name].default]
