"""A contact solver installed alone brings the kernel and what it declares, and says what else a run takes."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.xdist_group("wheels")

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = {"casadi", "osqp", "piqp", "matplotlib", "viser", "pytest"}


def test_lcp_alone_brings_only_what_it_declares_and_lists_only_its_own(environment, distributions, closure):
    lcp = distributions["corekit-lcp"]
    programs = environment("corekit-lcp", "corekit-inspect")
    code = "from importlib.metadata import distributions as d; print(*{x.name for x in d()}, sep='\\n')"
    output = subprocess.check_output([programs / "python", "-c", code], text=True)
    arrived = {canonicalize_name(name) for name in output.split()}
    assert {name for name in arrived if name.startswith("corekit-")} == {
        "corekit-lcp", "corekit-complementarity", "corekit-kernel", "corekit-inspect", "corekit-run",
    }  # fmt: skip
    assert not arrived & FOREIGN
    assert arrived <= closure(
        [*lcp.project["dependencies"], "corekit-lcp", "corekit-kernel", "corekit-inspect"]
    )

    listing = json.loads(subprocess.check_output([programs / "corekit", "list", "--json"], text=True))
    listed = {(row["role"], row["name"]) for row in listing["components"]}
    assert listed == lcp.components | distributions["corekit-complementarity"].components
    assert all(row["status"] == "ok" for row in listing["components"])
    offered = {(row["role"], row["name"]): row["install"] for row in listing["not_installed"]}
    assert offered["models", "pcc"] == "pip install corekit-pcc"
    assert offered["contact_detectors", "sdf"] == "pip install corekit-sdf"

    info = subprocess.run(
        [programs / "corekit", "info", "contact_solvers.lcp"], capture_output=True, text=True, check=False
    )
    assert info.returncode == 0, info.stderr
    assert "needs beside it: LCP solver" in info.stdout
    absent = subprocess.run(
        [programs / "corekit", "info", "pcc"], capture_output=True, text=True, check=False
    )
    assert absent.returncode == 2
    assert "pip install corekit-pcc" in absent.stderr


def test_what_a_scenario_names_and_the_line_of_the_first_message_make_a_run(environment, wheels, tmp_path):
    programs = environment("corekit-pcc", "corekit-lcp", "corekit-sdf", "corekit-timestep")

    def run():
        return subprocess.run(
            [programs / "corekit", "run", ROOT / "scenarios/cusp/inclined_box.toml", "--set", "time.duration=0.002"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip

    first = run()
    assert first.returncode == 2
    (line,) = first.stderr.splitlines()
    pip, install, name = shlex.split(line.partition(": ")[2])
    assert (pip, install) == ("pip", "install")
    subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "--python", str(programs / "python"), "install", "--no-index",
         "--no-compile", "--find-links", str(wheels), name],
        check=True, timeout=600,
    )  # fmt: skip
    second = run()
    assert second.returncode == 0, second.stderr
    assert "finished" in second.stdout
