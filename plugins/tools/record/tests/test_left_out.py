"""What a scenario leaves out of its records is not in the file, and who asks for it is told."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.errors import ConfigError, ResultsError
from corekit.scenario.load import load
from corekit.scenario.schema import RECORDED
from corekit_record.record_layout import PARTS
from corekit_record.results import Results
from corekit_run.running import run

ASKED = {
    "inputs": lambda results: results.inputs,
    "frames": lambda results: results.frame_position,
    "energies": lambda results: results.energy,
    "contacts": lambda results: results.contacts(-1),
    "reactions": lambda results: results.reaction,
    "outlines": lambda results: results.replay(),
}


def test_the_schema_and_the_layout_know_the_same_parts():
    assert set(PARTS) == set(RECORDED) == set(ASKED)


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_part_that_is_left_out_is_missed_by_name_and_the_rest_stays(tiny, scenario_file, tmp_path, part):
    kept = [each for each in RECORDED if each != part]
    whole = run(load(scenario_file), directory=tmp_path / "whole")
    results = run(
        load(scenario_file, [f"output.record={kept}".replace("'", '"')]), directory=tmp_path / "part"
    )
    assert results.left_out == (part,)
    with pytest.raises(ResultsError, match=rf"record leaves out '{part}'"):
        ASKED[part](results)
    for other in set(ASKED) - {part, "outlines"}:
        ASKED[other](results)
    for name in ("time", "q", "v", "contact_count", "step_status", "worst_residual_since"):
        np.testing.assert_array_equal(results[name], whole[name])
    assert results.statistics == whole.statistics
    if part != "frames":
        assert results.tip == whole.tip


def test_a_state_alone_makes_a_smaller_file(tiny, scenario_file, tmp_path):
    whole = run(load(scenario_file), directory=tmp_path / "whole")
    least = run(load(scenario_file, ["output.record=[]"]), directory=tmp_path / "least")
    assert least.file.stat().st_size < whole.file.stat().st_size
    np.testing.assert_array_equal(Results(tmp_path / "least").q, whole.q)


def test_a_part_that_does_not_exist_is_refused_with_those_that_do(scenario_file):
    with pytest.raises(
        ConfigError, match="'forces' is none of inputs, frames, energies, reactions, contacts, o"
    ):
        load(scenario_file, ['output.record=["forces"]'])
