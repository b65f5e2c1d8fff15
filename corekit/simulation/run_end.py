"""End of a run: between two steps if the user stops it, with its reason in the folder."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, final

from corekit.errors import CorekitError, ResultsError, StepFailed
from corekit.simulation.folder import RunFolder

__all__ = ["Stop", "record_run_end", "step_file", "stop_between_steps"]


def step_file(folder: Path, error: StepFailed) -> Path:
    """Return the file that replays the failed step."""
    return folder / f"step-{error.step}.npz"


@contextmanager
def record_run_end(folder: RunFolder) -> Iterator[None]:
    """Write the error that ends the block into the run's folder and raise it again."""
    try:
        yield
    except BaseException as error:
        _write_run_end(folder, error)
        raise


def _write_run_end(folder: RunFolder, error: BaseException) -> None:
    """Write the reason into the folder if it is writable, and add the folder to the error."""
    stopped = isinstance(error, KeyboardInterrupt)
    word = "interrupted" if stopped else "failed"
    reason = str(error) or ("stopped by the user" if stopped else type(error).__name__)
    if not isinstance(error, CorekitError) and not stopped:
        reason = f"{type(error).__name__}: {reason}"
    what: dict[str, Any] = {"reason": reason}
    error.add_note(f"What was recorded is kept in {folder.path}")
    if isinstance(error, StepFailed):
        what |= {"step": error.step, "time_s": error.time, "body": error.body, "coordinate": error.coordinate}
        what["term"] = error.term
        if step_file(folder.path, error).exists():
            what["replay"] = step_file(folder.path, error).name
            error.add_note(f"That step alone: corekit run {step_file(folder.path, error)}")
    if stopped:
        error.add_note(f"To go on: corekit run --resume {folder.path}")
    try:
        folder.log(word, **what)
        folder.set_status(word, " ".join(reason.split()))
    except (OSError, ResultsError) as trouble:
        error.add_note(f"The status could not be written: {trouble}")


@final
class Stop:
    """Request of the user to stop: the run ends after the current step."""

    def __init__(self) -> None:
        self.wanted = False
        self.why: tuple[str, ...] = ()

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """Wait for the end of the step on the first Ctrl-C or SIGTERM, end at once on the second."""
        self.why = ("stopped by SIGTERM",) if number == signal.SIGTERM else ()
        if self.wanted:
            raise KeyboardInterrupt(*self.why)
        self.wanted = True


@contextmanager
def stop_between_steps() -> Iterator[Stop]:
    """End the run between two steps on Ctrl-C and SIGTERM, so that every buffer is whole.

    In other threads they are unchanged, and where something else handles or ignores them.
    """
    stop = Stop()
    taken: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
        taken = {number: each for number, each in usual.items() if signal.getsignal(number) == each}
    for number in taken:
        signal.signal(number, stop.handle)
    try:
        yield stop
    finally:
        for number, each in taken.items():
            signal.signal(number, each)
