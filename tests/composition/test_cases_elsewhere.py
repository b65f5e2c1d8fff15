"""Cases of papers that are made over a cluster: their rows and files are those of this computer."""

from __future__ import annotations

import json

import numpy as np
import pytest

import corekit
from corekit.cli import main

pytest.importorskip("corekit_dask", reason="corekit-dask is not installed")
pytest.importorskip("corekit_vine", reason="corekit-vine is not installed")

CASE = "vine/oscillation"


def rows(report):
    (case,) = report["cases"]
    assert case["rows"]
    return case["rows"]


def test_a_case_that_a_worker_makes_has_the_rows_and_records_of_one_made_here(tmp_path, capsys):
    """No disk is taken for shared: its files come back as data."""
    reports = {}
    for name, words in (("here", ()), ("there", ("--scheduler", "local", "--jobs", "1"))):
        told = tmp_path / f"{name}.json"
        assert main(["reproduce", CASE, "--out", str(tmp_path / name), "--json", str(told), *words]) == 0
        reports[name] = json.loads(told.read_text())
    assert rows(reports["here"]) == rows(reports["there"])
    records = {name: sorted((tmp_path / name).rglob("results.nc")) for name in reports}
    assert records["here"]
    for mine, other in zip(records["here"], records["there"], strict=True):
        assert mine.parent.name == other.parent.name
        assert np.array_equal(corekit.Results(mine.parent).q, corekit.Results(other.parent).q)
