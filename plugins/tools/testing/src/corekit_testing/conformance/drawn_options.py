"""Options drawn from the ranges that a component's config states.

A number with two bounds is drawn between them as often as near its default; others lie between half and twice their
default, within their bounds. What is 0 by default becomes something else, a choice another one, a switch may be turned.
Lists keep their length, and components that options name stay: how many of what fits together only the config knows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from attrs import evolve

from corekit.data.signal_base import Signal
from corekit.errors import ConfigError, CorekitError, Mistake
from corekit.roles.options import ComponentRef
from corekit.scenario.dump import plain
from corekit_testing.conformance.subject import Subject, skew_context

__all__ = ["draw_subject", "other_numbers"]

_TRIES = 30
_FEWER = 0.8
"""Share of the options drawn last time that are drawn next time, where a config refuses them together."""


def draw_subject(subject: Subject, seed: int) -> Subject:
    """The subject with other options; those that it was given stay.

    Raises:
        ConfigError: the component refuses whatever is drawn.
    """
    for each in _draws(subject, seed, steady=False):
        return each
    what = "range or default"
    raise ConfigError(
        [
            Mistake(
                "options",
                f"none of {_TRIES} draws is accepted",
                f"give what belongs together by --set; {what}",
            )
        ],
        f"the options of {subject.spec.name}",
    )


def other_numbers(subject: Subject) -> Subject | None:
    """The subject with numbers moved by a tenth at most; None where it has none that may move."""
    return next(_draws(subject, 0, steady=True), None)


def _draws(subject: Subject, seed: int, *, steady: bool) -> Iterator[Subject]:
    """Subjects whose options are accepted, with fewer and fewer drawn."""
    config, share = subject.config(), 1.0
    for attempt in range(_TRIES):
        random = np.random.default_rng([seed, attempt])
        given = frozenset() if steady else frozenset(subject.options)
        try:
            other = _drawn(config, random, share, given, steady=steady)
            mistakes: list[Mistake] = []
            made = evolve(subject, options=plain(other, "options", mistakes))
            if other != config and not mistakes:
                made.build(skew_context())
                yield made
        except (CorekitError, ValueError):  # values that do not go together
            pass
        share *= _FEWER


def _drawn(
    config: Any, random: np.random.Generator, share: float, given: frozenset[str], *, steady: bool
) -> Any:
    """The config with a share of its options drawn anew."""
    changes: dict[str, Any] = {}
    for each in attrs.fields(type(config)):
        key = each.metadata.get("key", each.name)
        old = getattr(config, each.name)
        if key in given or random.random() > share or not each.init:
            continue
        new = _value(old, each.metadata, random, share, steady=steady)
        if new is not old:
            changes[each.alias or each.name] = new
    return evolve(config, **changes) if changes else config


def _value(
    old: Any, metadata: Mapping[str, Any], random: np.random.Generator, share: float, *, steady: bool
) -> Any:
    """Another value in place of one, or the same object."""
    choices: Sequence[Any] | None = metadata.get("choices")
    if isinstance(old, (ComponentRef, Signal, str)) and choices is None:
        return old
    if choices is not None or isinstance(old, bool):
        others = [each for each in (choices or (True, False)) if each != old]
        return others[int(random.integers(len(others)))] if others and not steady else old
    if isinstance(old, int):
        return old if steady else round(_number(float(old), metadata, random, steady=False))
    if isinstance(old, float):
        return _number(old, metadata, random, steady=steady)
    if isinstance(old, tuple):
        return tuple(_value(entry, metadata, random, share, steady=steady) for entry in old)
    if attrs.has(type(old)):
        return _drawn(old, random, share, frozenset(), steady=steady)
    return old


def _number(old: float, metadata: Mapping[str, Any], random: np.random.Generator, *, steady: bool) -> float:
    low, high, above = metadata.get("range", (None, None, None))
    if not math.isfinite(old):
        return old
    if steady:
        new = old * random.uniform(1.02, 1.1) if old else 0.0
    elif low is not None and high is not None and random.random() < 0.5:
        return float(_rounded(random.uniform(low, high), low, high))
    elif old:
        new = old * 2.0 ** random.uniform(-1.0, 1.0)
    else:
        sign = 1.0 if low is not None or above is not None else float(random.choice([-1.0, 1.0]))
        new = sign * 10.0 ** random.uniform(-3.0, 0.0)
    least = low if low is not None else above
    if (
        (least is not None and new < least)
        or (high is not None and new > high)
        or (above is not None and new <= above)
    ):
        return old
    return float(_rounded(new, low, high))


def _rounded(value: float, low: float | None, high: float | None) -> float:
    """The value in three digits, as people write it, within its bounds."""
    short = float(f"{value:.3g}")
    if low is not None:
        short = max(low, short)
    return short if high is None else min(high, short)
