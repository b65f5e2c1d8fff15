"""The light description of a paper's case, readable without importing what runs it."""

from __future__ import annotations

from attrs import frozen

__all__ = ["CASES", "SCENARIOS", "Case"]

CASES = "corekit.cases"
"""Entry-point group of cases; an entry is named `<paper>.<case>` and points at a `Case`."""

SCENARIOS = "corekit.scenarios"
"""Entry-point group of folders with scenario files; an entry points at a function that returns the folder."""


@frozen(kw_only=True)
class Case:
    """One figure or table of a paper, or what its text claims, and the function that redoes it.

    Args:
        paper: short name of the paper.
        name: of the case, unique in the paper: `corekit reproduce <paper>/<name>`.
        source: figure, table or section.
        shows: what it shows, in one sentence.
        target: `package.module:function` that is handed the case's run and returns its rows, imported only when
            the case is run.
        minutes: about how long it takes on two cores.
        alone: whether it measures time, so that nothing should run beside it.
        choices: parts that `--only` may choose among; empty if it has none.
        citation: the paper.
    """

    paper: str
    name: str
    source: str
    shows: str
    target: str
    minutes: float = 1.0
    alone: bool = False
    choices: tuple[str, ...] = ()
    citation: str = ""

    @property
    def path(self) -> str:
        """The words that name it on the command line."""
        return f"{self.paper}/{self.name}"
