"""The file that HDF5 writes to, which keeps what the disk refuses in memory.

After a write that failed HDF5 cannot close the file any more: it ends in a segmentation fault. So no write fails here.
The first error is kept for a reader, and ends the run.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import final

__all__ = ["UnfailingFile"]


@final
class UnfailingFile:
    """A nameless temporary file, as h5py writes to one.

    Args:
        folder: on whose disk it lies.

    Attributes:
        error: of the first write that failed, None before.
    Raises:
        OSError: the folder cannot be written to.
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - closed by `close`
        self.error: OSError | None = None
        self._at = self._end = 0
        self._spare: list[tuple[int, bytes]] = []

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._file.closed

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place and return it."""
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._end}[whence]
        return self._at

    def tell(self) -> int:
        """Return the place."""
        return self._at

    def write(self, data: bytes) -> int:
        """Write all of the data, to the disk or into memory."""
        view = memoryview(data).cast("B")
        if self.error is None:
            try:
                self._file.seek(self._at)
                done = 0
                while done < len(view):
                    done += self._file.write(view[done:])
            except OSError as error:
                self.error = error
        if self.error is not None:
            self._spare.append((self._at, bytes(view)))
        self._at += len(view)
        self._end = max(self._end, self._at)
        return len(view)

    def read(self, size: int = -1) -> bytes:
        """Read what was written; zeros where nothing was."""
        count = max(self._end - self._at, 0)
        buffer = bytearray(count if size < 0 else min(size, count))
        self.readinto(buffer)
        return bytes(buffer)

    def readinto(self, buffer: bytearray | memoryview) -> int:
        """Fill a buffer up to the end of the file and return the number of bytes."""
        view = memoryview(buffer).cast("B")
        begin, count = self._at, max(min(len(view), self._end - self._at), 0)
        self._file.seek(begin)
        done = 0
        while done < count and (some := self._file.readinto(view[done:count])):
            done += some
        view[done:count] = bytes(count - done)
        for place, data in self._spare:
            first, last = max(place, begin), min(place + len(data), begin + count)
            if first < last:
                view[first - begin : last - begin] = data[first - place : last - place]
        self._at += count
        return count

    def truncate(self, size: int | None = None) -> int:
        """Set the length."""
        length = self._at if size is None else size
        if self.error is None:
            try:
                self._file.truncate(length)
            except OSError as error:
                self.error = error
        self._end = length
        return length

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def close(self) -> None:
        """Close and remove it."""
        self._file.close()
