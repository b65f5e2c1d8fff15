"""A distribution from outside of the workspace: installed beside the kernel and solvers, found, tested and run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("wheels")

ROOT = Path(__file__).resolve().parents[2]
ARM = ROOT / "examples" / "third_party" / "torsion-arm"


def test_its_source_is_small_and_knows_only_the_plugin_side_of_the_kernel():
    sources = list(ARM.glob("src/**/*.py"))
    assert sum(len(path.read_text().splitlines()) for path in sources) < 250
    text = "\n".join(path.read_text() for path in sources)
    assert not [
        room for room in ("engine", "simulation", "scenario", "cli") if f"from corekit.{room}" in text
    ]


def test_an_arm_from_outside_is_installed_found_tested_and_run(environment, tmp_path):
    programs = environment("torsion-arm[contact,test]", "corekit-record", "corekit-inspect", source=ARM)

    def corekit(*words):
        done = subprocess.run(
            [programs / "corekit", *map(str, words)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = {row["name"]: row for row in json.loads(corekit("list", "--json"))["components"]}
    assert listed["torsion-arm"]["distribution"] == "torsion-arm"
    assert listed["torsion-arm"]["status"] == "ok"
    assert "N·m/rad" in corekit("info", "torsion-arm")

    tested = subprocess.run(
        [programs / "python", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", ARM], cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert tested.returncode == 0, tested.stdout
    # nothing is skipped but checks that the kit says do not apply
    skipped = [line for line in tested.stdout.splitlines() if line.startswith("SKIPPED")]
    assert all("corekit_testing" in line for line in skipped), skipped

    corekit("run", ARM / "scenarios" / "arm_on_sphere.toml", "--quiet")
    (folder,) = (tmp_path / "runs").iterdir()
    assert (folder / "results.nc").exists()
