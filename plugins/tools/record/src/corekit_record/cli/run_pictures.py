"""Pictures of a run at its end, by processes that import what they draw with while the run still steps."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, final

from corekit.errors import CorekitError, ResultsError
from corekit.interpreters import safe_children
from corekit.scenario.schema import run_name_problem
from corekit_record.cli.pictures import InstalledViewer, draw, installed_viewers
from corekit_record.results import Results
from corekit_run.plugin_errors import named_errors
from corekit_run.processes import end_with_parent, process_count

__all__ = ["RunPictures"]

_ENDINGS = (".png", ".html")


@final
class RunPictures:
    """A file for every viewer and ending of pictures and replays; made before the run, to name a missing viewer.

    Half of the time of a short run goes into importing and drawing. Of n files, n − 1 have a process of their own, as
    far as there are cores beside this one; the others are drawn here. With `COREKIT_PROCESSES=1` all are drawn here.

    Args:
        viewers: `installed_viewers`, without options.
    """

    def __init__(self, viewers: Sequence[InstalledViewer]) -> None:
        self._files = [(each, end) for each in viewers for end in _ENDINGS if end in each.viewer.suffixes]
        apart = min(len(self._files), process_count()) - 1
        self._apart = [_Apart(each.name) for each, _ in self._files[: max(apart, 0)]]

    def make(self, folder: Path) -> list[Path]:
        """Draw the run in a folder, and return the files.

        Raises:
            ResultsError: there is nothing to draw, or a file cannot be written.
        """
        results = Results(folder)
        # records that go on may be a stranger's: their title is part of a path only where a scenario's name could be
        name = results.title if run_name_problem(results.title) is None else "run"
        paths: list[Path] = []
        for viewer, end in self._files:
            path = folder / f"{name}{end}"
            # the second of one ending bears its viewer's name
            paths.append(folder / f"{name}-{viewer.name}{end}" if path in paths else path)
        for process, path in zip(self._apart, paths, strict=False):
            process.begin(results.path, path)
        for (viewer, _), path in list(zip(self._files, paths, strict=True))[len(self._apart) :]:
            draw(results, path, viewer)
        for process, path in zip(self._apart, paths, strict=False):
            process.finish(path)
        return paths


class _Apart:
    """A process that draws one file; it ends with this one.

    Args:
        viewer: name of the installed viewer.
    """

    def __init__(self, viewer: str) -> None:
        context = get_context("spawn")
        self._end, theirs = context.Pipe()
        self._process = context.Process(target=_draw_apart, args=(theirs, viewer), daemon=True)
        with safe_children():
            self._process.start()
        theirs.close()

    def begin(self, folder: Path, path: Path) -> None:
        """Draw the run in a folder into a file by it."""
        with suppress(OSError):  # it was ended: `finish` says so
            self._end.send((folder, path))

    def finish(self, path: Path) -> None:
        """Wait until the file is drawn, and raise what went wrong."""
        try:
            error = self._end.recv()
        except (EOFError, OSError) as ended:
            raise ResultsError(f"cannot write {path}: the process that drew it was ended") from ended
        self._process.join()
        if error is not None:
            raise error


def _draw_apart(ours: Connection[Any, Any], name: str) -> None:
    """Get ready for a run to draw, draw it, and answer with what went wrong or None."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the command, which says so once
    end_with_parent()
    error: CorekitError | None = None
    try:
        chosen = installed_viewers(name)[0]
        with named_errors():
            chosen.viewer.prepare()
        folder, path = ours.recv()
        draw(Results(folder), path, chosen)
    except CorekitError as caught:
        error = caught
    except EOFError:  # the run has failed
        return
    ours.send(error)
