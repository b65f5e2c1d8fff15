"""A disk that is full or read-only is one error, and the run goes on from it later."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from corekit.errors import ResultsError
from corekit_record.results import Results
from corekit_run.observers import Runnable
from corekit_run.running import resume, run

from .killing import arrays, assert_same, contents, reached


def refuse(number: int, words: str) -> Any:
    def raise_it(*_arguments, **_options):
        raise OSError(number, words)

    return raise_it


def test_a_full_disk_at_a_checkpoint_is_one_error_and_the_run_goes_on_later(whole, often, monkeypatch):
    scenario, expected = whole
    real, calls = np.savez, []

    def fill(file, **named):
        calls.append(1)
        if len(calls) > 5:
            file.write(b"half of it")
            raise OSError(errno.ENOSPC, "No space left on device")
        real(file, **named)

    with monkeypatch.context() as patch:
        patch.setattr("corekit_run.checkpoint.np.savez", fill)
        with pytest.raises(
            ResultsError, match=r"cannot write .*checkpoint-.*No space left on device.*Make room"
        ):
            scenario.run(directory="full")
    assert Results("full").status == "failed"
    assert len(Results("full").time) >= 2
    assert len(list(Path("full").glob("*.npz"))) == 2
    assert not list(Path("full").glob(".*"))
    assert_same(arrays(resume("full").path), expected)


def test_a_full_disk_at_a_publication_is_one_error_and_the_run_goes_on_later(whole, often):
    scenario, expected = whole
    with pytest.MonkeyPatch.context() as patch:

        class Filled:
            def __getattr__(self, name):
                return getattr(scenario, name)

            def compose(self):
                simulation = scenario.compose()

                def fill(simulation, _report):
                    if simulation.step_index == 35:
                        what = refuse(errno.ENOSPC, "No space left on device")
                        patch.setattr("corekit_record.store.copy_and_seal", what)

                simulation.observe(fill)
                return simulation

        with pytest.raises(ResultsError, match=r"cannot write full/results\.nc: No space left on device"):
            run(cast("Runnable", Filled()), directory="full")
    assert reached(Path("full")) > 0
    assert not list(Path("full").glob(".*"))
    assert_same(arrays(resume("full").path), expected)


def test_a_read_only_run_folder_is_one_error_and_nothing_is_lost(cut, whole):
    before, usual = contents(cut), Path.open

    def only_read(path, mode="r", *arguments, **options):
        if "r" not in mode:
            raise OSError(errno.EROFS, "Read-only file system")
        return usual(path, mode, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", only_read)
        with pytest.raises(ResultsError, match=r"cannot write cut/STATUS: Read-only file system"):
            resume(cut)
    assert contents(cut) == before
    assert_same(arrays(resume(cut).path), whole[1])
