"""What a user hands to studies and cannot be right is one mistake, before anything is loaded or written."""

from __future__ import annotations

import re
from typing import Any

import pytest

from corekit.errors import ConfigError
from corekit_study.compare import compare
from corekit_study.fit import fit
from corekit_study.fit_file import load_fit
from corekit_study.plan import make_plan
from corekit_study.plan_file import load_plan_file
from corekit_study.sweep import resume, sweep

PATHS: list[Any] = [3, None, b"x", [1]]
LISTS: list[Any] = [3, None, [3], {"a": 1}, b"x"]
VARY = "time.duration=0.01,0.02"
WRONG: dict[str, tuple[str, list[Any], Any]] = {
    "sweep": ("file", PATHS, lambda file, wrong: sweep(wrong, VARY)),
    "sweep, vary": ("vary", LISTS, sweep),
    "sweep, set": ("overrides", LISTS, lambda file, wrong: sweep(file, VARY, wrong)),
    "sweep, directory": ("directory", [3, b"x"], lambda file, wrong: sweep(file, VARY, directory=wrong)),
    "sweep, progress": ("progress", [3], lambda file, wrong: sweep(file, VARY, progress=wrong)),
    "sweep, workers": ("workers", [-1, "2", 1.5, True], lambda file, wrong: sweep(file, VARY, workers=wrong)),
    "sweep, samples": ("samples", ["2", 1.5], lambda file, wrong: sweep(file, VARY, samples=wrong)),
    "sweep, seed": ("seed", ["2", 1.5, None], lambda file, wrong: sweep(file, VARY, seed=wrong)),
    "resume": ("folder", PATHS, lambda file, wrong: resume(wrong)),
    "compare": ("file", PATHS, lambda file, wrong: compare(wrong, VARY)),
    "compare, vary": ("vary", LISTS, compare),
    "compare, directory": ("directory", [3, b"x"], lambda file, wrong: compare(file, VARY, directory=wrong)),
    "load_fit": ("path", PATHS, lambda file, wrong: load_fit(wrong)),
    "load_plan_file": ("path", PATHS, lambda file, wrong: load_plan_file(wrong)),
    "fit": ("file", [3, None, "fit.toml"], lambda file, wrong: fit(wrong)),
    "make_plan": ("file", [3, None, "plan.toml"], lambda file, wrong: make_plan(wrong)),
}


@pytest.mark.parametrize(
    ("name", "call", "wrong"),
    [(name, call, each) for name, all_wrong, call in WRONG.values() for each in all_wrong],
    ids=[f"{key}, {each!r}"[:40] for key, (_, all_wrong, _) in WRONG.items() for each in all_wrong],
)
def test_what_cannot_be_right_is_a_mistake_that_names_the_argument(
    name, call, wrong, scenario_file, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ConfigError, match=rf"\n  {re.escape(name)}.*: found .*must be ") as caught:
        call(scenario_file, wrong)
    assert len(caught.value.mistakes) == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("study", [sweep, compare])
def test_texts_stand_for_lists_of_one_and_for_paths(study, scenario_file, tmp_path):
    found = study(str(scenario_file), VARY, "seed=3", str(tmp_path / "here"))
    assert found.folder == tmp_path / "here"
    assert len(found.as_data().popitem()[1]) == 2
