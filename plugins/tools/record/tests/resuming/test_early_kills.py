"""A run that is killed before its first checkpoint, between any two of its writes, goes on to the same end."""

from __future__ import annotations

import os

import pytest

from corekit.errors import ResultsError
from corekit_run import folder
from corekit_run.folder import RunFolder
from corekit_run.running import resume

from .killing import arrays, assert_same

WRITES = ["resolved.toml", "log.jsonl", "STATUS", "scenario.toml", "versions.json"]
"""What a run writes before it begins, in order."""


def killed_before(scenario, count):
    """A run into `cut` that ends before its write of this number; what it wrote."""
    child = os.fork()
    if child == 0:
        usual_whole, usual_log, done = folder.write_text_whole, RunFolder.log, [0]

        def counted():
            done[0] += 1
            if done[0] > count:
                os._exit(7)

        def whole(path, text):
            counted()
            usual_whole(path, text)

        def log(self, event, **what):
            counted()
            usual_log(self, event, **what)

        folder.write_text_whole = whole
        RunFolder.log = log  # pyrefly: ignore[bad-assignment]
        try:
            scenario.run(directory="cut")
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="ends a process of its own")
@pytest.mark.parametrize("count", range(len(WRITES) + 1))
def test_a_run_killed_between_its_first_writes_goes_on(whole, tmp_path, count):
    scenario, expected = whole
    killed_before(scenario, count)
    found = {path.name for path in (tmp_path / "cut").iterdir()}
    if count == 0:
        assert not found
        with pytest.raises(ResultsError, match="killed before it began"):
            resume("cut")
        return
    assert set(WRITES[:count]) <= found
    assert_same(arrays(resume("cut").path), expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="ends a process of its own")
def test_a_first_line_of_the_log_that_a_kill_cut_is_no_hindrance(whole, tmp_path):
    scenario, expected = whole
    killed_before(scenario, 2)
    log = tmp_path / "cut" / "log.jsonl"
    log.write_text(log.read_text()[:20])
    assert_same(arrays(resume("cut").path), expected)


def test_a_folder_with_more_than_a_resolved_scenario_is_no_run(whole, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "resolved.toml").write_text(whole[0].resolved_text())
    (tmp_path / "notes" / "thesis.tex").write_text("")
    with pytest.raises(ResultsError, match="neither a checkpoint nor a run in its log"):
        resume("notes")
