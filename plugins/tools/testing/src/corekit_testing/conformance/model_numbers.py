"""What `new-numbers` promises: a model with other numbers is the one that is built from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import attrs
import numpy as np

from corekit.errors import CorekitError
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.model_states import Probe
from corekit_testing.conformance.subject import Subject, skew_context

__all__ = ["NUMBERS"]

_MOST = 40
"""Numbers of a config that are tried, one after the other."""


def _changed(value: Any) -> Iterator[Any]:
    """Copies of a config in which one number is a little larger."""
    if isinstance(value, float):
        yield 1.01 * value
    elif attrs.has(type(value)):
        for each in (own for own in attrs.fields(type(value)) if own.init):
            for other in _changed(getattr(value, each.name)):
                try:
                    yield attrs.evolve(value, **{each.alias or each.name: other})
                except (CorekitError, ValueError):
                    continue
    elif isinstance(value, tuple):
        for i, each in enumerate(value):
            yield from ((*value[:i], other, *value[i + 1 :]) for other in _changed(each))
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from ({**value, name: other} for other in _changed(each))


@check(
    "new-numbers-as-built",
    "a model with other numbers is, to the bit, the one built from them",
    "new-numbers",
)
def new_numbers_as_built(subject: Subject) -> None:
    probe, taken = Probe(subject), 0
    own, described = probe.model, probe.description
    for config in islice(_changed(subject.config()), _MOST):
        other = own.with_numbers(config)
        if other is None:
            continue
        taken += 1
        expect(other.description is described, "a model with other numbers has another description")
        built = subject.build_from(config, skew_context())
        for state in probe.states:
            found = []
            for model in (own, other, built, own):  # the first one twice: it may share no memory of a state
                probe.model = model
                answers = [
                    probe.mass(state).ravel(),
                    probe.force(state),
                    *(x.ravel() for x in probe.poses(state)),
                ]
                if "force-derivatives" in subject.spec.provides:
                    answers += [each.ravel() for each in probe.tangent(state)]
                if described.constraint_count:
                    rows = probe.bilateral(state)
                    answers += [rows.values.ravel(), rows.position_error, rows.target_rate, rows.compliance]
                found.append(np.concatenate(answers))
            expect_close("the answers of a model with other numbers", found[1], found[2], 0.0)
            expect_close("the answers of the model before", found[3], found[0], 0.0)
    if not taken:
        raise NotApplicable("takes no other number with these options")


NUMBERS: tuple[Check, ...] = (new_numbers_as_built,)
