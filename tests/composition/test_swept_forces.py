"""Columns of a sweep against balances of forces: what carries a body at rest is its weight."""

from __future__ import annotations

import json

import pytest

from corekit.cli import MISUSE, main
from corekit_study.sweep import sweep

GRAVITY = 9.81
HUNG = """
format = "corekit-scenario/1"
name = "hung"
time = { duration = 0.02, step = 1e-3 }
[[bodies]]
name = "block"
use = "rigid"
options = { shape = "box", size = [0.1, 0.1, 0.1], density = 500.0 }
[[joints]]
name = "hook"
kind = "weld"
between = ["block.body", "world"]
[integrator]
use = "semi-implicit-euler"
"""


def test_the_clamp_of_a_swept_beam_in_equilibrium_carries_its_weight(tmp_path):
    """Σ of the vertical reactions = ρ·A·L·g, for two densities and two gravities; nothing holds it sideways."""
    vary = ["bodies[0].options.limbs[0].density=[1000.0],[3000.0]", "world.gravity=[0,0,-9.81],[0,0,-1.62]"]
    found = sweep("beam/der", vary, (), tmp_path / "s", workers=0, statics=True, keep="table")
    weights = [
        density * 3.141592653589793 * 0.004**2 * 0.4 * g for density in (1e3, 3e3) for g in (9.81, 1.62)
    ]
    for point, weight in zip(found.points, weights, strict=True):
        assert not point.reason
        assert point.metrics["stability"] == "stable"
        vertical = [value for name, value in point.forces.items() if name.endswith("-z")]
        assert len(vertical) == 2  # of two nodes, which hold a couple
        assert sum(vertical) == pytest.approx(weight, rel=1e-9)
        along = [value for name, value in point.forces.items() if name.endswith("-x")]
        assert sum(along) == pytest.approx(0.0, abs=1e-9 * max(map(abs, vertical)))


def test_the_equilibrium_of_another_time_is_another_one(tmp_path):
    """At t = 0 the arm's chambers are empty; at the end they bend it."""
    vary = ["bodies[0].options.material.young=7e4"]
    tips = [
        sweep(
            "teaching/pressure-arm", vary, (), tmp_path / f"{at}", workers=0, statics=True, at=at, keep="table"
        ).points[0].metrics["tip_x_m"]
        for at in (0.0, None)
    ]  # fmt: skip
    assert abs(tips[0]) < 1e-9
    assert abs(tips[1]) > 0.05


def test_a_joint_s_force_is_a_column_and_carries_what_hangs(tmp_path):
    file = tmp_path / "hung.toml"
    file.write_text(HUNG)
    found = sweep(
        file, ["bodies[0].options.density=500.0,1500.0"], (), tmp_path / "s", workers=0, keep="table"
    )
    for point, density in zip(found.points, (500.0, 1500.0), strict=True):
        assert not point.reason, point.reason
        weight = density * 0.1**3 * GRAVITY
        assert point.forces["joint_force_z_N:hook"] == pytest.approx(weight, rel=1e-9)
        assert point.forces["largest_joint_force_N:hook"] == pytest.approx(weight, rel=1e-9)


def test_the_verb_prints_what_is_stable(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = [
        "sweep",
        "teaching/pressure-arm",
        "--statics",
        "--jobs",
        "1",
        "--out",
        "s",
        "--quiet",
        "--json",
        "s.json",
    ]
    assert main([*words, "--vary", "bodies[0].options.material.young=5e4,9e4"]) == 0
    assert capsys.readouterr().out.count("stable") == 2
    assert [row["stability"] for row in json.loads((tmp_path / "s.json").read_text())["runs"]] == [
        "stable"
    ] * 2
    # the folder of an equilibrium is that of corekit statics
    assert (tmp_path / "s" / "1-5e4" / "statics.json").is_file()
    assert main(["sweep", "--resume", "s", "--statics"]) == MISUSE
