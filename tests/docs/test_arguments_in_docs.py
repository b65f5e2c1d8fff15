"""Every argument that a docstring of the kernel explains is one that the class or function takes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

KERNEL = Path(__file__).resolve().parents[2] / "corekit"
_NAMES = r"((?:\w+, )*\w+): "


def explained(docstring: str) -> Iterator[str]:
    """Names that stand before a colon in the block `Args:`, at the begin of an entry or of a sentence in one."""
    block = re.search(r"^Args:\n((?:    .*\n?|\n)*)", docstring, re.MULTILINE)
    for line in block[1].splitlines() if block else ():
        if re.match(r"    \S", line):
            for names in re.findall(rf"(?:^    |\. ){_NAMES}", line):
                yield from names.split(", ")


def taken(node: ast.AST) -> set[str] | None:
    """Arguments of a function, of a class's `__init__`, or the fields of which attrs makes one; None if inherited."""
    if isinstance(node, ast.FunctionDef):
        arguments = node.args
        single = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        return {
            each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *single)
        }
    if not isinstance(node, ast.ClassDef):
        return None
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            return taken(each)
    fields = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
    return {each.id for each in fields if isinstance(each, ast.Name)} or (None if node.bases else set())


def unknown(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        known = taken(node)
        if known is not None and isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield from (
                f"{node.lineno} {node.name}: {name}"
                for name in explained(ast.get_docstring(node) or "")
                if name not in known
            )


@pytest.mark.parametrize(
    "room", sorted(path for path in KERNEL.iterdir() if path.is_dir()), ids=lambda path: path.name
)
def test_the_kernel_explains_arguments_that_it_takes(room):
    found = {path.name: list(unknown(path.read_text(encoding="utf-8"))) for path in room.glob("*.py")}
    assert not {name: wrong for name, wrong in found.items() if wrong}


def test_an_argument_that_was_renamed_is_found():
    source = (
        'def f(a, b):\n    """Add.\n\n    Args:\n        a: one. c: none.\n        d, b: others.\n    """\n'
    )
    assert list(unknown(source)) == ["1 f: c", "1 f: d"]
