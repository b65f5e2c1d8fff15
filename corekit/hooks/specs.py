"""The hooks that there are, and how a distribution answers them.

A distribution names a module, or any object, in the entry-point group `corekit.hooks`; its functions with a
hook's name and the mark `hookimpl` are called. They may leave out arguments that they do not need. Names of functions
that begin with `corekit_` are those of hooks alone, so that one without the mark, or misspelt, is reported::

    [project.entry-points."corekit.hooks"]
    lab = "corekit_lab.hooks"

    from corekit.hooks.specs import Verb, hookimpl

    @hookimpl
    def corekit_verbs():
        return [Verb("upload", "corekit_lab.upload:upload", "Send a run to the lab's archive.")]

Hooks are not called in every step: the closest look at a run is a block of steps. What has to see every step, or
goes on from checkpoints, is an observer (`corekit_run_observers`). A hook that raises is reported in
one line on the error stream, and its distribution is left out from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pluggy

__all__ = ["PROJECT", "FolderReport", "HookSpecs", "SchedulerEntry", "Verb", "hookimpl"]

PROJECT = "corekit"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function as the answer to the hook of its name."""


class Verb(NamedTuple):
    """A verb for the command line.

    Args:
        name: `corekit <name>`.
        function: `module:function` that does it, imported when it is called. Its signature gives the
            arguments, it returns an exit code or None, and raises `CorekitError` for what users should read.
        help: its line in `corekit --help`.
    """

    name: str
    function: str
    help: str


class FolderReport(NamedTuple):
    """A file in the folders of runs that `corekit info DIR` shows.

    Args:
        file: its name, for example `statics.json`; it holds one JSON object.
        function: `module:function` that prints the object for a reader.
    """

    file: str
    function: str

    @property
    def name(self) -> str:
        """What the report is called in the sheet of a run: the file's name without its suffix."""
        return self.file.partition(".")[0]


class SchedulerEntry(NamedTuple):
    """A place where commands with many runs can have them made.

    Args:
        word: of `--scheduler`, for example `local`; one that ends in `://` stands for all that begin so.
        function: `module:function` that opens it, see `corekit_run.schedulers.open_scheduler`.
        help: what it is, in a line.
    """

    word: str
    function: str
    help: str


class HookSpecs:
    """Every hook, with its arguments."""

    @hookspec
    def corekit_verbs(self) -> Sequence[Verb] | None:
        """The verbs that it adds to the command line; called at every start, so it must be light."""

    @hookspec
    def corekit_run_observers(self) -> Sequence[str] | None:
        """Observers of runs: functions, `module:function`, that make them from a `RunContext`.

        See `corekit_run.observers`.
        """

    @hookspec
    def corekit_schedulers(self) -> Sequence[SchedulerEntry] | None:
        """Where many runs can be made, other than in processes of the command; see `corekit_run.schedulers`.

        Each function is called as `function(word, jobs)` and returns a context manager that gives a `Scheduler`.
        """

    @hookspec
    def corekit_runner(self) -> str | None:
        """`module:function` that runs a `Scenario` into a new folder: `Scenario.run`."""

    @hookspec
    def corekit_results(self) -> str | None:
        """`module:class` that reads the records of a run: `corekit.Results`, made from the path of the run's folder."""

    @hookspec
    def corekit_open(self) -> str | None:
        """`module:function` that opens a folder of a run, or of many, for analysis: `corekit.open`."""

    @hookspec
    def corekit_run_report(self) -> str | None:
        """`module:class`, derived from `corekit_run.cli.run_report.RunReport`, that says what was recorded of a run."""

    @hookspec
    def corekit_folder_reports(self) -> Sequence[FolderReport] | None:
        """Further files in the folders of runs that `corekit info DIR` shows."""

    @hookspec
    def corekit_equilibrium_finder(self) -> str | None:
        """`module:class` that finds equilibria, see `corekit.simulation.installed_tools`; the first answer is used."""

    @hookspec
    def corekit_batch(self) -> str | None:
        """`module:class` of many worlds of a scenario: `Scenario.batch`, see `corekit.simulation.installed_tools`."""

    @hookspec
    def corekit_gradient_tool(self) -> str | None:
        """`module:name` of what differentiates runs, see `corekit.simulation.installed_tools`: `gradient` and so on."""

    @hookspec
    def corekit_scenario_doubts(self) -> Sequence[str] | None:
        """Functions, `module:function`, that say in sentences what is improbable of a `Scenario` or `Simulation`."""

    @hookspec
    def corekit_scenario_imports(self) -> Sequence[str] | None:
        """Functions, `module:function`, that replace references to files in a scenario's table by what the files hold.

        Each is called as `function(document, folder, mistakes)` while a scenario is read, before its entries are
        checked: it changes the table, finds relative paths from `folder` (None: the working directory), and adds a
        `Mistake` for each reference that it cannot follow. A run's resolved scenario then needs none of the files.
        """

    @hookspec
    def corekit_scenario_composed(self, scenario: Any, simulation: Any) -> None:
        """A scenario has become a simulation: a `Scenario` and a `Simulation` at its initial state."""

    @hookspec
    def corekit_run_started(self, folder: Path, scenario: Any, simulation: Any) -> None:
        """A run is about to make its first step, or to go on from a checkpoint, in its folder."""

    @hookspec
    def corekit_block_finished(self, folder: Path, simulation: Any, steps: int) -> None:
        """Steps have been made since the last call or the start, at most four calls a second of wall time.

        The simulation stands between two steps: look, do not change it.
        """

    @hookspec
    def corekit_run_ended(self, folder: Path, error: BaseException | None) -> None:
        """A run is over and its folder complete; the error that ended it, if there was one."""
