"""Where the tasks of a command run: in this process, in processes beside it, or where an installed distribution sends
them.

A task is a function of a module and an argument, both as data: `module:function` takes bytes and returns bytes, so that
nothing but names and numbers travels. What runs tasks elsewhere is named by a distribution in the hook
`corekit_schedulers`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import NamedTuple, Protocol, TypeAlias, final

from corekit.errors import ConfigError, Mistake
from corekit.hooks.installed import installed_hooks
from corekit.registry.resolve import did_you_mean, load_target
from corekit_run.processes import process_count, without_the_callers_script, work, worker_pool

__all__ = [
    "PROCESSES",
    "Here",
    "Lost",
    "NextTask",
    "Processes",
    "Scheduler",
    "Task",
    "call",
    "check_scheduler",
    "open_scheduler",
]

PROCESSES = "processes"
"""The word for processes of this command, which is what it takes without any."""
_AHEAD = 2
"""Tasks that are handed over for each that runs, so that no process waits for this one."""
_KILLED = "the process at work was killed: the system may have run out of memory"


class Task(NamedTuple):
    """A task: a number by which its answer is known, and the argument of its function."""

    key: int
    argument: bytes


@final
class Lost(NamedTuple):
    """What comes in place of an answer if those who worked at a task were lost, again and again; `reason` is why."""

    reason: str


NextTask: TypeAlias = Callable[[], Task | None]
"""Returns another task as soon as there is room for one; None: there is none now, though an answer may bring some."""


class Scheduler(Protocol):
    """Runs tasks.

    Attributes:
        size: how many run at once, as far as it is known.
        shares_disk: whether tasks find and may write the files of this computer.
    """

    @property
    def size(self) -> int: ...
    @property
    def shares_disk(self) -> bool: ...

    def run(
        self, function: str, next_task: NextTask, warn: Callable[[str], object], needs: Mapping[str, str]
    ) -> Iterator[tuple[int, bytes | Lost]]:
        """Yield the key of each task with what its function returned, in the order in which they end.

        A bounded number of tasks is asked for ahead. Where the caller leaves off, what runs is stopped.

        Args:
            function: `module:function`, from bytes to bytes.
            next_task: where tasks come from.
            warn: called with sentences for the user.
            needs: distribution → version, without which, on another computer, the tasks would do something else.
        Raises:
            PluginError: a computer lacks something of `needs`.
            Exception: what the function raised.
        """
        ...


def call(function: str, argument: bytes) -> bytes:
    """Call `module:function`."""
    return load_target(function)(argument)


@final
class Here:
    """Tasks one after the other, in this process."""

    size = 1
    shares_disk = True

    def run(
        self,
        function: str,
        next_task: NextTask,
        warn: Callable[[str], object],
        needs: Mapping[str, str],
    ) -> Iterator[tuple[int, bytes | Lost]]:
        """See `Scheduler.run`."""
        while (task := next_task()) is not None:
            yield task.key, call(function, task.argument)


@final
class Processes:
    """Tasks in processes of this command.

    What was under way when a process was killed is tried again, in half as many: most often the system killed it for
    want of memory, and no error tells which task wanted it. A task whose process is killed with no other beside it is
    lost.

    Args:
        size: how many processes.
        fresh: whether each task gets a process of its own.
    """

    shares_disk = True

    def __init__(self, size: int, *, fresh: bool = False) -> None:
        self.size, self._fresh = size, fresh

    def run(
        self,
        function: str,
        next_task: NextTask,
        warn: Callable[[str], object],
        needs: Mapping[str, str],
    ) -> Iterator[tuple[int, bytes | Lost]]:
        """See `Scheduler.run`."""
        left: deque[Task] = deque()
        size = self.size
        while True:
            futures: dict[Future[bytes], Task] = {}
            with worker_pool(size, tasks_per_child=1 if self._fresh else None) as pool:
                whole = True
                while whole:
                    whole = _hand_over(pool.submit, function, futures, left, next_task, _AHEAD * size)
                    if not futures:
                        break
                    wait(futures, return_when=FIRST_COMPLETED)
                    for future in [each for each in futures if each.done()]:
                        if isinstance(future.exception(), BrokenProcessPool):
                            whole = False
                        else:
                            # whatever is done is handed on, in whatever order it is found
                            yield futures.pop(future).key, future.result()
            if whole:
                return
            left.extendleft(reversed(futures.values()))  # they are begun in order
            if size > 1:
                size = size // 2
                warn(f"{_KILLED}; it is tried again, and what is left is made {size} at once")
            elif futures:
                yield left.popleft().key, Lost(f"{_KILLED}, with nothing else beside it")


def _hand_over(
    submit: Callable[..., Future[bytes]],
    function: str,
    futures: dict[Future[bytes], Task],
    left: deque[Task],
    next_task: NextTask,
    most: int,
) -> bool:
    """Hand tasks over until there are enough or no more of them; return False if a process was killed by then."""
    while len(futures) < most:
        task = left.popleft() if left else next_task()
        if task is None:
            break
        try:
            with without_the_callers_script():
                futures[submit(work, call, function, task.argument)] = task
        except BrokenProcessPool:
            left.appendleft(task)
            return False
    return True


@contextmanager
def open_scheduler(
    word: str = PROCESSES, jobs: int | None = None, *, most: int | None = None, fresh: bool = False
) -> Iterator[Scheduler]:
    """Open what a user named, for the block.

    Args:
        word: `processes`, or one of an installed distribution: `local`, `tcp://HOST:PORT`.
        jobs: how many tasks at once; None: as many as a command may use, of which this process is the only one where
        that
            is one; 0: none beside this process.
        most: as many tasks as there are at most. fresh: as for `Processes`.
    Raises:
        ConfigError: there is no such word. PluginError: what it names cannot be opened.
    """
    if word == PROCESSES:
        size = process_count() if jobs is None else jobs
        if jobs is None and size == 1:
            size = 0
        if most is not None:
            size = min(size, most)
        here = size == 0 or (most is not None and most < 2 and not fresh)
        yield Here() if here else Processes(size, fresh=fresh)
        return
    with load_target(_find(word))(word, None if jobs is None else max(jobs, 1)) as scheduler:
        yield scheduler


def check_scheduler(word: str) -> None:
    """Raise ConfigError if there is no scheduler of a word."""
    if word != PROCESSES:
        _find(word)


def _find(word: str) -> str:
    """Return the `module:function` that opens a scheduler."""
    offered = [entry for _, entry in installed_hooks().schedulers()]
    for entry in offered:
        if word == entry.word or (entry.word.endswith("://") and word.startswith(entry.word)):
            return entry.function
    words = [
        PROCESSES,
        *(f"{each.word}HOST:PORT" if each.word.endswith("//") else each.word for each in offered),
    ]
    hint = (
        ""
        if offered
        else "; local, tcp://HOST:PORT and slurm come with corekit-dask: pip install corekit-dask"
    )
    said = f"must be {' or '.join(words)}{did_you_mean(word, words)}{hint}"
    raise ConfigError([Mistake("--scheduler", word, said)], "the command line")
