"""What every contact solver promises; which of the two kinds it is, its spec says."""

from __future__ import annotations

from corekit_testing.conformance.answers import answer_checks
from corekit_testing.conformance.check import Check
from corekit_testing.conformance.contact_sessions import ContactSession
from corekit_testing.conformance.impulse_solvers import IMPULSES
from corekit_testing.conformance.potentials import POTENTIALS
from corekit_testing.conformance.solver_compiled import COMPILED

__all__ = ["CHECKS"]

CHECKS: tuple[Check, ...] = (*answer_checks(ContactSession), *IMPULSES, *COMPILED, *POTENTIALS)
"""Checks of the contact solver role."""
