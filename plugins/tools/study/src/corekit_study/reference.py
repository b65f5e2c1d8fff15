"""What a row of a case is held against: a paper, a peer, an analytic answer, or an answer of our own.

What a paper prints is of kind `PAPER` where ours could have come out otherwise. Times of another machine, what we
set ourselves or what follows from it, and values of a peer that nothing here regenerates are kinds of their own:
they stand apart from the evidence, and are counted apart.
"""

from __future__ import annotations

from enum import StrEnum

from attrs import field, frozen

__all__ = [
    "APART",
    "OWN",
    "PRINTED",
    "Kind",
    "Reference",
    "analytic",
    "finer",
    "method",
    "paper",
    "peer",
    "printed_time",
    "setting",
    "stored",
]


class Kind(StrEnum):
    """Kinds of reference, the strongest evidence first; those in `APART` are none."""

    PAPER = "paper"
    PEER = "peer"
    ANALYTIC = "analytic"
    FINER = "own finer solution"
    METHOD = "own other method"
    OWN = "own"
    TIME = "printed time"
    SETTING = "setting"
    STORED = "stored peer"


APART = (Kind.TIME, Kind.SETTING, Kind.STORED)
"""What agrees here says nothing of whether ours is right."""
PRINTED = (Kind.PAPER, Kind.TIME, Kind.SETTING)
"""What a paper prints: ours may differ from it for a reason."""


@frozen
class Reference:
    """Where the expected value of a row is from.

    Args:
        kind: of it. source: which one, in words; empty only where there is none, of kind `OWN`.
    """

    kind: Kind
    source: str = field(default="")

    @source.validator
    def _named(self, _attribute: object, source: str) -> None:
        if not source and self.kind is not Kind.OWN:
            raise ValueError(f"a reference of kind {self.kind} says which one it is")

    def __str__(self) -> str:
        return f"{self.kind}: {self.source}" if self.source else str(self.kind)


OWN = Reference(Kind.OWN)
"""Nothing to compare with: what any answer must keep, or what is reported without a verdict."""


def paper(where: str) -> Reference:
    """The paper of the case, with section, table, figure or equation."""
    return Reference(Kind.PAPER, where)


def printed_time(where: str) -> Reference:
    """A time in the paper, of a machine that is not this one."""
    return Reference(Kind.TIME, where)


def setting(where: str) -> Reference:
    """What the paper sets and we set alike, or what follows from options or from a hard constraint."""
    return Reference(Kind.SETTING, where)


def peer(code: str, measured: str) -> Reference:
    """Another code, with version, and how its value is found: in this run, or by a script that regenerates it."""
    return Reference(Kind.PEER, f"{code}; {measured}")


def stored(code: str, measured: str) -> Reference:
    """Another code, with version, and when and where its value was found; nothing here regenerates it."""
    return Reference(Kind.STORED, f"{code}; {measured}")


def analytic(what: str) -> Reference:
    """A closed form, a theory, or a truth that is known because it was made."""
    return Reference(Kind.ANALYTIC, what)


def finer(what: str) -> Reference:
    """Our own solution with finer steps or more elements."""
    return Reference(Kind.FINER, what)


def method(what: str) -> Reference:
    """Our own solution by another method: another detector, basis, integrator or estimator."""
    return Reference(Kind.METHOD, what)
