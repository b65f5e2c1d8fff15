"""End of a run: between two steps if the user stops it, with its reason in the folder."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import format_exception
from types import FrameType
from typing import Any, final

from corekit.cli import stop_at_sigterm
from corekit.errors import CorekitError, ResultsError, StepFailed, Terminated
from corekit_run.folder import RunFolder

__all__ = ["Stop", "record_run_end", "step_file", "stop_between_steps"]

_PATIENCE = 0.5
"""Wall time [s] that the current step has to end, after a request to stop."""
_ALARM: signal.Signals | None = getattr(signal, "SIGALRM", None)  # Windows has none


def step_file(folder: Path, error: StepFailed) -> Path:
    """Return the file that replays the failed step."""
    return folder / f"step-{error.step}.npz"


@contextmanager
def record_run_end(folder: RunFolder, *, goes_on: bool = True) -> Iterator[None]:
    """Write the error that ends the block into the run's folder and raise it again.

    Args:
        folder: of the run. goes_on: whether `corekit run --resume` goes on with one that was stopped.
    """
    try:
        yield
    except BaseException as error:
        _write_run_end(folder, error, goes_on=goes_on)
        raise


def _write_run_end(folder: RunFolder, error: BaseException, *, goes_on: bool) -> None:
    """Write the reason into the folder if it is writable, and add the folder to the error."""
    stopped = isinstance(error, KeyboardInterrupt)
    word = "interrupted" if stopped else "failed"
    reason = str(error) or ("stopped by the user" if stopped else type(error).__name__)
    if not isinstance(error, CorekitError) and not stopped:
        reason = f"{type(error).__name__}: {reason}"
    what: dict[str, Any] = {"reason": reason}
    if not isinstance(error.__cause__, CorekitError | None):
        what["traceback"] = "".join(format_exception(error.__cause__))
    error.add_note(f"What was recorded is kept in {folder.path}")
    if isinstance(error, StepFailed):
        what |= {"step": error.step, "time_s": error.time, "body": error.body, "coordinate": error.coordinate}
        what["term"] = error.term
        if step_file(folder.path, error).exists():
            what["replay"] = step_file(folder.path, error).name
            error.add_note(f"That step alone: corekit run {step_file(folder.path, error)}")
    if stopped and goes_on:
        error.add_note(f"To go on: corekit run --resume {folder.path}")
    try:
        folder.log(word, **what)
        folder.set_status(word, " ".join(reason.split()))
    except (OSError, ResultsError) as trouble:
        error.add_note(f"The status could not be written: {trouble}")


@final
class Stop:
    """Request of the user to stop: at once before the first step, then after the current step.

    A step that goes on for longer than the patience is left where it is, within a compiled kernel too
    (`corekit.compiled.check_signals`): the run goes on from its last checkpoint. A second request ends it at once.
    """

    def __init__(self) -> None:
        self.wanted = False
        self.why = KeyboardInterrupt()
        self._waits = self._stepping = False

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """Handle Ctrl-C, SIGTERM, or the end of the patience with a step."""
        if number not in (signal.SIGINT, signal.SIGTERM):
            if self._stepping:
                raise self.why
            return
        self.why = Terminated() if number == signal.SIGTERM else KeyboardInterrupt()
        is_awaited = self._waits and not self.wanted
        self.wanted = True  # within a callback from C what is raised is lost: then the first step is the last
        if not is_awaited:
            raise self.why
        if _ALARM is not None and signal.getsignal(_ALARM) == self.handle:
            signal.setitimer(signal.ITIMER_REAL, _PATIENCE)

    @contextmanager
    def waits(self) -> Iterator[None]:
        """Within the block, which makes steps, a request waits for the end of one; so it does from then on."""
        self._waits = self._stepping = True
        try:
            yield
        finally:
            self._stepping = False


@contextmanager
def stop_between_steps() -> Iterator[Stop]:
    """End the run between two steps on Ctrl-C and SIGTERM, so that every buffer is whole.

    In other threads they are unchanged, and where something else handles or ignores them.
    """
    stop = Stop()
    taken: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        usual = {
            signal.SIGINT: [signal.default_int_handler],
            signal.SIGTERM: [signal.SIG_DFL, stop_at_sigterm],
        }
        if _ALARM is not None and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0):
            usual[_ALARM] = [signal.SIG_DFL]
        handlers = {number: signal.getsignal(number) for number in usual}
        taken = {number: each for number, each in handlers.items() if each in usual[number]}
    for number in taken:
        signal.signal(number, stop.handle)
    try:
        yield stop
    finally:
        if _ALARM in taken:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, each in taken.items():
            signal.signal(number, each)
