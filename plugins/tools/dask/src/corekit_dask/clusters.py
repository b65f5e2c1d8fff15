"""Clusters by the words of `--scheduler`, opened for a command and closed after it.

    local             worker processes of one thread each on this computer, which listen on 127.0.0.1 alone, with
                      certificates made for the command, so that no other user of the computer can reach them
    tcp://HOST:PORT   a scheduler that somebody started, `dask scheduler`, with its workers, `dask worker`
    slurm             jobs that `dask_jobqueue` hands in; its file `jobqueue.yaml` says of which queue and size

A word beside an address, tls://, is encrypted by the certificates that the configuration of Dask names. Whoever
reaches a scheduler or a worker of Dask can have code run there: see SECURITY.md.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from corekit.errors import ConfigError, ExtraNotInstalled, Mistake, PluginError
from corekit_dask.dask_scheduler import DaskScheduler
from corekit_dask.local_workers import SELDOM_WATCHED, local_workers
from corekit_run.processes import process_count

__all__ = ["open_address", "open_local", "open_slurm"]

_CONNECT = 10.0
"""Wall time that a scheduler has to answer [s]."""
_DESERIALIZERS = ["dask", "msgpack", "error"]
"""Answers are bytes: nothing is unpickled of them."""


@contextmanager
def open_local(_word: str, jobs: int | None) -> Iterator[DaskScheduler]:
    """Start workers on this computer; one that is killed is started anew.

    Args:
        jobs: how many; None: as many as a command may use.
    """
    from dask import config
    from distributed import LocalCluster, Security

    security = Security.temporary()
    with (
        _quiet(),
        config.set(SELDOM_WATCHED),
        LocalCluster(
            n_workers=0,
            host="127.0.0.1",
            dashboard_address=None,
            security=security,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        local_workers(cluster.scheduler_address, security, jobs or process_count()),
        _client(cluster.scheduler_address, "the local cluster", security=security) as scheduler,
    ):
        yield scheduler


@contextmanager
def open_address(word: str, jobs: int | None) -> Iterator[DaskScheduler]:
    """Connect to a scheduler; its workers are as many as were started.

    Raises:
        ConfigError: no address, or a number of jobs, which the workers decide.
        PluginError: no scheduler answers there.
    """
    mistakes: list[Mistake] = []
    try:
        parts = urlsplit(word)
        whole = bool(parts.hostname) and parts.port is not None and not parts.path
    except ValueError:
        whole = False
    if not whole:
        mistakes.append(
            Mistake("--scheduler", word, "must be tcp://HOST:PORT, for example tcp://10.0.0.7:8786")
        )
    if jobs is not None:
        said = f"is of processes here: {word} has as many workers as were started for it, leave --jobs out"
        mistakes.append(Mistake("--jobs", jobs or 1, said))
    if mistakes:
        raise ConfigError(mistakes, "the command line")
    with _quiet(), _client(word, word) as scheduler:
        yield scheduler


@contextmanager
def open_slurm(_word: str, jobs: int | None) -> Iterator[DaskScheduler]:
    """Hand in jobs of SLURM, and take them back at the end.

    Args:
        jobs: how many.
    Raises:
        ConfigError: no number of jobs. ExtraNotInstalled: dask-jobqueue is missing.
        PluginError: its configuration lacks something, or SLURM refuses the jobs.
    """
    make_cluster = _import_slurm_cluster()
    if not jobs:
        said = "must be given: so many jobs are handed in to SLURM"
        raise ConfigError([Mistake("--jobs", jobs, said)], "the command line")
    with _quiet():
        try:
            cluster = make_cluster(scheduler_options={"dashboard": False, "dashboard_address": ":0"})
        except (ValueError, TypeError, OSError, RuntimeError) as error:
            said = " ".join(str(error).split())
            raise PluginError(
                f"no jobs of SLURM can be made ({said}): set cores, memory and what else a job needs under "
                "jobqueue.slurm in ~/.config/dask/jobqueue.yaml"
            ) from error
        with cluster:
            try:
                cluster.scale(jobs=jobs)
            except (RuntimeError, OSError) as error:
                said = " ".join(str(error).split())
                raise PluginError(f"SLURM does not take the jobs: {said}") from error
            with _client(cluster, "SLURM's jobs", lambda: cluster.scale(jobs=jobs)) as scheduler:
                yield scheduler


def _import_slurm_cluster() -> Any:
    """The class of clusters of SLURM. Its package takes Ctrl-C for itself when it is imported: this is undone.

    Raises:
        ExtraNotInstalled: dask-jobqueue is missing.
    """
    usual = signal.getsignal(signal.SIGINT)
    try:
        from dask_jobqueue import SLURMCluster
    except ImportError:
        raise ExtraNotInstalled(
            "--scheduler slurm needs dask-jobqueue: pip install 'corekit-dask[slurm]'"
        ) from None
    if usual is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, usual)
    return SLURMCluster


@contextmanager
def _client(
    address: Any, name: str, keep_up: Callable[[], object] | None = None, security: Any = None
) -> Iterator[DaskScheduler]:
    from distributed import Client

    try:
        client = Client(
            address,
            timeout=_CONNECT,
            set_as_default=False,
            security=security,
            deserializers=_DESERIALIZERS,
            heartbeat_interval=5000,
        )
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise PluginError(
            f"no scheduler of Dask answers at {name} ({said}): start one there by `dask scheduler`, and workers by "
            "`dask worker ADDRESS --nthreads 1`"
        ) from error
    with client:
        yield DaskScheduler(client, name, keep_up)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Dask logs of workers that come and go off the error stream: what counts of it is told."""
    log = logging.getLogger("distributed")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)
