"""What a run used is what there is to cite."""

from __future__ import annotations

import json

import pytest

import corekit
from corekit.cli import main


def cited(capsys, *words):
    assert main(["cite", *map(str, words), "--json"]) == 0
    return {
        component: row["citation"]
        for row in json.loads(capsys.readouterr().out)["citations"]
        for component in row["components"]
    }


def test_a_scenario_cites_its_parts_and_no_others(capsys):
    found = cited(capsys, "cusp/inclined-box")
    assert {"model pcc", "contact solver lcp", "LCP solver lemke"} <= set(found)
    assert "model der" not in found
    assert set(found) < set(cited(capsys))


def test_a_run_cites_what_it_ran_with_after_overrides(tmp_path, capsys):
    changes = ["time.duration=2e-3", "contact.detector=[{use='mpr'}]"]
    results = corekit.load("cusp/inclined-box", changes).run(directory=tmp_path / "run")
    found = cited(capsys, results.path)
    assert "contact detector mpr" in found
    assert "contact detector sdf" not in found


def test_a_scenario_that_is_not_there_is_misuse(tmp_path, capsys):
    assert main(["cite", str(tmp_path / "none.toml")]) == 2
    assert "none.toml" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["cusp/inclined-box"]])
def test_citations_have_a_line_of_components_and_one_of_the_source(words, capsys):
    assert main(["cite", *words]) == 0
    who, what = capsys.readouterr().out.splitlines()[:2]
    assert not who.startswith(" ")
    assert what.startswith("    ")
