"""The README's example runs as printed."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

from corekit.scenario.load import find_shipped

ROOT = Path(__file__).parents[2]


def test_the_python_example_runs_as_printed(tmp_path):
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len([line for line in block.splitlines() if line.strip()]) <= 10
    # run from elsewhere, with the repository's scenarios beside it, so that its run folder lands in tmp_path
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    done = subprocess.run(
        [sys.executable, "-c", block],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ},
    )
    height, carried = done.stdout.splitlines()
    assert re.fullmatch(r"tip height at 0\.20 s: -0\.\d{3} m", height)
    assert re.fullmatch(r"\d+ contacts carry \d+\.\d N", carried)
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_every_file_it_links_to_is_there():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


def test_every_scene_of_the_gallery_is_shipped_and_shown():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for scene in runpy.run_path(str(ROOT / "docs" / "gallery.py"))["SCENES"]:
        assert find_shipped(scene.source) is not None
        assert f"docs/images/{scene.name}.png" in text
        assert f"corekit {scene.verb} {scene.source}" in text
        assert (ROOT / "docs" / "images" / f"{scene.name}.png").stat().st_size < 150_000
