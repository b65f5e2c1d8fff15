"""A run without a folder: every observer looks at its steps, nothing is written, and it cannot be gone on with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from corekit.simulation.loop import Simulation
from corekit_run.folder_run import closed, ignore
from corekit_run.observers import RunContext, Runnable, RunObservers
from corekit_run.plugin_errors import named_errors, named_step_errors
from corekit_run.run_end import stop_between_steps

__all__ = ["run_unrecorded"]


def run_unrecorded(
    scenario: Runnable, simulation: Simulation, warn: Callable[[str], object] = ignore
) -> dict[str, Mapping[str, Any]]:
    """Step a composed simulation to the end of its scenario, bit for bit as `corekit_run.running.run` does.

    Hooks that are told of runs in folders are not called.

    Args:
        scenario: what the simulation was composed of. simulation: at its initial state.
        warn: called with what an observer warns of.
    Returns:
        What observers say at the end of a run, by their names.
    Raises:
        StepFailed: a step has no solution, or an observer stops at it.
        KeyboardInterrupt: the user stopped it between two steps.
    """
    for body in simulation.bodies:
        body.inputs.warn = warn
    observers = RunObservers(RunContext(scenario, simulation, None, ignore, warn))
    steps = round(scenario.time.duration / simulation.step_length)
    with stop_between_steps() as stop, closed(observers):
        with named_step_errors(simulation):
            simulation.sample_controllers()
            observers.begin()
        observers.attach()
        with stop.waits(), named_step_errors(simulation):
            while simulation.step_index < steps:
                simulation.step()
                if stop.wanted:
                    raise stop.why
    with named_errors():
        return observers.summaries()
