"""The files that the pages about robots of one's own print: without a mistake, probable, and run as they are."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from corekit.cli import main
from corekit.scenario.load import load

FOLDER = Path(__file__).parents[2] / "docs" / "robots"
PAGES = sorted({*FOLDER.glob("*.md")} - {FOLDER / "index.md"})


def block(page: Path, language: str, begin: str) -> str:
    blocks = re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    (found,) = (text for text in blocks if text.startswith(begin))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_printed_robot_runs(page, tmp_path):
    if page.stem == "lagrangian":
        (tmp_path / "my_leg.py").write_text(block(page, "python", "import casadi"), encoding="utf-8")
    text = block(page, "toml", "format =")
    assert f'use = "{page.stem}"' in text
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    assert main(["check", str(file), "--strict", "--allow-code"]) == 0
    simulation = load(file, allow_code=True).compose()
    start = simulation.state.q.copy()
    for _ in range(10):
        simulation.step()
    assert not np.array_equal(simulation.state.q, start)


def test_the_tapered_finger_of_the_page_is_tapered(tmp_path):
    """12 mm at the base and 6 mm at the tip; the tendon stays inside it."""
    pytest.importorskip("corekit_gvs")
    file = tmp_path / "finger.toml"
    file.write_text(block(FOLDER / "gvs.md", "toml", "format ="), encoding="utf-8")
    simulation = load(file).compose()
    outline = simulation.bodies[0].model.compute_outline(simulation.state.body_states[0])
    assert outline.radius[0] == pytest.approx(0.012)
    assert outline.radius[-1] == pytest.approx(0.006)
    assert np.all(np.diff(outline.radius) <= 0.0)
    assert outline.radius[-1] > 0.008 - 0.035 * 0.12
