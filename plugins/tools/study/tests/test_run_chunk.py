"""Runs as data: made elsewhere they are what they are here, and what comes back is looked at before it is written."""

from __future__ import annotations

import base64
import json

import pytest

from corekit.errors import ResultsError
from corekit_record.results import Results
from corekit_study.files_as_data import pack, unpack
from corekit_study.run_chunk import Chunk, make_chunk
from corekit_study.run_task import Recipe, RunTask


@pytest.fixture
def chunk(scenario_file):
    recipe = Recipe(text=scenario_file.read_text(), keep="all")
    return Chunk(
        tuple(
            RunTask(name=f"r{k}", recipe=recipe, overrides=(f"time.duration={0.05 * k}",), digest=f"d{k}")
            for k in (1, 2)
        )
    )


def test_what_is_made_without_the_disk_is_what_is_made_with_it(chunk, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    mine = chunk.outcomes(make_chunk(chunk.as_bytes(here)), here)
    others = chunk.outcomes(make_chunk(chunk.as_bytes(None)), there)
    assert [each.statistics for each in mine] == [each.statistics for each in others]
    assert [each.forces for each in mine] == [each.forces for each in others]
    for name in ("r1", "r2"):
        assert {path.name for path in (here / name).iterdir()} == {
            path.name for path in (there / name).iterdir()
        }
        assert Results(here / name).q.tolist() == Results(there / name).q.tolist()
        assert Results(there / name).status == "finished"


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", ".hidden", "", "a//../b", "C:\\x", "a\x00b"])
def test_a_file_that_would_lie_elsewhere_is_refused_before_anything_is_written(name, tmp_path):
    files = {"good.txt": base64.b64encode(b"1").decode(), name: base64.b64encode(b"2").decode()}
    with pytest.raises(ValueError, match="no name of a file"):
        unpack(files, tmp_path / "r")
    assert not list(tmp_path.iterdir())


def test_folders_come_back_as_they_were(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x.nc").write_bytes(bytes(range(256)))
    (tmp_path / "a" / "log.jsonl").write_text("{}\n")
    (tmp_path / "a" / "link").symlink_to("/etc/hostname")
    unpack(pack(tmp_path / "a"), tmp_path / "c")
    assert (tmp_path / "c" / "b" / "x.nc").read_bytes() == bytes(range(256))
    assert {path.name for path in (tmp_path / "c").iterdir()} == {"b", "log.jsonl"}


OUTCOME = {"digest": "d1", "completed": 1.0, "wall_s": 0.1, "duration": 1.0}
RIGHT = [{**OUTCOME, "name": "r1"}, {**OUTCOME, "name": "r2", "digest": "d2"}]


@pytest.mark.parametrize(
    "answer",
    [
        b"nonsense",
        b"[]",
        {"outcomes": [], "files": {}},
        {"outcomes": [{**OUTCOME, "name": "r1"}, {**OUTCOME, "name": "r9"}], "files": {}},
        {"outcomes": [{**OUTCOME, "name": "r1"}, {**OUTCOME, "name": "r2"}], "files": {}},
        {"outcomes": [{**OUTCOME, "name": "r1", "statistics": 3}], "files": {}},
        {
            "outcomes": [{**OUTCOME, "name": n, "digest": f"d{n[1]}"} for n in ("r1", "r2")],
            "files": {"r3": {}},
        },
        {
            "outcomes": [{**OUTCOME, "name": n, "digest": f"d{n[1]}"} for n in ("r1", "r2")],
            "files": {"r1": {"../x": ""}},
        },
    ],
)
def test_an_answer_that_is_no_outcome_of_the_runs_is_refused(answer, chunk, tmp_path):
    data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    with pytest.raises(ResultsError, match="what is no outcome of them"):
        chunk.outcomes(data, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["dropped.toml"]
