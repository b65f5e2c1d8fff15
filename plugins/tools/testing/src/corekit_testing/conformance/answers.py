"""Checks that hold of the answers of every role: nothing changed, nothing shared, nothing forgotten."""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from corekit.data.array_file import read_arrays, write_arrays
from corekit.roles.component import InternalState, Stateful, restore_states
from corekit_testing.conformance.check import Check, NotApplicable, expect
from corekit_testing.conformance.drawn_options import other_numbers
from corekit_testing.conformance.other_process import order_certain
from corekit_testing.conformance.subject import Answer, Session, Subject, skew_context

__all__ = ["answer_checks", "leaves_no_trace", "through_file"]

AnyArray: TypeAlias = np.ndarray[Any, Any]


def _same(first: AnyArray, second: AnyArray) -> bool:
    """Equal bit for bit but for the sign of zero; nan equals nan."""
    a, b = np.asarray(first), np.asarray(second)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return bool(np.array_equal(a, b, equal_nan=np.issubdtype(a.dtype, np.inexact)))


def _copied(answer: Answer) -> dict[str, AnyArray]:
    return {name: np.array(values) for name, values in answer.found.items()}


def _expect_same(first: Mapping[str, AnyArray], second: Mapping[str, AnyArray], when: str) -> None:
    expect(set(first) == set(second), f"answers have other names {when}: {sorted(set(first) ^ set(second))}")
    for name, values in first.items():
        expect(_same(values, second[name]), f"{name} is not the same {when}")


def through_file(memory: InternalState) -> InternalState:
    """Memory as a checkpoint file gives it back: no pickle."""
    for name, values in memory.items():
        expect(isinstance(values, np.ndarray), f"memory {name!r} is a {type(values).__name__}, no array")
        expect(values.dtype != object, f"memory {name!r} holds objects, which no checkpoint can keep")
    numbered = {f"array{i}": values for i, values in enumerate(memory.values())}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.npz"
        write_arrays(file, numbered, durable=False)
        kept = read_arrays(file)
    return {name: kept[f"array{i}"] for i, name in enumerate(memory)}


def _disturb(values: AnyArray) -> None:
    """Write nonsense into an answer, as its owner may."""
    if values.flags.writeable:
        values[...] = (
            7 if np.issubdtype(values.dtype, np.integer) else True if values.dtype == bool else np.nan
        )


Start = Callable[..., Session]
"""Makes a role's session of (subject, component, reuse=False)."""


def _fresh(start: Start, subject: Subject, *, reuse: bool = False) -> Session:
    return start(subject, subject.build(skew_context()), reuse=reuse)


def _all_answers(session: Session, first: int = 0) -> list[dict[str, AnyArray]]:
    return [_copied(session.ask(i)) for i in range(first, session.questions)]


def _inputs_unchanged(start: Start, subject: Subject) -> None:
    session = _fresh(start, subject)
    for i in range(session.questions):
        for name, (before, after) in session.ask(i).given.items():
            expect(_same(before, after), f"changes its argument {name}")


def _answers_own_memory(start: Start, subject: Subject) -> None:
    session, twin = _fresh(start, subject), _fresh(start, subject)
    kept = [session.ask(i) for i in range(session.questions)]
    for i in range(twin.questions):
        twin.ask(i)
    for i, one in enumerate(kept):
        for other in kept[i + 1 :]:
            for name in one.found.keys() & other.found.keys():
                shared = np.shares_memory(one.found[name], other.found[name])
                expect(not shared, f"{name} of two questions share memory")
    for answer in kept:
        for values in answer.found.values():
            _disturb(values)
    again, undisturbed = (_all_answers(start(subject, each.component)) for each in (session, twin))
    for first, second in zip(again, undisturbed, strict=True):
        _expect_same(first, second, "after its earlier answer was overwritten")


def _deterministic(start: Start, subject: Subject) -> None:
    one, two = (_all_answers(_fresh(start, subject)) for _ in range(2))
    for first, second in zip(one, two, strict=True):
        _expect_same(first, second, "in a second component")


def _saved_and_loaded(start: Start, subject: Subject) -> None:
    session = _fresh(start, subject)
    half = session.questions // 2
    first = [_copied(session.ask(i)) for i in range(half)]
    memory = through_file(session.internal_state())
    rest = _all_answers(session, half)
    loaded = _fresh(start, subject)
    loaded.restore(memory)
    for one, other in zip(rest, _all_answers(loaded, half), strict=True):
        _expect_same(one, other, "after its memory was saved and loaded")
    restore_states({"own": session.component}, {})
    anew = start(subject, session.component)
    for i in range(half):
        _expect_same(first[i], _copied(anew.ask(i)), "after it was made to remember nothing")


def _pure(start: Start, subject: Subject) -> None:
    session = _fresh(start, subject)
    first = _all_answers(session)
    for i in reversed(range(session.questions)):
        _expect_same(first[i], _copied(session.ask(i)), "when asked again after other questions")


def _buffers_overwritten(start: Start, subject: Subject) -> None:
    clean = _all_answers(_fresh(start, subject))
    for one, other in zip(clean, _all_answers(_fresh(start, subject, reuse=True)), strict=True):
        _expect_same(one, other, "in a buffer that held another answer")


def _state_copied(start: Start, subject: Subject) -> None:
    session = _fresh(start, subject)
    if not isinstance(session.component, Stateful):
        raise NotApplicable("has no internal state")
    half = session.questions // 2
    for i in range(half):
        session.ask(i)
    given = session.internal_state()
    kept = {name: values.copy() for name, values in given.items()}
    _all_answers(session, half)
    for name, values in given.items():
        expect(_same(values, kept[name]), f"{name} of its internal state changes after it was handed out")
    loaded = _fresh(start, subject)
    loaded.restore(given)
    _all_answers(loaded, half)
    for name, values in given.items():
        expect(_same(values, kept[name]), f"{name} changes after it was restored from it")


def _instances_apart(start: Start, subject: Subject) -> None:
    other = other_numbers(subject) or subject  # some have no numbers among their options
    alone, waiting = _all_answers(_fresh(start, subject)), _fresh(start, subject)
    with suppress(Exception):  # whether it works with these numbers is not asked here
        _all_answers(_fresh(start, other))
    for first, second in zip(alone, _all_answers(waiting), strict=True):
        _expect_same(first, second, "after another one with other numbers was made and asked")


_QUIET = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
"""How NumPy treats what is not a number unless somebody changes it for everybody."""


def leaves_no_trace(ask: Callable[[], object]) -> None:
    """Raise `CheckFailed` where a call prints, or changes what all code in the process shares."""
    before = _surroundings()
    with _heard() as said:
        ask()
    expect(not said[0], f"prints {said[0][:80]!r}; a run's output is for whoever reads it by a program")
    changed = [what for what, value in _surroundings().items() if value != before[what]]
    expect(not changed, f"changes {', '.join(changed)} for everybody in the process")
    treated = np.geterr()
    expect(
        treated == _QUIET,
        f"NumPy's treatment of errors was changed for everybody: {treated}; use np.errstate",
    )


def _leaves_no_trace(start: Start, subject: Subject) -> None:
    leaves_no_trace(lambda: _fresh(start, subject).ask(0))


def _surroundings() -> dict[str, Any]:
    """What all code in a process shares."""
    numbers: Any = np.random.get_state(legacy=True)  # noqa: NPY002 - the stream that nobody should draw from
    return {
        "the random numbers of NumPy": (numbers[1].tobytes(), *numbers[2:]),
        "the random numbers of Python": random.getstate(),
        "the environment": dict(os.environ),
        "the working folder": os.getcwd(),
        "NumPy's treatment of errors": np.geterr(),
    }


@contextmanager
def _heard() -> Iterator[list[str]]:
    """What is printed inside, by Python or by compiled code: the only entry, when the block has ended."""
    said = [""]
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        kept, stream = os.dup(1), sys.stdout
        os.dup2(file.fileno(), 1)
        try:
            with os.fdopen(os.dup(1), "w", encoding="utf-8") as sys.stdout:
                yield said
        finally:
            sys.stdout = stream
            os.dup2(kept, 1)
            os.close(kept)
            file.seek(0)
            said[0] = file.read().decode("utf-8", "replace")


_ALWAYS = (
    ("inputs-unchanged", "what is handed over is not changed", _inputs_unchanged),
    (
        "answers-own-memory",
        "answers share no memory with other answers or with what it works on",
        _answers_own_memory,
    ),
    ("deterministic", "two components built alike answer alike, to the last bit", _deterministic),
    (
        "order-certain",
        "answers are the same, to the last bit, in a process where texts have other hashes",
        order_certain,
    ),
    (
        "saved-and-loaded",
        "saved, loaded and continued equals continued; nothing remembered is fresh",
        _saved_and_loaded,
    ),
    (
        "state-copied",
        "internal state that was handed out or restored is a copy: going on does not change it",
        _state_copied,
    ),
    (
        "instances-apart",
        "another one with other numbers changes none of its answers",
        _instances_apart,
    ),
    (
        "leaves-no-trace",
        "it prints nothing and changes nothing that all code in the process shares",
        _leaves_no_trace,
    ),
)
_PURE = ("pure", "the same question has the same answer, whatever was asked in between", _pure)
_BUFFERS = (
    "buffers-overwritten",
    "an answer does not depend on the earlier answer its buffer holds",
    _buffers_overwritten,
)


def answer_checks(start: Start, *, pure: bool = False, buffers: bool = False) -> tuple[Check, ...]:
    """Checks that hold of the answers of every role, for one role's session.

    Args:
        start: makes a session.
        pure: whether the same question must have the same answer, whatever was called before.
        buffers: whether answers go into buffers that may hold an earlier answer.
    """
    chosen = (*_ALWAYS, *((_PURE,) if pure else ()), *((_BUFFERS,) if buffers else ()))
    return tuple(
        Check(name, claim, partial(run, start), of_stateful=run is _state_copied)
        for name, claim, run in chosen
    )
