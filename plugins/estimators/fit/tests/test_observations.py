"""Files of markers, positions of markers, and distances to obstacles."""

from __future__ import annotations

import os

import casadi as ca
import h5netcdf
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corekit.errors import ConfigError
from corekit.geometry.frames import rotation_from_rpy
from corekit.geometry.shapes import Shape
from corekit.roles.model import Coordinate, ModelDescription
from corekit_fit.config import Attached, Markers
from corekit_fit.distances import signed_distance
from corekit_fit.marker_positions import marker_positions
from corekit_fit.observations import Observations, read_markers

LINE = ModelDescription(
    coordinates=(Coordinate("x", "m"),), velocities=(Coordinate("x", "m/s"),), frames=("a", "b", "c")
)


def test_a_table_keeps_its_order_and_its_gaps(tmp_path):
    path = tmp_path / "seen.csv"
    path.write_text(
        "# camera 2\ntime,marker,z,x\n0.125,tip,2,1\n0,tip,4,3\n\n0,base,,5\n0.125,base,nan,NaN\n"
    )
    seen = read_markers(path)
    assert seen.names == ("tip", "base")
    np.testing.assert_array_equal(seen.time, [0.0, 0.125])
    nan = np.nan
    np.testing.assert_array_equal(
        seen.position, [[[3, nan, 4], [5, nan, nan]], [[1, nan, 2], [nan, nan, nan]]]
    )


def test_markers_without_one_order_are_not_spread_along_the_body(tmp_path):
    """A marker that is hidden at first came last: three markers would sit at a, b, c in the order 2, 3, 1."""
    path = tmp_path / "seen.csv"
    hidden = "time,marker,x\n{}0,2,0.2\n0,3,0.3\n0.1,1,0.1\n0.1,2,0.2\n0.1,3,0.3\n"
    path.write_text(hidden.format(""))
    seen = read_markers(path)
    assert seen.names == ("2", "3", "1")
    with pytest.raises(
        ConfigError, match=r"one order of its markers.*first come 2, 3, 1, and at 0\.1 s others"
    ):
        marker_positions(Markers(file=path), seen, LINE)
    places = (
        Attached(marker="2", frame="b"),
        Attached(marker="3", frame="c"),
        Attached(marker="1", frame="a"),
    )
    found = marker_positions(Markers(file=path, attached=places), seen, LINE)
    assert found.frame[:, 0].tolist() == [1, 2, 0]
    path.write_text(hidden.format("0,1,\n"))
    found = marker_positions(Markers(file=path), read_markers(path), LINE)
    assert found.frame[np.arange(3), found.weight.argmax(axis=1)].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("time,z\n0,1\n", "needs time, marker"),
        ("time,marker,z\n0,a,one\n", "line 2: z = 'one' is not a number"),
        ("time,marker,z\n0,a,1\n0,a,2\n", "line 3: marker 'a' appears twice"),
        ("time,marker,z\n0,a,inf\n", "must be finite"),
        ("time,marker,z\nnan,a,1\n", "time must be a finite number"),
        ("time,marker,z\n0,a\n", "line 2 has 2 entries, the header 3"),
        ("time,marker,z\n0,a,\n", "no position of a marker"),
        ("time,marker,z\n-1,a,0\n", "must be ≥ 0"),
        ("time,marker,z,z\n0,a,1,2\n", "time, marker, z, z; it needs .* once each"),
        ("time,marker,x,Z\n0,a,1,2\n", "time, marker, x, Z; it needs time, marker and some of x, y, z"),
        (f"time,marker,z\n0,{'a' * 200_000},1\n", "is no table of text in UTF-8"),
        ("time,marker,z\n0,é,1\n".encode("latin-1"), "is no table of text in UTF-8"),
    ],
)
def test_a_mistake_in_a_table_is_reported_with_its_line(tmp_path, text, message):
    path = tmp_path / "seen.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError, match=message):
        read_markers(path)


def test_a_table_may_begin_with_the_mark_of_excel(tmp_path):
    path = tmp_path / "seen.csv"
    path.write_text("time,marker,z\n0,a,1\n", encoding="utf-8-sig")
    np.testing.assert_array_equal(read_markers(path).position[..., 2], [[1.0]])


@pytest.mark.parametrize(
    ("units", "said"),
    [
        ({"time": "s", "position": "m"}, None),
        ({"time": "ms"}, "time is in ms; it must be in s"),
        ({"position": "mm"}, "position is in mm; it must be in m"),
    ],
)
def test_netcdf_in_another_unit_is_refused(tmp_path, units, said):
    path = tmp_path / "seen.nc"
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"time": 1, "marker": 1, "xyz": 3}
        file.create_variable("time", ("time",), float)[:] = [0.0]
        file.create_variable("position", ("time", "marker", "xyz"), float)[:] = np.ones((1, 1, 3))
        for name, unit in units.items():
            file.variables[name].attrs["units"] = unit
    if said is None:
        assert read_markers(path).position.shape == (1, 1, 3)
    else:
        with pytest.raises(ConfigError, match=said):
            read_markers(path)


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.csv.*cannot be read"):
        read_markers(tmp_path / "nowhere.csv")


def test_netcdf_returns_the_written_positions(tmp_path):
    path = tmp_path / "seen.nc"
    place = np.arange(12.0).reshape(2, 2, 3)
    place[1, 0, 2] = np.nan
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"time": 2, "marker": 2, "xyz": 3}
        file.create_variable("time", ("time",), float)[:] = [0.0, 0.5]
        file.create_variable("position", ("time", "marker", "xyz"), float)[:] = place
    seen = read_markers(path)
    assert seen.names == ("0", "1")
    np.testing.assert_array_equal(seen.position, place)
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"time": 2}
        file.create_variable("time", ("time",), float)[:] = [0.0, 0.5]
    with pytest.raises(ConfigError, match="no variable position"):
        read_markers(path)


def seen_of(*names: str) -> Observations:
    return Observations(names, np.zeros(1), np.zeros((1, len(names), 3)))


def test_markers_are_evenly_spaced_along_a_bent_line_of_frames(tmp_path):
    places = marker_positions(Markers(file=tmp_path), seen_of("1", "2", "3", "4", "5"), LINE)
    corner = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 2.0]])
    found = places.world(corner, np.tile(np.eye(3), (3, 1, 1)))
    np.testing.assert_allclose(found, [[0, 0, 0], [0.5, 0, 0], [1, 0, 0], [1, 0, 1], [1, 0, 2]])


def test_attached_markers_turn_with_their_frame(tmp_path):
    options = Markers(file=tmp_path, attached=(Attached(marker="led", frame="b", local=(0.1, 0.0, 0.0)),))
    quarter = np.tile(rotation_from_rpy((0.0, 0.0, np.pi / 2)), (3, 1, 1))
    found = marker_positions(options, seen_of("led"), LINE).world(np.ones((3, 3)), quarter)
    np.testing.assert_allclose(found, [[1.0, 1.1, 1.0]])
    with pytest.raises(ConfigError, match=r"lamp.*no entry in `attached`"):
        marker_positions(options, seen_of("led", "lamp"), LINE)
    with pytest.raises(ConfigError, match="must be a frame of the body: a, b, c"):
        marker_positions(Markers(file=tmp_path, along=("a", "d")), seen_of("led"), LINE)


_COORDINATE = st.floats(-0.5, 0.5)
_SHAPES = {
    "half-space": (), "sphere": (0.1,), "circle": (0.1,), "ring": (0.3,), "box": (0.1, 0.2, 0.05),
    "capsule": (0.05, 0.1),
}  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(kind=st.sampled_from(sorted(_SHAPES)), at=st.tuples(_COORDINATE, _COORDINATE, _COORDINATE))
def test_a_step_down_the_slope_of_the_distance_ends_on_the_surface(kind, at):
    point, turn = ca.SX.sym("p", 3), rotation_from_rpy((0.3, -0.2, 0.5))
    distance = signed_distance(Shape(kind, _SHAPES[kind]), ca.DM([0.05, 0.0, 0.1]), ca.DM(turn), point)
    both = ca.Function("d", [point], [distance, ca.gradient(distance, point)])
    d, slope = (np.array(each).ravel() for each in both(list(at)))
    if np.linalg.norm(slope) < 0.99:
        return  # the gradient is not unique at a centre or an edge
    np.testing.assert_allclose(np.linalg.norm(slope), 1.0, atol=1e-6)
    if d[0] > 0.0:
        assert float(both(np.array(at) - d[0] * slope)[0]) == pytest.approx(0.0, abs=1e-7)


def test_shapes_without_an_expression_are_refused():
    with pytest.raises(ConfigError, match="a known contact needs the shape half-space"):
        signed_distance(Shape("cylinder", (1.0, 1.0)), ca.DM.zeros(3), ca.DM.eye(3), ca.DM.zeros(3))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("name", ["markers.csv", "markers.nc"])
def test_a_pipe_in_the_place_of_markers_is_not_waited_for(name, tmp_path):
    os.mkfifo(tmp_path / name)
    with pytest.raises(ConfigError, match=r"cannot be read \(a pipe, which is not read\)"):
        read_markers(tmp_path / name)
