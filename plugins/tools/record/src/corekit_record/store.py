"""A NetCDF file that grows along unlimited dimensions and is published whole, so that it is always readable.

HDF5 writes its tables of contents in place: a process killed inside a flush leaves one in five such
instants as a file that no tool opens. The file therefore grows as a nameless temporary one, and `publish`
puts a copy of it under its name in one atomic replacement: a reader of the name, during the run or after a
kill, finds a complete file of the last publication.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from corekit.errors import ResultsError
from corekit.files import PATIENCE, FileHeldOpen, write_whole
from corekit_record.digest import copy_and_seal, copy_checked
from corekit_record.netcdf_file import Variable, create_netcdf
from corekit_record.results_file import report_damage
from corekit_record.unfailing_file import UnfailingFile

__all__ = ["GrowingFile"]


class GrowingFile:
    """A file that grows and is published.

    Args:
        path: the name it is published under.
        dimensions: size of each dimension, None for those that grow.
        variables: all there will ever be.
        attributes: of the file.
        kept: to go on with the file at `path`, entries of each growing dimension to keep of it; else None.
    Raises:
        ResultsError: the folder cannot be written to, or the file to go on with is not of this form.
    """

    def __init__(
        self,
        path: Path,
        dimensions: Mapping[str, int | None],
        variables: Sequence[Variable],
        attributes: Mapping[str, Any],
        kept: Mapping[str, int] | None = None,
    ) -> None:
        self.path = path
        try:
            self._work = UnfailingFile(path.parent)
            if kept is None:
                create_netcdf(self._work, dimensions, variables, attributes)
            else:
                copy_checked(path, self._work.write)
            self._raise_if_refused()
        except OSError as error:
            raise ResultsError(f"cannot write results into {path.parent}: {_reason(error)}") from error
        with nullcontext() if kept is None else report_damage(path):
            self._enter(dimensions, variables)
            if kept is not None:
                self._rewind(kept)

    def _enter(self, dimensions: Mapping[str, int | None], variables: Sequence[Variable]) -> None:
        """Open the file and find its growing variables."""
        import h5py

        self._file = h5py.File(self._work, "r+")
        growing = {name for name, size in dimensions.items() if size is None}
        # a dimension without a variable of its name has a stand-in that has to grow with it
        named = {variable.name for variable in variables}
        self._stand_ins: dict[str, Any] = {name: self._file[name] for name in growing - named}
        self._length = dict.fromkeys(growing, 0)
        self._growing: dict[str, dict[str, Any]] = {
            dimension: {
                variable.name: self._file[variable.name]
                for variable in variables
                if variable.dimensions[:1] == (dimension,)
            }
            for dimension in growing
        }

    def _rewind(self, kept: Mapping[str, int]) -> None:
        """Drop the entries beyond `kept`."""
        for dimension, length in kept.items():
            datasets = [*self._growing[dimension].values()]
            if dimension in self._stand_ins:
                datasets.append(self._stand_ins[dimension])
            for dataset in datasets:
                if len(dataset) < length:
                    raise ResultsError(
                        f"{self.path} holds {len(dataset)} entries of {dataset.name[1:]!r}, the checkpoint belongs to "
                        f"{length}: it is not the file of this run"
                    )
                dataset.resize(length, axis=0)
            self._length[dimension] = length

    def length(self, dimension: str) -> int:
        """Return the entries along a growing dimension."""
        return self._length[dimension]

    def append(self, dimension: str, count: int, values: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Add `count` entries along a growing dimension: `values` holds them for each of its variables."""
        begin = self._length[dimension]
        end = begin + count
        try:
            if dimension in self._stand_ins:
                self._stand_ins[dimension].resize(end, axis=0)
            for name, dataset in self._growing[dimension].items():
                dataset.resize(end, axis=0)
                dataset[begin:end] = values[name][:count]
            self._raise_if_refused()
        except OSError as error:
            raise self._cannot_write(error) from error
        self._length[dimension] = end

    def set_attribute(self, name: str, key: str, value: Any) -> None:
        """Write an attribute of a variable, or of the whole file if `name` is empty."""
        (self._file[name] if name else self._file).attrs[key] = value

    def publish(self, patience: float = 0.0) -> bool:
        """Put a complete copy of the file, as it is now, under its name.

        Args:
            patience: how long to wait for another program that has the published file open [s].
        Returns:
            False if it still had; then what was published before is still there.
        Raises:
            ResultsError: the disk is full or the folder has gone.
        """
        try:
            # often, and a copy that a power failure takes can be made anew from the last checkpoint
            write_whole(self.path, self._copy, durable=False, patience=patience)
        except FileHeldOpen:
            return False
        except OSError as error:
            raise self._cannot_write(error) from error
        return True

    def _copy(self, path: Path) -> None:
        """Write a copy of the file as it is now, sealed."""
        self._file.flush()
        self._raise_if_refused()
        self._work.seek(0)
        copy_and_seal(self._work, path)

    def _raise_if_refused(self) -> None:
        """Raise the OSError of the first write that the disk refused, which HDF5 does not know of."""
        if self._work.error is not None:
            raise self._work.error

    def _cannot_write(self, error: OSError) -> ResultsError:
        return ResultsError(f"cannot write {self.path}: {_reason(error)}")

    def close(self) -> None:
        """Publish for the last time and close the temporary file.

        Raises:
            ResultsError: the disk is full or the folder has gone; or another program keeps the published file open:
                then a whole copy lies beside it.
        """
        if self._work.closed:
            return
        try:
            if not self.publish(PATIENCE):
                raise self._left_beside()
        finally:
            self._file.close()
            self._work.close()

    def _left_beside(self) -> ResultsError:
        """Write what could not be published under a name of its own, and return the error."""
        beside = self.path.with_name(f"{self.path.stem}-{os.getpid()}{self.path.suffix}")
        try:
            self._copy(beside)
        except OSError as error:
            return self._cannot_write(error)
        return ResultsError(
            f"another program has {self.path} open, so it ends before its last records. Close it there, then rename "
            f"{beside.name}, which holds them all, to {self.path.name}"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
