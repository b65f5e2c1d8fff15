"""What this distribution adds to the kernel: its verbs, its finder of equilibria, and its file in a run's folder."""

from __future__ import annotations

from corekit.hooks.specs import FolderReport, Verb, hookimpl

__all__ = ["corekit_equilibrium_finder", "corekit_folder_reports", "corekit_verbs"]


@hookimpl
def corekit_verbs() -> list[Verb]:
    """The verbs `statics` and `modes`."""
    return [
        Verb(
            "statics",
            "corekit_statics.cli.statics:statics",
            "Where a scenario comes to rest, and whether it stays there.",
        ),
        Verb(
            "modes",
            "corekit_statics.cli.modes:modes",
            "Natural frequencies and shapes of a scenario at its equilibrium.",
        ),
    ]


@hookimpl
def corekit_equilibrium_finder() -> str:
    """The class with which scenarios start at their equilibrium and estimators find one."""
    return "corekit_statics.scenario_equilibria:StaticsFinder"


@hookimpl
def corekit_folder_reports() -> list[FolderReport]:
    """The equilibria and modes that the verbs leave in the folder of a run."""
    return [
        FolderReport("statics.json", "corekit_statics.cli.statics_report:print_statics"),
        FolderReport("modes.json", "corekit_statics.cli.modes_report:print_modes"),
    ]
