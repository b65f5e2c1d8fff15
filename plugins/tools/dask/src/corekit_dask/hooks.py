"""Where this distribution has many runs made."""

from __future__ import annotations

from corekit.hooks.specs import SchedulerEntry, hookimpl

__all__ = ["corekit_schedulers"]

_OPEN = "corekit_dask.clusters:open_"


@hookimpl
def corekit_schedulers() -> list[SchedulerEntry]:
    """Return the clusters that there are words for."""
    return [
        SchedulerEntry("local", f"{_OPEN}local", "workers of Dask on this computer, for this command"),
        SchedulerEntry("tcp://", f"{_OPEN}address", "a scheduler of Dask that runs already, at HOST:PORT"),
        SchedulerEntry("tls://", f"{_OPEN}address", "the same, encrypted as the configuration of Dask says"),
        SchedulerEntry("slurm", f"{_OPEN}slurm", "jobs of SLURM, as the configuration of Dask says"),
    ]
