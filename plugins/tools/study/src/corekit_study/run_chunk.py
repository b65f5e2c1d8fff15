"""Runs that are handed over together: as bytes to whoever makes them, and their outcomes as bytes back.

Where the maker shares the disk, folders of runs are written where they belong. Elsewhere they are made in a folder
that is removed again, and their files come back in the answer, as data: what is written of them is decided here.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import asdict, frozen

from corekit.errors import ResultsError
from corekit_study.files_as_data import pack, unpack
from corekit_study.run_task import Outcome, Recipe, RunTask, make_run

__all__ = ["FUNCTION", "Chunk", "make_chunk"]

FUNCTION = "corekit_study.run_chunk:make_chunk"
"""What a scheduler calls."""


@frozen
class Chunk:
    """Runs of one recipe, one after the other.

    Args:
        tasks: at least one, all of the same recipe.
    """

    tasks: tuple[RunTask, ...]

    def as_bytes(self, folder: Path | None) -> bytes:
        """Return the argument of `make_chunk`.

        Args:
            folder: for the folders of the runs; None: of somebody who does not share the disk.
        """
        runs = [[task.name, task.digest, list(task.overrides)] for task in self.tasks]
        data = {
            "recipe": asdict(self.tasks[0].recipe),
            "folder": None if folder is None else str(folder),
            "runs": runs,
        }
        return json.dumps(data, ensure_ascii=False).encode()

    def outcomes(self, answer: bytes, folder: Path) -> list[Outcome]:
        """Return the outcomes in an answer of `make_chunk`; files that came with them are written into the folder.

        Raises:
            ResultsError: the answer is not of these runs, or a file cannot be written.
        """
        try:
            data = json.loads(answer)
            found = [Outcome(**each) for each in data["outcomes"]]
            asked = {task.name: task.digest for task in self.tasks}
            if {each.name: each.digest for each in found} != asked or len(found) != len(asked):
                raise ValueError("it is of other runs")
            files: Mapping[str, Mapping[str, str]] = data["files"]
            for name in files:
                if name not in asked:
                    raise ValueError(f"it holds files of {name!r}, which is none of its runs")
                unpack(files[name], folder / name)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ResultsError(
                f"whoever made the runs answered with what is no outcome of them: {error}"
            ) from error
        return found


def make_chunk(argument: bytes) -> bytes:
    """Make the runs of `Chunk.as_bytes`."""
    data = json.loads(argument)
    recipe = Recipe(**data["recipe"])
    tasks = [
        RunTask(name=name, recipe=recipe, overrides=tuple(overrides), digest=digest)
        for name, digest, overrides in data["runs"]
    ]
    if data["folder"] is not None:
        return _answer([make_run(task, Path(data["folder"])) for task in tasks], {})
    with tempfile.TemporaryDirectory(prefix="corekit-runs-") as made:
        folder = Path(made)
        outcomes = [make_run(task, folder) for task in tasks]
        files = {each.name: pack(each) for each in folder.iterdir() if each.is_dir()}
    return _answer(outcomes, files)


def _answer(outcomes: Sequence[Outcome], files: Mapping[str, Mapping[str, str]]) -> bytes:
    data = {"outcomes": [asdict(each) for each in outcomes], "files": files}
    return json.dumps(data, ensure_ascii=False).encode()
