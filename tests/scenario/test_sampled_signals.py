"""Tables and files of samples against formulas, SciPy and finite differences; wrong ones named by row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from corekit.data.signals import Csv, Ramp, Signal, Table
from corekit.errors import ConfigError
from corekit.scenario.load import load, loads
from corekit_testing.rounding import rounding

knots = st.lists(st.floats(0.1, 3.0), min_size=1, max_size=5).map(
    lambda gaps: tuple(np.cumsum([-1.0, *gaps]).tolist())
)
tables = knots.flatmap(
    lambda times: st.builds(
        Table,
        times=st.just(times),
        values=st.lists(
            st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=len(times), max_size=len(times)
        ),
        interpolation=st.sampled_from(("linear", "cubic")),
    )
)


def at(signal: Signal, t: float, what: str = "value") -> np.ndarray:
    out = np.full(signal.size, np.nan)
    getattr(signal, what)(t, out)
    return out


def test_a_table_of_two_instants_is_a_ramp():
    table = Table(times=(1.0, 3.0), values=((0.0, 2.0), (4.0, -2.0)))
    ramp = Ramp(begin=1.0, end=3.0, value=(4.0, -2.0), start=(0.0, 2.0))
    for t in (0.0, 1.0, 1.3, 2.0, 3.0, 9.0):
        for what in ("value", "rate", "acceleration"):
            np.testing.assert_allclose(at(table, t, what), at(ramp, t, what), atol=rounding(8, 4.0))
    assert table.breakpoints(0.0, 9.0) == ramp.breakpoints(0.0, 9.0)


@given(tables, st.floats(-3.0, 12.0))
def test_values_lie_where_numpy_and_scipy_put_them(table, t):
    values = np.array(table.values)
    if table.interpolation == "linear":
        expected = [np.interp(t, table.times, column) for column in values.T]
    else:
        clipped = min(max(t, table.times[0]), table.times[-1])
        expected = CubicSpline(table.times, values, bc_type="clamped")(clipped)
    np.testing.assert_allclose(at(table, t), expected, atol=1e-9)


@given(tables, st.floats(-3.0, 12.0))
def test_derivatives_match_central_differences_away_from_knots(table, t):
    h = 1e-5
    if any(abs(t - knot) < 3 * h for knot in table.times):
        return
    first = (at(table, t + h) - at(table, t - h)) / (2 * h)
    second = (at(table, t + h, "rate") - at(table, t - h, "rate")) / (2 * h)
    np.testing.assert_allclose(at(table, t, "rate"), first, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(at(table, t, "acceleration"), second, rtol=1e-4, atol=1e-2)


@given(tables)
def test_every_knot_is_hit_exactly(table):
    for time, value in zip(table.times, table.values, strict=True):
        assert at(table, time).tolist() == list(value)


def test_steps_are_asked_to_end_where_the_slope_jumps_and_only_there():
    table = Table(times=(0.0, 1.0, 2.0, 3.0, 4.0), values=(0.0, 1.0, 2.0, 2.0, 2.0))
    assert table.breakpoints(-1.0, 9.0) == [0.0, 2.0]
    assert table.breakpoints(0.0, 2.0) == [2.0]
    smooth = Table(times=(0.0, 1.0, 2.0), values=(0.0, 5.0, 1.0), interpolation="cubic")
    assert smooth.breakpoints(-1.0, 9.0) == [0.0, 2.0]
    assert Table(times=(0.0, 1.0), values=(3.0, 3.0)).constant


@pytest.mark.parametrize(
    "text",
    [
        "0,1,2\n1,3,4\n",
        "time,left,right\n0,1,2\n\n1,3,4\n",
        "# pressures\n0; 1; 2\n1; 3; 4",
        "t\ta\tb\r\n0\t1\t2\r\n1\t3\t4\r\n",
        "\ufeff0,1,2\n1,3,4\n",
        '"time","left","right"\n"0","1","2"\n1, 3 ,"4"\n',
    ],
)
def test_a_file_reads_like_the_table_it_holds(tmp_path, text):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    read = Csv(file=tmp_path / "x.csv")
    table = Table(times=(0.0, 1.0), values=((1.0, 2.0), (3.0, 4.0)))
    for t in (-1.0, 0.25, 0.9, 2.0):
        assert at(read, t).tolist() == at(table, t).tolist()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0,1\n1,2\n1,3\n", "x.csv, line 3: its time 1 s must be later than 1 s"),
        ("t,a\n0,1\n1,x\n", "x.csv, line 3: 'x' is not a number"),
        ("0,O\n1,2\n", "x.csv, line 1: 'O' is not a number"),
        ("0,\n1,2\n", "x.csv, line 1: '' is not a number"),
        ("0,1\n1,2,3\n", "x.csv, line 2: has 2 values, x.csv, line 1 has 1"),
        ("0,1\n1,nan\n", "x.csv, line 2: must be finite"),
        (f"0,{'1' * 200_000}\n1,2\n", "x.csv, line 1: must be finite"),
        ("0\n1\n", "x.csv, line 1: must hold a time and at least one value"),
        ("t,a\n0,1\n", "must have at least two instants, has 1"),
        ("", "must have at least two instants, has 0"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(tmp_path, text, says):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(ValueError, match=says):
        Csv(file=tmp_path / "x.csv")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"times": (0.0, 1.0), "values": (1.0,)}, "`times` has 2 entries and `values` 1"),
        ({"times": (0.0, 1.0), "values": (1.0, (1.0, 2.0))}, "entry 1: has 2 values, entry 0 has 1"),
        ({"times": (0.0, 0.0), "values": (1.0, 2.0)}, "entry 1: its time 0 s must be later"),
        ({"times": (0.0, 1.0), "values": (1.0, 2.0), "interpolation": "spline"}, "'linear', 'cubic'"),
    ],
)
def test_a_wrong_table_is_refused(fields, says):
    with pytest.raises(ValueError, match=says):
        Table(**fields)


BODY = """
format = "corekit-scenario/1"
name = "sampled"
time = { duration = 1.0, step = 0.01 }
integrator = { use = "reference-semi-implicit-euler" }
output = { every = 0.1 }
[[world.obstacles]]
name = "floor"
shape = "half-space"
position = SIGNAL
[[bodies]]
name = "ball"
use = "reference-point-chain"
"""


def scenario(signal: str) -> str:
    return BODY.replace("SIGNAL", signal)


def test_a_file_is_found_beside_the_scenario_and_stays_found_in_the_resolved_one(tmp_path):
    (tmp_path / "path.csv").write_text("t,x,y,z\n0,0,0,0\n1,0,0,1\n")
    file = tmp_path / "moving.toml"
    file.write_text(scenario('{ kind = "csv", file = "path.csv", interpolation = "cubic" }'))
    read = load(file)
    position = read.world.obstacles[0].position
    assert at(position, 0.5)[2] == pytest.approx(0.5)
    assert loads(read.resolved_text()).world.obstacles[0].position == position


def test_a_table_survives_being_written_back():
    read = loads(scenario('{ kind = "table", times = [0, 1], values = [[0, 0, 0], [0, 0, 0.1]] }'))
    assert loads(read.resolved_text()) == read


@pytest.mark.parametrize(
    ("signal", "path", "says"),
    [
        ('{ kind = "csv", file = "none.csv" }', "position", "cannot be read: No such file"),
        ('{ kind = "table", times = [0, 1], values = [[0, 0, 0], [0, "a", 0]] }', "values[1]", "a number"),
        ('{ kind = "tabel", times = [0, 1], values = [0, 1] }', "kind", "did you mean 'table'?"),
    ],
)
def test_mistakes_in_samples_are_reported_with_their_place(signal, path, says):
    with pytest.raises(ConfigError) as caught:
        loads(scenario(signal))
    (mistake,) = caught.value.mistakes
    assert mistake.path == f"world.obstacles[0].{path}" or path in mistake.path
    assert says in str(mistake)


def test_a_missing_file_is_named_whole(tmp_path: Path):
    with pytest.raises(ValueError, match=str(tmp_path / "none.csv")):
        Csv(file=tmp_path / "none.csv")
