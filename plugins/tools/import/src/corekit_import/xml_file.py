"""XML read with all problems collected: numbers in attributes, references by name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring
from xml.parsers.expat import ExpatError, ParserCreate

from attrs import field, frozen

from corekit.errors import Mistake
from corekit.files import read_regular
from corekit.registry.resolve import did_you_mean
from corekit_import.mesh_source import ImportProblem

__all__ = ["XmlReader", "read_xml", "shown_element"]

_LARGEST = 1e12
"""No number of a robot is larger."""
_MOST_BYTES, _MOST_ELEMENTS, _DEEPEST = 1 << 26, 100_000, 400
"""Of a file, with attributes, and of elements within elements; reading more takes minutes, or much memory."""

_SHOWN = 120
"""Characters of a name or a value in a message."""


def read_xml(path: Path, root: str) -> Element:
    """The root element of a file.

    Raises:
        ImportProblem: it is no XML, declares entities, is larger than any robot, or its root is another one.
    """
    try:
        text = read_regular(path, _MOST_BYTES)
    except OSError as error:
        raise ImportProblem(f"cannot be read ({error.strerror or error})") from error
    try:
        _refuse(text)
        found = fromstring(text)  # noqa: S314 - without entities nothing can be expanded
    except (ExpatError, ParseError, ValueError, LookupError, RecursionError) as error:
        raise ImportProblem(f"is not XML: {error}") from error
    if found.tag != root:
        raise ImportProblem(f"must have the root element <{root}>, has <{found.tag}>")
    return found


def _refuse(text: bytes) -> None:
    """Refuse a document type, which is where entities are declared, in whatever encoding the file is, and vast trees.

    Raises:
        ImportProblem: there is one; nothing in it was expanded.
        ExpatError, ValueError, LookupError: it is no XML, or in no encoding of texts.
    """
    count = depth = 0

    def refuse_declaration(*_declared: object) -> None:
        raise ImportProblem("must declare no document type and no entities")

    def begin(_tag: str, attributes: dict[str, str]) -> None:
        nonlocal count, depth
        count, depth = count + 1 + len(attributes), depth + 1
        if count > _MOST_ELEMENTS:
            raise ImportProblem(f"must have at most {_MOST_ELEMENTS} elements and attributes")
        if depth > _DEEPEST:
            raise ImportProblem(f"must have at most {_DEEPEST} elements within each other")

    def end(_tag: str) -> None:
        nonlocal depth
        depth -= 1

    parser = ParserCreate()
    parser.StartDoctypeDeclHandler = refuse_declaration
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.Parse(text, True)


def shown_element(element: Element) -> str:
    """An element as a mistake shows it: its tag and name."""
    name = element.get("name")
    return f"<{_short(element.tag)}>" if name is None else f'<{_short(element.tag)} name="{_short(name)}">'


def _short(text: str) -> str:
    """What a message shows of a text."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


@frozen
class XmlReader:
    """Reads attributes; every problem becomes a mistake, and reading goes on with the default.

    Args:
        path: where the scenario names the file.
        file: its name as given there.

    Attributes:
        mistakes: what was wrong so far.
        doubts: sentences on what of the file is not read and may be missed, or is improbable.
    """

    path: str
    file: str
    mistakes: list[Mistake] = field(factory=list)
    doubts: list[str] = field(factory=list)

    def problem(self, element: Element, allowed: str, hint: str = "") -> None:
        """Add a mistake in an element."""
        self.mistakes.append(Mistake(self.path, f"{self.file}: {shown_element(element)}", allowed, hint))

    def refuse_attributes(self, element: Element, sentences: Mapping[str, str]) -> None:
        """Refuse attributes that are there: attribute → sentence."""
        for key, sentence in sentences.items():
            if key in element.attrib:
                self.problem(element, sentence)

    def refuse_misspelt(self, element: Element, words: Iterable[str], known: Sequence[str]) -> None:
        """Refuse words of an element that are nearly a known one: left out, they would be missed."""
        for word in words:
            if word not in known and (near := did_you_mean(word, known)):
                self.problem(element, f"{word!r} is not read{near}")

    def numbers(
        self, element: Element | None, key: str, count: int, default: tuple[float, ...]
    ) -> tuple[float, ...]:
        """The `count` numbers of an attribute; the default where the element or the attribute is absent."""
        text = None if element is None else element.get(key)
        if element is None or text is None:
            return default
        try:
            values = tuple(float(word) for word in text.split())
        except ValueError:
            values = ()
        if len(values) == count and all(abs(value) <= _LARGEST for value in values):
            return values
        many = "a number" if count == 1 else f"{count} numbers"
        many += f" up to {_LARGEST:g}" if len(values) == count else ""
        self.problem(element, f"{key}={_short(text)!r}: must be {many}")
        return default

    def number(self, element: Element | None, key: str, default: float, *, low: float = -math.inf) -> float:
        """The number of an attribute, at least `low`."""
        (value,) = self.numbers(element, key, 1, (default,))
        if value >= low or element is None:
            return value
        self.problem(element, f"{key}={value:g}: must be at least {low:g}")
        return default
