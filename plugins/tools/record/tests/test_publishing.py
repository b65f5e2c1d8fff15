"""Results are published as whole files, and what is published outlives a killed run."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from corekit_record.netcdf_file import Variable
from corekit_record.results import Results
from corekit_record.store import GrowingFile


def stored(path: Path) -> Any:
    file: Any = h5py.File(path)
    with file:
        return file["time"][:]


def test_every_instant_of_publishing_leaves_a_whole_file(tmp_path, monkeypatch):
    """The copy is cut after each of its pieces, as a kill would; the name always shows a whole file."""
    file = GrowingFile(tmp_path / "a.nc", {"time": None}, [Variable("time", ("time",))], {})
    file.append("time", 3, {"time": np.arange(3.0)})
    file.publish()

    class Killed(BaseException):
        pass

    def cut(pieces):
        def copy(source, path):
            with path.open("wb") as target:
                for _ in range(pieces):
                    target.write(source.read(512))
            raise Killed

        return copy

    for pieces in range(6):
        file.append("time", 1, {"time": np.array([3.0 + pieces])})
        with monkeypatch.context() as patch:
            patch.setattr("corekit_record.store.copy_and_seal", cut(pieces))
            with pytest.raises(Killed):
                file.publish()
        assert np.array_equal(stored(tmp_path / "a.nc"), np.arange(3.0))
    file.close()
    assert np.array_equal(stored(tmp_path / "a.nc"), np.arange(9.0))
    assert [path.name for path in tmp_path.iterdir()] == ["a.nc"]


PUBLISHING_OFTEN = """
from corekit.cli import main
from corekit_record import recorder
recorder._PUBLISH_EVERY, recorder._SHARE = 0.1, 1.0
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
@pytest.mark.parametrize("after", [1, 2])
def test_a_killed_run_is_readable_with_all_that_was_published(shell, scenario_file, tmp_path, after):
    (tmp_path / "often.py").write_text(PUBLISHING_OFTEN)
    process = shell.start(
        "run", str(scenario_file), "--out", "out", "--quiet", "--set", "time.duration=1000.0",
        "--set", "output.every=0.001", module="often",
    )  # fmt: skip
    file = tmp_path / "out" / "results.nc"
    published: list[int] = []
    while len(published) < after + 1:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(2e-3)
        if file.exists():
            count = len(Results(tmp_path / "out").time)  # readable while running
            if count not in published:
                published.append(count)
    process.kill()
    process.communicate(timeout=300)
    results = Results(tmp_path / "out")
    assert len(results.time) >= published[-1] > 1
    assert np.allclose(results.time, np.arange(len(results.time)) * 1e-3, atol=1e-12)
    assert len(results.q) == len(results.time)
    assert results.contacts(-1).count == results.contact_count[-1]
    assert results.statistics["kept"] == len(results.time)
    assert results.status == "killed"
    assert "ended without saying why" in results.outcome.reason
    assert len(results.replay().contacts) == len(results.time)
