"""Imported by every interpreter that a test in a directed rounding mode starts: it rounds as the test does."""

import os

if mode := os.environ.get("COREKIT_ROUNDING"):
    from corekit_testing.rounding_mode import enter

    enter(mode)
