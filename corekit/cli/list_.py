"""`corekit list`: what is installed, without importing any of it."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from corekit.cli.listing import print_listing

__all__ = ["list_components"]


def list_components(
    *,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    everything: Annotated[bool, Parameter(name="--all", negative="")] = False,
) -> None:
    """What is installed, and what could be.

    Reads metadata only: nothing is imported, a broken plugin is a row with its reason.

    Parameters
    ----------
    as_json
        Print JSON instead of a table.
    everything
        Show the reference components too; they are small, slow and meant for tests.
    """
    print_listing(as_json=as_json, everything=everything)
