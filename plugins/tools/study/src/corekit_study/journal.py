"""Outcomes of a batch in its folder: one line a run, appended as soon as it is known, found again by name.

Parts of a batch that run elsewhere, or at the same time, write `outcomes-….jsonl` of their own; those of all parts
are read. Outcomes stay on the disk: what is kept in memory is where each line begins, so that its size does not
depend on them.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import final

from attrs import asdict, frozen

from corekit.errors import ResultsError
from corekit.files import check_regular, open_to_append
from corekit_run.output_file import writing
from corekit_study.run_task import Outcome

__all__ = ["OUTCOMES", "Journal"]

OUTCOMES = "outcomes.jsonl"
"""Name of the file of stored outcomes."""
_LONGEST_LINE = 1 << 28
"""Bytes of a line; one that is longer is none of ours."""


@frozen
class _Place:
    """Where an outcome stands: in which file, from which byte on, and the digest that it is of."""

    file: Path
    begin: int
    digest: str


@final
class Journal:
    """The outcomes in a folder.

    A line that a kill cut short counts as none.

    Args:
        folder: existing.
        part: `2-of-8` of one of the parts, which writes a file of its own; empty: of the whole.
    """

    def __init__(self, folder: Path, part: str = "") -> None:
        stem, ending = OUTCOMES.split(".")
        self._own = folder / (f"{stem}-{part}.{ending}" if part else OUTCOMES)
        self._places: dict[str, _Place] = {}
        try:
            for path in sorted(folder.glob(f"{stem}*.{ending}")):
                self._read(path)
        except OSError as error:
            raise ResultsError(f"cannot read the outcomes in {folder}: {error.strerror or error}") from error

    def _read(self, path: Path) -> None:
        check_regular(path)
        with path.open("rb") as file:
            begin, line = 0, b""
            while line := file.readline(_LONGEST_LINE):
                outcome = _outcome(line)
                if outcome is not None:
                    self._places[outcome.name] = _Place(path, begin, outcome.digest)
                begin += len(line)
                is_cut = not line.endswith(b"\n")
                if is_cut and path == self._own:
                    # nothing is written behind half a line
                    with writing(path), open_to_append(path) as end:
                        end.write("\n")

    def holds(self, name: str, digest: str) -> bool:
        """Whether the outcome of a run is stored, and is of this digest."""
        place = self._places.get(name)
        return place is not None and place.digest == digest

    def append(self, outcome: Outcome) -> None:
        """Store an outcome.

        Raises:
            ResultsError: it cannot be written.
        """
        with writing(self._own), open_to_append(self._own) as file:
            begin = os.fstat(file.fileno()).st_size
            file.write(json.dumps(asdict(outcome), ensure_ascii=False) + "\n")
        self._places[outcome.name] = _Place(self._own, begin, outcome.digest)

    def read(self, name: str) -> Outcome:
        """Return a stored outcome.

        Raises:
            ResultsError: there is none, or its file was changed since.
        """
        place = self._places.get(name)
        found = None
        if place is not None:
            with suppress(OSError), place.file.open("rb") as file:
                file.seek(place.begin)
                found = _outcome(file.readline(_LONGEST_LINE))
        if found is None or found.name != name:
            raise ResultsError(
                f"the outcome of {name} is not where it was stored: {self._own.parent} was changed"
            )
        return found


def _outcome(line: bytes) -> Outcome | None:
    with suppress(ValueError, TypeError, RecursionError):
        return Outcome(**json.loads(line.decode()))
    return None
