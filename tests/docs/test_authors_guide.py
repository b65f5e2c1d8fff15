"""The guide of authors: the table of words is that of the kernel and of all components, and its kernel computes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from corekit.registry.discover import discover
from corekit.registry.resolve import read_spec
from corekit.registry.spec import ABILITIES, ROLES

GUIDE = (Path(__file__).resolve().parents[2] / "docs/authors_guide.md").read_text()


def chapter(title: str) -> str:
    (text,) = re.findall(rf"^## \d+\. {title}\n(.*?)(?=^## |\Z)", GUIDE, re.MULTILINE | re.DOTALL)
    return text


def rows() -> dict[str, tuple[list[set[str]], set[str]]]:
    """Role → sets of words of which one is a must, and all words."""
    found = {}
    for line in chapter("The words in provides").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 4 and not cells[0].startswith(("role", "-")):
            musts = [set(re.findall(r"`([^`]+)`", part)) for part in cells[1].split(";")]
            musts = [must for must in musts if must]
            found[cells[0]] = musts, set().union(*musts, re.findall(r"`([^`]+)`", cells[2]))
    return found


def test_the_table_has_every_role_and_every_word_of_the_kernel():
    assert list(rows()) == list(ROLES.values())
    assert set().union(*(words for _, words in rows().values())) == set(ABILITIES)


@pytest.mark.parametrize("row", discover(), ids=lambda row: f"{row.role}.{row.name}")
def test_every_component_keeps_to_the_row_of_its_role(row):
    spec = read_spec(row)
    musts, words = rows()[ROLES[row.role]]
    assert {word for word in spec.provides if ":" not in word} <= words
    for must in musts:
        assert len(must & spec.provides) == 1


def test_the_kernel_of_the_guide_is_that_of_springs():
    (code,) = re.findall(r"```python\n(.*?)```", chapter("Make it fast"), re.DOTALL)
    lines = [line.removeprefix("   ") for line in code.splitlines()]
    names: dict = {}
    exec("\n".join(line for line in lines if "compiled" not in line), names)
    x = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 0.2, 0.0]])
    out = np.ones((3, 3))
    names["chain_forces"](x, 10.0, 0.3, out)
    # Hooke's law: 10·(0.5 − 0.3) along x draws both ends together, 10·(0.2 − 0.3) along y pushes
    assert out == pytest.approx(np.array([[2.0, 0.0, 0.0], [-2.0, -1.0, 0.0], [0.0, 1.0, 0.0]]))
