"""Comparisons: every combination has a row, and its figures are those of the runs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from corekit.errors import ConfigError
from corekit_record.results import Results
from corekit_study.compare import Trajectory, compare, tip_difference
from corekit_study.variants import variants

SOLVERS = "contact.solver.use=reference-gauss-seidel,reference-penalty"


def test_variants_are_the_product_the_last_one_fastest():
    made = variants(["a.b=1,2", "c=x,y"])
    assert [variant.overrides for variant in made] == [
        ("a.b=1", "c=x"), ("a.b=1", "c=y"), ("a.b=2", "c=x"), ("a.b=2", "c=y"),
    ]  # fmt: skip
    assert made[0].label == "1, x"


def test_commas_inside_brackets_and_quotes_belong_to_a_value():
    (variant, other) = variants(["a=[1, [2, 3]],{ use = 'x,y', options = { b = \"],\" } }"])
    assert variant.values == (("a", "[1, [2, 3]]"),)
    assert other.values == (("a", "{ use = 'x,y', options = { b = \"],\" } }"),)
    assert "/" not in other.slug


@pytest.mark.parametrize("text", ["a", "a=", "=1", "a=1,,2", "a=1,1"])
def test_what_cannot_be_varied_is_refused(text):
    with pytest.raises(ConfigError):
        variants([text])


def test_a_path_is_varied_once():
    with pytest.raises(ConfigError, match="varied already"):
        variants(["a=1,2", "a=3"])


def test_tip_difference_is_the_largest_distance_while_both_go_on():
    time = np.linspace(0.0, 1.0, 11)
    line = np.stack([time, 0 * time, 0 * time], axis=1)
    first = Trajectory(time, line)
    assert tip_difference(first, Trajectory(time, line + [0.0, 3.0, 4.0])) == pytest.approx(5.0)
    # the same straight motion at other instants, and only half as long
    half = np.linspace(0.0, 0.5, 4)
    sparse = Trajectory(half, np.stack([half, 0 * half, 0 * half], axis=1))
    assert tip_difference(first, sparse) == pytest.approx(0.0, abs=1e-12)
    assert np.isnan(tip_difference(first, Trajectory(time + 5.0, line)))


def test_falling_without_touching_agrees_with_free_fall(scenario_file, tmp_path):
    made = compare(
        scenario_file, ["world.gravity=[0, 0, 0],[0, 0, -2]"],
        ["bodies.ball.options.positions=[[0.0, 0.0, 5.0]]"], tmp_path / "out",
    )  # fmt: skip
    floating, falling = (row.metrics for row in made.rows)
    assert floating is not None
    assert falling is not None
    # semi-implicit Euler falls g·t·(t + h)/2, one kilogram from 5 m with 0.5 m/s along x
    assert falling.tip_difference == pytest.approx(0.5 * 2 * 0.3 * 0.302)
    assert floating.tip_difference is None
    assert floating.final_energy == pytest.approx(0.5 * 0.5**2)
    assert falling.final_energy == pytest.approx(2 * 5 + 0.5 * 0.5**2, rel=1e-3)
    assert floating.contact_impulse == falling.contact_impulse == 0.0


def test_the_impulse_that_stops_a_fall_is_what_gravity_gave(scenario_file, tmp_path):
    made = compare(scenario_file, [], ["time.duration=1.0"], tmp_path / "out")
    (row,) = made.rows
    assert row.metrics is not None
    # at rest at the end: Σλ_n = m·g·t
    assert row.metrics.contact_impulse == pytest.approx(9.81 * 1.0, rel=1e-6)
    assert row.metrics.solved == 1.0
    assert row.metrics.steps == 500


def test_refused_and_failed_combinations_keep_their_rows(scenario_file, tmp_path):
    made = compare(
        scenario_file,
        [
            "integrator.use=reference-semi-implicit-euler,no-such-one",
            "bodies.ball.options.masses=[1.0],[0.0]",
        ],
        [],
        tmp_path / "out",
    )
    assert [row.status for row in made.rows] == ["finished", "failed", "refused", "refused"]
    assert made.rows[1].folder is not None
    assert Results(made.rows[1].folder).status == "failed"
    assert "no-such-one" in made.rows[2].reason
    assert made.rows[2].folder is None
    json.dumps(made.as_data(), allow_nan=False)


def test_options_that_a_variant_drops_are_in_the_log_of_its_run(scenario_file, tmp_path):
    given = ["contact.solver={ use = 'reference-gauss-seidel', options = { max_iterations = 700 } }"]
    rows = compare(scenario_file, [SOLVERS], given, tmp_path / "out").rows
    kept, changed = (_doubts_of_overrides(row) for row in rows)
    assert not kept
    assert [each.partition(" now, ")[2] for each in changed] == [
        "without the options of 'reference-gauss-seidel': max_iterations"
    ]


def _doubts_of_overrides(row):
    assert row.folder is not None
    said = [event["doubt"] for event in Results(row.folder).events if event["event"] == "doubt"]
    return [each for each in said if "now, without" in each]


def test_the_chart_holds_what_the_runs_recorded(scenario_file, tmp_path):
    made = compare(scenario_file, ["contact.friction=0,1"], (), tmp_path / "out")
    chart = made.chart
    assert chart is not None
    assert [panel.y_label for panel in chart.panels] == ["tip x [m]", "tip y [m]", "tip z [m]"]
    for row, line in zip(made.rows, chart.panels[2].lines, strict=True):
        assert row.folder is not None
        results = Results(row.folder)
        assert line.label == row.variant.label
        np.testing.assert_array_equal(line.y, results.frame_position[:, results.tip, 2])


def test_the_verb_prints_the_table_draws_the_picture_and_writes_json(shell, scenario_file):
    told = shell.corekit(
        "compare", str(scenario_file), "--vary", SOLVERS, "--vary", "time.step=0.002,0.001",
        "--out", "here", "--json", "here.json", "--set", "watchdog.penetration.limit=1e-5",
        "--set", "time.duration=0.2",
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    warned = [line for line in told.stdout.splitlines() if "penetration: " in line]
    assert [line.partition(": ")[0] for line in warned] == [
        f"reference-penalty, {step}" for step in ("0.002", "0.001")
    ]
    for words in ("solver.use", "time per step", "reference-penalty", "the first", "Σ impulse"):
        assert words in told.stdout
    assert "4/4 reference-penalty, 0.001" in told.stderr
    data = json.loads((shell.folder / "here.json").read_text())
    assert len(data["rows"]) == 4
    assert (shell.folder / data["picture"]).read_bytes().startswith(b"\x89PNG")


def test_no_run_at_all_is_a_failure_and_a_missing_file_is_misuse(shell, scenario_file):
    told = shell.corekit("compare", str(scenario_file), "--vary", "integrator.use=nothing", "--out", "here")
    assert told.returncode == 1
    assert "refused" in told.stdout
    assert "no picture" in told.stdout
    told = shell.corekit("compare", "none.toml", "--vary", SOLVERS)
    assert told.returncode == 2
    assert not (shell.folder / "runs").exists()


def test_each_mistake_of_a_refused_combination_has_a_line(shell, scenario_file):
    wrong = ("--vary", "time={step=true, durance=3}", "--set", "sed=3")
    told = shell.corekit("compare", str(scenario_file), *wrong, "--out", "here")
    lines = told.stdout.splitlines()
    (first,) = (k for k, line in enumerate(lines) if "refused: " in line)
    assert lines[first].endswith("mistakes:")
    told_of = [line.partition(":")[0] for line in lines[first + 1 : first + 4]]
    assert told_of == ["  sed", "  time.durance", "  time.step"]
