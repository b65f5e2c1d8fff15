"""Deliberately wrong plugins: a reference plugin, or a sound answer of it, with one thing changed."""

from typing import Any

import numpy as np
from attrs import evolve

from corekit.data.status import Residuals
from corekit.registry.resolve import load_target
from corekit.roles.component import Stateful
from corekit_testing.conformance import Subject, checks_of, run_checks
from corekit_testing.conformance.check import Verdict
from corekit_testing.conformance.common import PAPER

PENDULUM = {
    "lengths": [1.0, 0.7],
    "masses": [1.0, 2.0],
    "angles": [0.5, -0.3],
    "rates": [0.0, 0.0],
    "damping": 0.3,
    "radius": 0.1,
}
CHAIN = {
    "masses": [1.0, 2.0],
    "positions": [[0.5, 0.0, 0.1], [1.0, 0.2, 0.0]],
    "links": ["spring", "rod"],
    "structure": "dense",
    "driven": [0],
    "drive_amplitude": [0.1, 0.0, 0.2],
}
PLANAR = {"masses": [1.0], "positions": [[0.5, 0.1]], "planar": True}


def wrong(role, name, options=None, *, spec=None, entry=None, **methods):
    """The installed plugin as a subject whose class has other methods.

    spec, methods: as for `altered`.
    """
    return altered(Subject.installed(role, name, options), spec=spec, entry=entry, **methods)


def altered(sound, *, spec=None, entry=None, **methods):
    """A subject whose class has other methods.

    A method is given as `method(right, self, *arguments)`, with `right` the sound one; spec: fields changed.
    """
    cls = load_target(sound.spec.target)
    members: dict[str, Any] = {}
    for key, method in methods.items():
        right = next((base.__dict__[key] for base in cls.__mro__ if key in base.__dict__), None)
        if isinstance(right, property):
            members[key] = property(bound(method, right.fget))
        else:
            members[key] = bound(method, right)
    bases = (cls,)
    if {"internal_state", "restore"} & set(methods) and not issubclass(cls, Stateful):
        bases = cls, Stateful
        members.setdefault("internal_state", lambda _: {})
    target = type("Wrong", bases, members) if methods else None
    return evolve(sound, target=target, spec=evolve(sound.spec, **(spec or {})), entry=entry or sound.entry)


def pendulum(**methods):
    return wrong("models", "reference-pendulum", PENDULUM, **methods)


def chain(**methods):
    return wrong("models", "reference-point-chain", CHAIN, **methods)


def bound(method, right):
    return lambda self, *arguments: method(right, self, *arguments)


def failing(subject):
    """Names of the checks that fail."""
    return {result.check for result in run_checks(subject) if result.verdict is Verdict.FAILED}


def after(change):
    """A method that does the right thing and then `change(self, *arguments)`; the right answer is returned."""

    def method(right, self, *arguments):
        answer = right(self, *arguments)
        change(self, *arguments)
        return answer

    return method


def answering(change):
    """A method that answers `change(right answer)`."""
    return lambda right, self, *arguments: change(right(self, *arguments))


def counter(self):
    """How often this has been asked of a component, from 0."""
    self.asked = getattr(self, "asked", -1) + 1
    return self.asked


OF_ALL_ROLES = {"state-copied", "instances-apart", "leaves-no-trace"}
"""Checks that all roles share, for which wrong solvers stand (`test_wrong_solvers`)."""
ELSEWHERE = {"order-certain", "numbers-apart", "velocity-scale-of-surface", "edges-along-outline"}
"""Checks for which `test_hash_order` and `test_subtle_models` have wrong components."""


OF_A_LOTTERY = ("answers-own-memory", "saved-and-loaded", "instances-apart")
"""Checks beside `deterministic` that see answers which differ between two components built alike."""


def role_checks(role):
    """Names of the checks of a role but for those of all roles that have wrong components elsewhere."""
    return (
        {check.name for check in checks_of(role)} - {check.name for check in PAPER} - OF_ALL_ROLES - ELSEWHERE
    )


def drift(self):
    """Something that differs between components but not between runs of one component."""
    if not hasattr(self, "drawn"):
        self.drawn = float(np.random.default_rng().normal())
    return self.drawn


def bring(folder, monkeypatch, group, name, target):
    """Make a folder a distribution on the import path that brings an object by an entry point."""
    info = folder / "lab_things-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lab-things\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")
    monkeypatch.syspath_prepend(str(folder))


# — what any solver may do wrong —


def remembering_buffer(right, self, problem, answer, *more):
    """Trusts that nobody writes to the answer it gave out last."""
    info = right(self, problem, answer, *more)
    last = getattr(self, "last", None)
    if last is not None and not np.isfinite(last).all():
        info = evolve(info, iterations=info.iterations + 1)
    self.last = answer
    return info


def secretive(right, self, problem, answer, *more):
    """Does otherwise where the last problem was of this size, and saves nothing of it."""
    again = getattr(self, "size", None) == answer.size
    self.size = answer.size
    info = right(self, problem, answer, *more)
    return evolve(info, iterations=info.iterations + again)


def iterations_by_lot(right, self, *arguments):
    return evolve(right(self, *arguments), iterations=int(1e9 * abs(drift(self))))


def counting(right, self, *arguments):
    return evolve(right(self, *arguments), iterations=counter(self))


def flattering(right, self, *arguments):
    return evolve(right(self, *arguments), residuals=Residuals())
