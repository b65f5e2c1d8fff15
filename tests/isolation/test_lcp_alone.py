"""A contact solver installed alone brings the kernel and what it declares, and says what else it takes."""

from __future__ import annotations

import json
import subprocess

import pytest
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.xdist_group("wheels")

FOREIGN = {"casadi", "osqp", "piqp", "matplotlib", "viser", "pytest"}


def test_lcp_alone_brings_only_what_it_declares_and_lists_only_its_own(environment, distributions, closure):
    lcp = distributions["corekit-lcp"]
    programs = environment("corekit-lcp", "corekit-inspect")
    code = "from importlib.metadata import distributions as d; print(*{x.name for x in d()}, sep='\\n')"
    output = subprocess.check_output([programs / "python", "-c", code], text=True)
    arrived = {canonicalize_name(name) for name in output.split()}
    assert {name for name in arrived if name.startswith("corekit-")} == {
        "corekit-lcp", "corekit-kernel", "corekit-inspect", "corekit-run",
    }  # fmt: skip
    assert not arrived & FOREIGN
    assert arrived <= closure(
        [*lcp.project["dependencies"], "corekit-lcp", "corekit-kernel", "corekit-inspect"]
    )

    listing = json.loads(subprocess.check_output([programs / "corekit", "list", "--json"], text=True))
    listed = {(row["role"], row["name"]) for row in listing["components"]}
    assert listed == lcp.components
    assert all(row["status"] == "ok" for row in listing["components"])
    offered = {(row["role"], row["name"]): row["install"] for row in listing["not_installed"]}
    assert offered["models", "pcc"] == "pip install corekit-pcc"
    assert offered["lcp_solvers", "lemke"] == "pip install corekit-complementarity"

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
