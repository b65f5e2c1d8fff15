"""The same questions in two processes where texts have different hashes, so that sets of them have another order.

An answer that depends on the order of a set differs from run to run: Python draws the hashes of texts anew in every
process. Two helper processes serve all checks of a process. They are asked by pickles over pipes, and end with their
reader. Their answers are compared with each other: they differ in nothing but hashes, as this process may.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from typing import IO, TYPE_CHECKING, Any

import attrs
import numpy as np
from attrs import frozen

from corekit.errors import PluginError
from corekit.interpreters import python_command
from corekit.registry.resolve import load_target
from corekit.roles.code import code_allowed
from corekit_testing.conformance.check import NotApplicable, expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from corekit_testing.conformance.subject import Session, Subject

__all__ = ["order_certain", "serve"]

_SEED, _SEEDS = "PYTHONHASHSEED", ("1", "2")
_SERVE = "from corekit_testing.conformance.other_process import serve; serve()"
Digests = list[dict[str, str]]
"""Question by question, name of an answer → digest of its bits."""


@frozen(eq=False)
class _Helper:
    process: subprocess.Popen[bytes]

    def ask(self, question: Any) -> tuple[Digests, str]:
        """The digests, and what was raised, or nothing."""
        to, back = self.process.stdin, self.process.stdout
        assert to is not None
        assert back is not None
        _send(to, question)
        return _receive(back)


@cache
def _helper(seed: str) -> _Helper:
    # what stands in the variable comes first: it may say how a process begins, as with another mode of rounding
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = os.pathsep.join(each for each in (*given, *sys.path) if each)
    environment = {**os.environ, _SEED: seed, "PYTHONPATH": paths}
    process = subprocess.Popen(
        python_command("-c", _SERVE), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    return _Helper(process)


def order_certain(start: Callable[..., Session], subject: Subject) -> None:
    """The check: the answers of both helpers are alike to the last bit."""
    if subject.target is not None or not _is_installed(subject):
        raise NotApplicable("its class or spec is not the installed one: another process would not find it")
    try:
        question = pickle.dumps((start, _plain(subject)))
    except Exception as error:
        raise NotApplicable(f"cannot be handed to another process: {error}") from error
    asked = (tuple(sys.path), question)
    answers = [_helper(seed).ask(asked) for seed in _SEEDS]
    (here, first), (found, second) = answers
    if first and second:
        raise NotApplicable(f"another process cannot ask it: {first}")
    expect(not first + second, f"raises in a process where texts have other hashes: {first + second}")
    expect(len(here) == len(found), "answers another number of questions in another process")
    for one, other in zip(here, found, strict=True):
        expect(
            set(one) == set(other), f"answers have other names in another process: {set(one) ^ set(other)}"
        )
        for name, digest in one.items():
            expect(
                digest == other[name],
                f"{name} is another one in a process where texts have other hashes: the order of a set decides",
            )


def _is_installed(subject: Subject) -> bool:
    try:
        return bool(subject.spec == load_target(subject.entry))
    except PluginError:
        return False


def _plain(subject: Subject) -> dict[str, Any]:
    """A subject but for its spec, which another process reads by its entry point."""
    fields = {each.name: getattr(subject, each.name) for each in attrs.fields(type(subject))}
    return fields | {"spec": None, "options": dict(subject.options), "shapes": dict(subject.shapes)}


def _answer(question: bytes) -> Digests:
    from corekit_testing.conformance.subject import Subject

    start, fields = pickle.loads(question)  # noqa: S301 - of the process that began this one
    return _answers(start, Subject(**(fields | {"spec": load_target(fields["entry"])})))


def _answers(start: Callable[..., Session], subject: Subject) -> Digests:
    from corekit_testing.conformance.subject import skew_context

    session = start(subject, subject.build(skew_context()), reuse=False)
    return [_digests(session.ask(i).found) for i in range(session.questions)]


def _digests(found: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, str]:
    # −0 is 0, as in the other checks
    whole = {name: np.ascontiguousarray(np.asarray(values) + 0) for name, values in found.items()}
    return {
        name: f"{values.dtype}{values.shape}{hashlib.sha256(values.tobytes()).hexdigest()}"
        for name, values in whole.items()
    }


def serve() -> None:
    """Answer until nobody asks any more; what components print goes to the error stream."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            path, question = _receive(sys.stdin.buffer)
        except EOFError:
            return
        sys.path[:] = path  # what the asking process finds is found here, as it is there
        try:
            with code_allowed(
                True
            ):  # the asking process has built the component already, with its permission
                found, raised = _answer(question), ""
        except Exception as error:  # noqa: BLE001 - whatever a component raises is its answer
            found, raised = [], f"{type(error).__name__}: {error}"
        _send(answers, (found, raised))


def _send(file: IO[bytes], message: Any) -> None:
    text = pickle.dumps(message)
    file.write(len(text).to_bytes(8, "big") + text)
    file.flush()


def _receive(file: IO[bytes]) -> Any:
    size = file.read(8)
    if len(size) < 8:
        raise EOFError
    return pickle.loads(file.read(int.from_bytes(size, "big")))  # noqa: S301 - of a process and its helper
