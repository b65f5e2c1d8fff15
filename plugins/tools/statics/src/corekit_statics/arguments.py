"""What arguments of searches must be, in words, for `corekit.simulation.arguments.check_arguments`."""

from __future__ import annotations

from corekit.simulation.arguments import COUNT, Kind, is_number

__all__ = ["INSTANT", "NUMBER", "PARTS", "SCENARIO", "STEPS"]

SCENARIO: Kind = "a scenario, as `corekit.load` gives it", lambda value: hasattr(value, "compose")
INSTANT: Kind = "a time ≥ 0 [s]", lambda value: is_number(value) and value >= 0
NUMBER: Kind = "a whole number, 1 or more", lambda value: COUNT[1](value) and value >= 1
MOST = 100_000
"""Equilibria of one search: more would fill the memory before the first is found."""
STEPS: Kind = f"a whole number, 1 to {MOST}", lambda value: NUMBER[1](value) and value <= MOST
PARTS: Kind = f"a whole number, 0 to {MOST}", lambda value: COUNT[1](value) and value <= MOST
