"""What a row of a case is held against: a paper, a peer, an analytic answer, or an answer of our own."""

from __future__ import annotations

from enum import StrEnum

from attrs import field, frozen

__all__ = ["OWN", "Kind", "Reference", "analytic", "finer", "method", "paper", "peer"]


class Kind(StrEnum):
    """Kinds of reference, the strongest evidence first."""

    PAPER = "paper"
    PEER = "peer"
    ANALYTIC = "analytic"
    FINER = "own finer solution"
    METHOD = "own other method"
    OWN = "own"


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


def peer(code: str, measured: str) -> Reference:
    """Another code, with version, and when and where its value was found: in this run, or stored."""
    return Reference(Kind.PEER, f"{code}; {measured}")


def analytic(what: str) -> Reference:
    """A closed form, a theory, or a truth that is known because it was made."""
    return Reference(Kind.ANALYTIC, what)


def finer(what: str) -> Reference:
    """Our own solution with finer steps or more elements."""
    return Reference(Kind.FINER, what)


def method(what: str) -> Reference:
    """Our own solution by another method: another detector, basis, integrator or estimator."""
    return Reference(Kind.METHOD, what)
