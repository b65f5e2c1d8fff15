"""The example that fits a finger to a film of its motion in contact."""

from __future__ import annotations

import csv
import runpy
from pathlib import Path

import numpy as np
import pytest

from corekit_study.fit import fit
from corekit_study.fit_file import load_fit

for module in ("casadi", "corekit_fit", "corekit_gradients", "corekit_pcc", "corekit_sdf", "corekit_lcp"):
    pytest.importorskip(module)

FOLDER = Path(__file__).parents[2] / "examples/gradients/film_of_a_finger"


def test_the_film_is_what_its_script_makes(tmp_path):
    def places(path):
        with path.open() as file:
            return [[float(row[name]) for name in ("time", "x", "y", "z")] for row in csv.DictReader(file)]

    runpy.run_path(str(FOLDER / "film.py"))["main"](tmp_path / "film.csv")
    assert np.array(places(tmp_path / "film.csv")) == pytest.approx(
        np.array(places(FOLDER / "film.csv")), abs=2e-6
    )


def test_stiffness_damping_and_friction_of_the_finger_are_found():
    """Steps of the film are eight times shorter: what that changes is below its noise."""
    found = fit(load_fit(FOLDER / "fit.toml"))
    true = runpy.run_path(str(FOLDER / "film.py"))["TRUE"]
    assert found.info.status.solved
    assert 0.8 < found.estimate.metrics["residual_rms_in_deviations"] < 1.2
    for each, truth in zip(found.estimate.fitted, true.values(), strict=True):
        assert each.verdict == "identified"
        assert each.low < truth < each.high
        assert not each.low < each.start < each.high  # the guess is none of those
