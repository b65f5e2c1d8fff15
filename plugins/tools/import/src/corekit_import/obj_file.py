"""Vertices and triangles of a Wavefront OBJ file, with the line of what is wrong.

Of its lines `v x y z` and `f a b c …` count. An index of a face is the number of a vertex, the first of which is 1, or
counts back from the last one above the face, which is −1; what follows it behind slashes belongs to pictures. Faces of
more than three corners become fans. A backslash at the end continues a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.files import read_regular
from corekit_import.mesh_source import ImportProblem

__all__ = ["read_obj"]


def read_obj(path: Path) -> tuple[Array, IntArray]:
    """Vertices, shape (n, 3), and triangles, shape (t, 3), with indices from 0.

    Raises:
        ImportProblem: a line that cannot be read, or a face with a vertex that there is not.
    """
    vertices: list[tuple[float, ...]] = []
    triangles: list[tuple[int, int, int]] = []
    ahead: list[tuple[int, int]] = []  # line and index of vertices that no line above a face has
    for number, line in _lines(path):
        kind, *words = line.split("#", 1)[0].split() or [""]
        if kind == "v":
            vertices.append(_vertex(number, words))
        elif kind == "f":
            corners = [_corner(number, word, len(vertices)) for word in words]
            if len(corners) < 3:
                raise ImportProblem(f"line {number}: a face must have three vertices or more")
            ahead += [(number, corner) for corner in corners if corner >= len(vertices)]
            triangles += [(corners[0], *pair) for pair in pairwise(corners[1:])]
    for number, corner in ahead:
        if corner >= len(vertices):
            raise ImportProblem(_no_vertex(number, corner + 1, f"the file has {len(vertices)}"))
    return np.array(vertices).reshape(-1, 3), np.array(triangles, dtype=np.int64).reshape(-1, 3)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with the number of their first; a backslash joins one with the next."""
    text, begun, start = read_regular(path).decode(errors="replace"), "", 0
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        start = start if begun else number
        begun += line.rstrip()
        if begun.endswith("\\"):
            begun = f"{begun[:-1]} "
        else:
            yield start, begun
            begun = ""
    yield start, begun


def _vertex(number: int, words: list[str]) -> tuple[float, ...]:
    try:
        x, y, z = map(float, words[:3])
    except ValueError:
        raise ImportProblem(f"line {number}: v {' '.join(words)}: must be three numbers") from None
    return x, y, z


def _corner(number: int, word: str, above: int) -> int:
    """Index from 0 of a vertex of a face; of one ahead too."""
    try:
        index = int(word.partition("/")[0])
    except ValueError:
        raise ImportProblem(f"line {number}: {word!r} must begin with the index of a vertex") from None
    if index == 0 or index < -above:
        raise ImportProblem(
            _no_vertex(number, index, f"counted from 1, or back from -1, {above} stand above it")
        )
    return index - 1 if index > 0 else above + index


def _no_vertex(number: int, index: int, why: str) -> str:
    return f"line {number}: a face has the vertex {index}, which there is not: {why}"
