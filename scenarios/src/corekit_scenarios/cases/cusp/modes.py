"""What contacts do over time, run beside run: kinds of contact, when they change, and the forces."""

from __future__ import annotations

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, BoolArray
from corekit.data.contacts import ContactMode, ContactRecord
from corekit_record.results import Results

__all__ = [
    "FORCE",
    "Agreement",
    "Phase",
    "agreement",
    "first_touch",
    "force",
    "phases",
    "same_sequence",
    "words",
]

FORCE = 0.02
"""Contacts below this share of the largest normal impulse of their record carry nothing worth a word."""


@frozen
class Phase:
    """A stretch of time in which contacts stay of one kind: `free`, `stick`, `slide` or `stick + slide`."""

    begin: float
    end: float
    kind: str


def kind_of(record: ContactRecord) -> str:
    """What the contacts that carry load do."""
    modes = record.mode[_loaded(record)]
    kinds = [
        word for mode, word in ((ContactMode.STICK, "stick"), (ContactMode.SLIDE, "slide")) if mode in modes
    ]
    return " + ".join(kinds) or "free"


def phases(results: Results, shortest: float = 0.03) -> list[Phase]:
    """The phases of a run at its records; those shorter than `shortest` [s] join the one before.

    A contact at the edge of its friction cone changes its mind for an instant, at any step.
    """
    time = results.time
    kinds = [kind_of(results.contacts(k)) for k in range(len(time))]
    found: list[Phase] = []
    starts = [0, *(k for k in range(1, len(time)) if kinds[k] != kinds[k - 1])]
    for first, after in zip(starts, [*starts[1:], len(time) - 1], strict=True):
        begin, end = float(time[first]), float(time[after])
        if found and (kinds[first] == found[-1].kind or end - begin < shortest - 1e-9):
            found[-1] = Phase(found[-1].begin, end, found[-1].kind)
        else:
            found.append(Phase(begin, end, kinds[first]))
    return found


def words(sequence: list[Phase]) -> str:
    """A sequence of phases as one reads it."""
    return ", ".join(f"{phase.kind} {phase.begin:.2f}–{phase.end:.2f} s" for phase in sequence)


def same_sequence(one: list[Phase], other: list[Phase], slack: float) -> bool:
    """Whether two runs go through the same kinds in the same order, each change within `slack` [s]."""
    return [phase.kind for phase in one] == [phase.kind for phase in other] and all(
        abs(a.begin - b.begin) <= slack + 1e-9 for a, b in zip(one, other, strict=True)
    )


def first_touch(results: Results, obstacle: str) -> float:
    """When an obstacle first carries load, at the records [s]; nan if it never does."""
    shape = results["shape"].tolist().index(obstacle)
    for k, time in enumerate(results.time):
        record = results.contacts(k)
        if bool((record.shape[_loaded(record), 1] == shape).any()):
            return float(time)
    return float("nan")


def force(results: Results, k: int) -> Array:
    """Sum of the contact forces on the bodies at record k, world axes, shape (3,) [N]."""
    record, step = results.contacts(k), float(results["step_length"][k])
    second = np.cross(record.normal, record.tangent)
    along, across = record.tangential_impulse[:, :1], record.tangential_impulse[:, 1:]
    impulse = record.normal_impulse[:, None] * record.normal + along * record.tangent + across * second
    return impulse.sum(axis=0) / step if step else np.zeros(3)


@frozen
class Agreement:
    """How well two runs of one scenario agree, record by record.

    Args:
        modes: share of the records of one kind of contact, 0 to 1.
        force: root mean square of the difference of the contact forces, summed over the body, relative to
            that of the force. worst: the largest difference, relative to the largest force.
    """

    modes: float
    force: float
    worst: float


def agreement(one: Results, other: Results) -> Agreement:
    """Compare two runs with records at the same instants; the step of the first touch is left out.

    An impact is one step's blow: a step earlier or later, it is another record's.
    """
    count = min(len(one.time), len(other.time))
    touched = [k for k in range(count) if one.contact_count[k] or other.contact_count[k]]
    loaded = touched[2:]
    same = [kind_of(one.contacts(k)) == kind_of(other.contacts(k)) for k in range(count)]
    first = np.array([force(one, k) for k in loaded]).reshape(-1, 3)
    second = np.array([force(other, k) for k in loaded]).reshape(-1, 3)
    size, difference = np.linalg.norm(first, axis=1), np.linalg.norm(second - first, axis=1)
    scale = float(np.sqrt(np.mean(size**2))) if len(size) else 0.0
    return Agreement(
        modes=float(np.mean(same)),
        force=float(np.sqrt(np.mean(difference**2))) / scale if scale else 0.0,
        worst=float(difference.max() / size.max()) if scale else 0.0,
    )


def _loaded(record: ContactRecord) -> BoolArray:
    """Which contacts carry load."""
    impulse = record.normal_impulse
    return impulse > FORCE * float(np.max(impulse, initial=0.0))
