"""Tasks over the workers of a scheduler of Dask: a bounded window of them, answered in the order in which they end.

Dask moves tasks of a worker that is lost to others. A task whose workers were lost as often as the scheduler allows
(`distributed.scheduler.allowed-failures`, 3 by default) is no culprit yet: what waits on a lost worker counts as what
ran there. It is tried once more when all others are made, with nothing beside it, and given back as lost if its
workers are lost then.
"""

from __future__ import annotations

import time as clock
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from queue import Empty, SimpleQueue
from typing import Any, final

from corekit.errors import PluginError
from corekit_run.elsewhere import answer_of, call_elsewhere
from corekit_run.schedulers import Lost, NextTask, Task

__all__ = ["DaskScheduler"]

_AHEAD = 3
"""Tasks that are handed over for each worker, so that none waits for the next."""
_COUNT_EVERY = 5.0
"""Wall time between two looks at how many workers there are [s]."""
_LOST = "the workers of a task were lost again and again"
_GO_ON = "what has ended is stored, and the same command goes on with --resume"
_AGAIN = ("lost", "pending")
"""States of a task that had ended and whose worker was lost before its answer was fetched: Dask makes it anew."""
_PATIENCE = 30.0
"""Wall time without an answer after which it is said that there is no worker [s]."""


@final
class DaskScheduler:
    """Tasks over a cluster.

    Args:
        client: connected. name: of the cluster, for sentences to the user.
        keep_up: called now and then: starts workers in the place of those that are gone for good.
    """

    shares_disk = False

    def __init__(self, client: Any, name: str, keep_up: Callable[[], object] | None = None) -> None:
        self._client, self._name, self._keep_up = client, name, keep_up
        self._workers, self._counted = 0, -_COUNT_EVERY

    @property
    def size(self) -> int:
        """How many workers there are, as it was some seconds ago; at least one."""
        if clock.monotonic() - self._counted > _COUNT_EVERY:
            self._workers, self._counted = len(self._client.nthreads()), clock.monotonic()
            if self._keep_up is not None:
                self._keep_up()
        return max(self._workers, 1)

    def run(
        self, function: str, next_task: NextTask, warn: Callable[[str], object], needs: Mapping[str, str]
    ) -> Iterator[tuple[int, bytes | Lost]]:
        """See `corekit_run.schedulers.Scheduler.run`."""
        window = _Window(self._client, function, needs)
        suspects: deque[Task] = deque()
        alone = False
        try:
            while True:
                while not alone and len(window) < _AHEAD * self.size and (task := next_task()) is not None:
                    window.submit(task)
                if not len(window):
                    if not suspects:
                        return
                    window.submit(suspects.popleft())
                    alone = True
                future, task = self._next(window, warn)
                answer = self._answer(future)
                if isinstance(answer, Lost) and not alone:
                    warn(f"{_LOST}: it waits until the others are made, and is then tried alone")
                    suspects.append(task)
                else:
                    alone = False
                    yield task.key, answer
        finally:
            window.cancel()

    def _next(self, window: _Window, warn: Callable[[str], object]) -> tuple[Any, Task]:
        """Wait for the next task that ends."""
        told, asked = False, clock.monotonic()
        while True:
            try:
                return window.next_ended()
            except Empty:
                if self._client.status != "running":
                    raise PluginError(f"the connection to {self._name} is lost: {_GO_ON}") from None
                _ = self.size
                if not (told or self._workers) and clock.monotonic() - asked > _PATIENCE:
                    told = True
                    warn(f"{self._name} has no worker; the tasks wait for one")

    def _answer(self, future: Any) -> bytes | Lost:
        from distributed import KilledWorker

        if future.status == "finished":
            data = future.result()
            if not isinstance(data, bytes):
                raise PluginError(
                    f"{self._name} answered with a {type(data).__name__}, which is no answer of corekit"
                )
            return answer_of(data)
        if future.status != "error":
            raise PluginError(f"{self._name} dropped a task ({future.status}): {_GO_ON}")
        error = future.exception()
        if isinstance(error, KilledWorker):
            return Lost(f"{_LOST} though nothing else was made: their computers may have run out of memory")
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise PluginError(
            f"a worker of {self._name} cannot begin a task ({said}): install there what is installed here, "
            "corekit-study and the plugins of the scenario"
        )


@final
class _Window:
    """Tasks that were handed over and have not been answered.

    Args:
        client, function, needs: as for `DaskScheduler.run`.
    """

    def __init__(self, client: Any, function: str, needs: Mapping[str, str]) -> None:
        self._client, self._function, self._needs = client, function, dict(needs)
        self._given: dict[Any, Task] = {}
        self._ended: SimpleQueue[Any] = SimpleQueue()
        self._name, self._count = uuid.uuid4().hex, 0

    def __len__(self) -> int:
        return len(self._given)

    def submit(self, task: Task) -> None:
        """Hand a task over."""
        self._count += 1
        future = self._client.submit(
            call_elsewhere, self._function, task.argument, self._needs,
            key=f"corekit-{self._name}-{self._count}", pure=False,
        )  # fmt: skip
        self._given[future] = task
        future.add_done_callback(self._ended.put)

    def next_ended(self) -> tuple[Any, Task]:
        """Return the next one that has ended; raise Empty where none does for long."""
        future = self._ended.get(timeout=_COUNT_EVERY)
        if future.status in _AGAIN:
            future.add_done_callback(self._ended.put)
            raise Empty
        return future, self._given.pop(future)

    def cancel(self) -> None:
        """Take back what has not ended."""
        if self._given and self._client.status == "running":
            self._client.cancel(list(self._given), force=True)
        self._given.clear()
