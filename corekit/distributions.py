"""What installed distributions declare to corekit; a damaged one costs no more than what cannot be read of it.

`importlib.metadata.entry_points` reads the files of all distributions at once and raises at the first line that is no
entry point, whoever's it is. Here each file is read by itself, and one sentence says what is wrong with it.
"""

from __future__ import annotations

import os
import re
import sys
from email.message import Message
from email.parser import HeaderParser
from functools import lru_cache
from importlib import metadata
from pathlib import PurePath
from typing import Any, NamedTuple

from attrs import field, frozen

__all__ = [
    "GROUP_PREFIX",
    "KERNEL",
    "Distribution",
    "EntryPoint",
    "changed",
    "distributions",
    "entry_points",
    "import_path",
    "version_of",
]

KERNEL = "corekit-kernel"
GROUP_PREFIX = "corekit."
_FILE = "entry_points.txt"
_TARGET = re.compile(r"\w+(\.\w+)*\s*(:\s*\w+(\.\w+)*)?\s*(\[.*\])?")
_PATHS = 8
"""Import paths whose distributions are kept: programs that extend theirs for a moment come back to the one before."""


class EntryPoint(NamedTuple):
    """A name that a distribution declares in a group, and the `package.module:object` behind it."""

    name: str
    value: str
    group: str
    distribution: str = ""
    version: str = "unknown"

    def load(self) -> Any:
        """Import the object; whatever its module raises is raised."""
        return metadata.EntryPoint(self.name, self.value, self.group).load()


@frozen(eq=False)
class Distribution:
    """An installed distribution with something of corekit's in its files.

    Args:
        name, version: as its metadata say; without those, as the folder is called in which they should be.
        entries: its entry points in groups of corekit.
        about: its metadata without the description; empty where they are missing.
        damage: what is wrong with its files and what to do, in one sentence; empty if nothing is.
    """

    name: str
    version: str
    entries: tuple[EntryPoint, ...]
    about: Message = field(factory=Message)
    damage: str = ""


def distributions() -> tuple[Distribution, ...]:
    """Return all of them, the first of a name on the import path; they are kept until a folder of the path changes."""
    return _distributions(import_path())


def entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, sorted by name."""
    found = [entry for each in distributions() for entry in each.entries if entry.group == group]
    return sorted(found)


def import_path() -> tuple[tuple[str, int], ...]:
    """Return the folders of the import path and when each last changed: what is found there is the same till then."""
    folders = [folder or os.getcwd() for folder in sys.path]
    return tuple((folder, changed(folder)) for folder in folders)


def changed(path: str) -> int:
    """Return when a file, or what lies in a folder, last changed [ns]; -1 if there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return -1


def version_of(distribution: str) -> str | None:
    """Return the version of an installed distribution, `unknown` if it does not say; None if there is none."""
    try:
        return _headers(metadata.distribution(distribution))["Version"] or "unknown"
    except metadata.PackageNotFoundError:
        return None


@lru_cache(maxsize=_PATHS)
def _distributions(_path: tuple[tuple[str, int], ...]) -> tuple[Distribution, ...]:
    found: dict[str, Distribution] = {}
    for each in metadata.distributions():
        read = _read(each)
        if read is not None:
            found.setdefault(re.sub(r"[-_.]+", "-", read.name).lower(), read)
    return tuple(found.values())


def _read(found: metadata.Distribution) -> Distribution | None:
    """Read a distribution; None if nothing in it is corekit's."""
    text = _text(found, _FILE)
    if text is None:
        return None
    is_ours = f"[{GROUP_PREFIX}" in text
    if not is_ours and (_has_group(text) or KERNEL not in (_text(found, "METADATA") or "")):
        return None
    about = _headers(found)
    folder = PurePath(str(getattr(found, "_path", ""))).name.rpartition(".")[0]
    of_folder, _, version = folder.partition("-")
    name, version = about["Name"] or of_folder.replace("_", "-"), about["Version"] or version or "unknown"
    if not name:
        return None
    pairs, wrong = _pairs(text)
    if not is_ours:
        wrong = [f"its {_FILE} declares nothing"]
    if not about["Name"]:
        wrong.append("its METADATA are missing or cannot be read")
    damage = f"{'; '.join(wrong)}: pip install --force-reinstall {name}" if wrong else ""
    entries = tuple(EntryPoint(*pair, name, version) for pair in pairs)
    return Distribution(name, version, entries, about, damage)


def _headers(found: metadata.Distribution) -> Message:
    """Parse the metadata of a distribution without the description below them, which is most of the text."""
    text = _text(found, "METADATA") or _text(found, "PKG-INFO") or ""
    return HeaderParser().parsestr(text.partition("\n\n")[0])


def _text(found: metadata.Distribution, file: str) -> str | None:
    """Return the text of a file of a distribution, bytes that are no text replaced; None without the file."""
    try:
        return found.read_text(file)
    except UnicodeDecodeError as error:
        return error.object.decode("utf-8", "replace")
    except OSError:
        return None


def _has_group(text: str) -> bool:
    return any(line.startswith("[") and line.rstrip().endswith("]") for line in text.splitlines())


def _pairs(text: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Return name, value and group of every entry point of ours, and what is wrong with the other lines."""
    pairs: list[tuple[str, str, str]] = []
    wrong: list[str] = []
    group = ""
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif line and line[0] not in "#;":
            name, equals, value = (part.strip() for part in line.partition("="))
            is_ours = group.startswith(GROUP_PREFIX)
            if not (name and equals) or (is_ours and ("\ufffd" in name or not _TARGET.fullmatch(value))):
                wrong.append(f"line {number} of its {_FILE}, {line[:60]!r}, is no entry point")
            elif is_ours:
                pairs.append((name, value, group))
    return pairs, wrong[:1]
