"""The conformance kit: named checks of what a role's contract promises, for any plugin, in two runners.

From a shell `corekit conform models.pcc --set sections=2`; in a plugin's own tests one line,

    test_pcc = conformance("models", "pcc", options={"sections": 2})

which gives one pytest test a check; `conformance_of_drawn` is one test of all checks on options that hypothesis
draws. What is no component has a line too: `observer_conformance`, `friction_law_conformance`, `shape_conformance`.
Checks are chosen by role and by
declared ability; they call through the role's own interface alone.
"""

from corekit_testing.conformance.drawn import conformance_of_drawn, rounded
from corekit_testing.conformance.in_pytest import conformance
from corekit_testing.conformance.laws import friction_law_conformance
from corekit_testing.conformance.observers import observer_conformance
from corekit_testing.conformance.runner import checks_of, run_checks
from corekit_testing.conformance.shapes import shape_conformance
from corekit_testing.conformance.subject import Subject

__all__ = [
    "Subject",
    "checks_of",
    "conformance",
    "conformance_of_drawn",
    "friction_law_conformance",
    "observer_conformance",
    "rounded",
    "run_checks",
    "shape_conformance",
]
