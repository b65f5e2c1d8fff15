"""The verbs that this distribution adds to the command line."""

from __future__ import annotations

from corekit.hooks.specs import Verb, hookimpl

__all__ = ["corekit_verbs"]

_VERBS = {
    "bench": "The benchmarks of a checkout, as ratios to their references.",
    "cite": "What to cite: of a run, of a scenario, or of all that is installed.",
    "compare": "A scenario with other parts or numbers in it, run by run.",
    "fit": "A body's parameters or inputs from observed markers, and how sure they are.",
    "plan": "A motion through contact: certified, simulated and drawn.",
    "reproduce": "The papers' figures and tables, redone and compared.",
    "sweep": "A scenario over ranges of its numbers, on every core, as a table.",
}


@hookimpl
def corekit_verbs() -> list[Verb]:
    """Return a verb for each module of `corekit_study.cli`, whose function has its name."""
    return [Verb(name, f"corekit_study.cli.{name}:{name}", line) for name, line in _VERBS.items()]
