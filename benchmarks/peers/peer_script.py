"""What every script of this folder does with its numbers: print them, or one JSON object for `corekit bench`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping

__all__ = ["run_script"]


def run_script(doc: str | None, name: Callable[[], str], measure: Callable[[], Mapping[str, float]]) -> None:
    """Parse the command line, measure and print.

    Args:
        doc: of the script; --help prints its first line.
        name: of the case, with versions; it ends the script where a peer is not installed.
        measure: the numbers.
    """
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked, case = parser.parse_args(), name()
    numbers = measure()
    if asked.json:
        print(json.dumps({case: numbers}))
    else:
        print(f"{case}: {', '.join(f'{key} {value:.5g}' for key, value in numbers.items())}")
