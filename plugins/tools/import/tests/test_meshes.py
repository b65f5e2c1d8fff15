"""Meshes become convex pieces with the inertia of the solid, and what is no solid is refused in one sentence."""

from __future__ import annotations

import os
import sys
import threading

import numpy as np
import pytest
import trimesh

from corekit.errors import ConfigError
from corekit_import.mesh import read_solid
from corekit_import.mesh_source import ImportProblem, MeshSource

from .conftest import block, channel

BODY = '[[bodies]]\nname = "part"\nuse = "rigid"\n[bodies.options]\n'


def test_a_box_has_the_mass_and_inertia_of_its_edges_in_the_unit_of_the_file(write, load):
    write(block((100.0, 200.0, 300.0), (10.0, 0.0, -20.0)))
    (body,) = load(BODY + 'mesh = { file = "part.stl", units = "mm" }\ndensity = 500.0\n').bodies
    assert body.options["mass"] == pytest.approx(3.0, rel=1e-6)  # STL stores single precision
    np.testing.assert_allclose(body.options["centre_of_mass"], [0.01, 0.0, -0.02], atol=1e-8)
    moments = 3.0 / 12 * np.array([0.04 + 0.09, 0.01 + 0.09, 0.01 + 0.04])
    np.testing.assert_allclose(body.options["inertia"][:3], moments, rtol=1e-6)
    assert body.options["shape"] == "polytope"
    assert len(body.options["vertices"]) == 8


def test_an_ellipsoid_tends_to_its_analytic_inertia(write):
    a = np.array([0.03, 0.05, 0.08])
    mesh = trimesh.creation.icosphere(4)
    # triangles with corners on the unit sphere and edges e reach inwards by e²/6 at most
    sag = mesh.edges_unique_length.max() ** 2 / 6
    mesh.apply_scale(a)
    solid = read_solid(MeshSource(file=write(mesh, "egg.obj"), scale=2.0))
    a = 2.0 * a
    volume = 4 / 3 * np.pi * np.prod(a)
    assert (1 - sag) ** 3 < solid.volume / volume < 1
    expected = volume * np.diag((np.sum(a**2) - a**2) / 5)
    np.testing.assert_allclose(solid.inertia, expected, rtol=1 - (1 - sag) ** 5, atol=1e-12)


def test_bodies_of_a_file_that_are_convex_are_its_pieces(write):
    both = trimesh.util.concatenate([block(), block(centre=(0.5, 0.0, 0.0))])
    solid = read_solid(MeshSource(file=write(both)))
    assert sorted(np.mean(piece, axis=0)[0].round(6) for piece in solid.pieces) == [0.0, 0.5]
    np.testing.assert_allclose(solid.centre, [0.25, 0.0, 0.0], atol=1e-7)


@pytest.mark.to_nearest("coacd's geometry aborts the process", "down", "zero")
def test_a_channel_is_cut_into_pieces_that_leave_it_open(write, load, tmp_path, monkeypatch):
    monkeypatch.setenv("COREKIT_CACHE", str(tmp_path / "cache"))
    write(channel())
    options = load(BODY + 'mesh = { file = "part.stl", concavity = 0.2 }\nmass = 2.0\n').bodies[0].options
    assert options["shape"] == "polytopes"
    hulls = [trimesh.Trimesh(vertices=piece).convex_hull for piece in options["pieces"]]
    # walls of 30 − 16 cm² × 4 cm, and nothing in the groove
    assert sum(hull.volume for hull in hulls) == pytest.approx(14e-4 * 0.04, rel=0.01)
    assert not any(hull.contains([[0.03, 0.03, 0.02]])[0] for hull in hulls)
    assert options["mass"] == 2.0
    assert len(list((tmp_path / "cache" / "convex-pieces").iterdir())) == 1
    monkeypatch.setattr("corekit_import.decomposition._cut", None)  # the next time they are kept
    write(channel(), "same.stl")
    same = read_solid(MeshSource(file=tmp_path / "same.stl", concavity=0.2))
    np.testing.assert_array_equal(np.concatenate(same.pieces), np.concatenate(options["pieces"]))
    # of the section: bottom 6 × 1, two walls 1 × 4
    assert options["centre_of_mass"][1] == pytest.approx(0.01 * (6 * 0.5 + 8 * 3.0) / 14, rel=1e-6)


def test_the_hull_of_an_open_surface_is_taken_where_it_is_asked_for(write):
    open_box = block()
    open_box.update_faces(np.arange(len(open_box.faces)) > 0)
    file = write(open_box)
    (piece,) = read_solid(MeshSource(file=file, convex="hull")).pieces
    assert len(piece) == 8


def test_an_obstacle_of_pieces_is_several_with_the_friction_of_pairs(write, load):
    write(trimesh.util.concatenate([block(), block(centre=(0.5, 0.0, 0.0))]))
    scenario = load(
        '[[world.obstacles]]\nname = "steps"\nmesh = { file = "part.stl" }\nposition = [0, 0, -1]\n'
        '[[world.friction]]\nbetween = ["part", "steps"]\nvalue = 0.4\n' + BODY
    )
    assert [each.name for each in scenario.world.obstacles] == ["steps-1", "steps-2"]
    assert [pair.between for pair in scenario.world.pairs] == [("part", "steps-1"), ("part", "steps-2")]
    assert scenario.given_text().count("part.stl") == 1
    assert "part.stl" not in scenario.resolved_text()


def open_box():
    mesh = block()
    mesh.update_faces(np.arange(12) > 0)
    return mesh


def twisted_box():
    mesh = block()
    mesh.faces[3] = mesh.faces[3][::-1]
    return mesh


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            open_box,
            r"mesh.file: found 'part.off'; must enclose a volume: it has a hole of 3 edges.* convex = \"hull\"",
        ),
        (twisted_box, "triangles that all face outwards"),
        (lambda: trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), "it is flat"),
    ],
)
def test_what_bounds_no_volume_is_refused(write, load, made, said):
    write(made(), "part.off")
    with pytest.raises(ConfigError, match=said):
        load(BODY + 'mesh = { file = "part.off" }\n')


@pytest.mark.parametrize(
    ("mesh", "said"),
    [
        ('{ file = "prt.stl" }', "found 'prt.stl'; there is no such file — did you mean 'part.stl'"),
        ('{ file = "none/part.stl" }', "there is no folder"),
        ('{ file = "part.step" }', "must be a file .stl, .obj"),
        ('{ file = "words.stl" }', "words.stl"),
        ('{ file = "part.stl", scale = 1e9 }', "is 3e.08 m large, .* give its units"),
        ('{ file = "quad.obj" }', "is not read as .obj|holds no triangles"),
        ('{ fil = "part.stl" }', "unknown key; known here: file.*did you mean 'file'"),
        ('{ file = "part.stl", units = "ft" }', "mesh.units: found 'ft'"),
        ('"part.stl"', "mesh"),
    ],
)
def test_mistakes_in_the_reference_are_named(write, load, tmp_path, mesh, said):
    write(block())
    (tmp_path / "words.stl").write_text("no mesh at all")
    (tmp_path / "quad.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 9 4\n")
    with pytest.raises(ConfigError, match=said) as refused:
        load(BODY + f"mesh = {mesh}\n")
    assert len(refused.value.mistakes) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_what_is_no_file_is_not_read(load, tmp_path):
    os.mkfifo(tmp_path / "pipe.stl")
    (tmp_path / "folder.obj").mkdir()
    (tmp_path / "device.ply").symlink_to("/dev/zero")
    for name, said in (("pipe.stl", "a pipe"), ("folder.obj", "a folder"), ("device.ply", "a device")):
        with pytest.raises(ConfigError, match=f"must be a file; it is {said}, which is not read"):
            load(BODY + f'mesh = {{ file = "{name}" }}\n')


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("named", ["comment TextureFile pipe", "comment TextureFile ../pipe"])
def test_a_mesh_is_read_without_the_pictures_that_it_names(write, tmp_path, named):
    """The first was waited for without end, deaf to requests to stop."""
    file = write(block(), "part.ply")
    plain = read_solid(MeshSource(file=file))
    for place in (tmp_path / "pipe", tmp_path.parent / "pipe"):
        if not place.exists():
            os.mkfifo(place)
    file.write_bytes(file.read_bytes().replace(b"\nelement vertex", f"\n{named}\nelement vertex".encode(), 1))
    found: list[object] = []
    reading = threading.Thread(target=lambda: found.append(read_solid(MeshSource(file=file))), daemon=True)
    reading.start()
    reading.join(120.0)
    assert found, "it waits for a picture"
    assert read_solid(MeshSource(file=file)).volume == plain.volume


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_obj_file_may_end_its_lines_as_any_system_does(tmp_path, end):
    (tmp_path / "part.obj").write_bytes((TETRAHEDRON + BACKWARDS).replace("\n", end).encode())
    assert read_solid(MeshSource(file=tmp_path / "part.obj")).volume == pytest.approx(1 / 6)


def test_without_the_decomposer_a_mesh_that_is_not_convex_is_refused(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Exception, match=r"is not convex, .* pip install coacd"):
        read_solid(MeshSource(file=write(channel())))


def test_without_this_distribution_a_mesh_names_what_to_install(monkeypatch, write, load):
    write(block())
    monkeypatch.setattr("corekit.scenario.load._with_imports", lambda document, folder, mistakes: document)
    with pytest.raises(ConfigError, match=r"options\.mesh: .*pip install corekit-import"):
        load(BODY + 'mesh = { file = "part.stl" }\n')


def in_one(*parts: trimesh.Trimesh) -> trimesh.Trimesh:
    """The bodies in one file."""
    return trimesh.util.concatenate(list(parts))


def other_diagonals() -> trimesh.Trimesh:
    """The box once more, with its rectangles cut along their other diagonals."""
    mesh = block()
    return trimesh.Trimesh(mesh.vertices * [-1, 1, 1], mesh.faces[:, ::-1])


def crossing_bars() -> trimesh.Trimesh:
    """Two bars of 10 × 1 × 1 that cross: no corner of one is inside of the other, and they share 1 of 20."""
    return in_one(block((1.0, 0.1, 0.1)), block((0.1, 1.0, 0.1)))


@pytest.mark.parametrize(
    ("made", "share"),
    [
        (other_diagonals, 50.0),
        (lambda: block(centre=(0.0, 0.1, 0.0)), 25.0),
        (lambda: block((0.05, 0.1, 0.15)), 100.0 / 9.0),
    ],
    ids=["the same, cut otherwise", "half of each", "a cavity that faces outwards"],
)
def test_what_would_weigh_twice_is_refused_with_its_share(write, load, made, share):
    write(in_one(block(), made()))
    with pytest.raises(
        ConfigError, match=r"mesh.file: found 'part.stl'; must fill no place twice"
    ) as refused:
        load(BODY + 'mesh = { file = "part.stl" }\n')
    said = float(str(refused.value).split("twice: ")[1].split("%")[0])
    assert said == pytest.approx(share, rel=2 / 128, abs=0.05)  # lines a 128th apart, and one decimal


def test_bars_that_cross_are_refused_for_a_body_and_pieces_of_an_obstacle(write, load):
    write(crossing_bars(), "bars.stl")
    obstacle = '[[world.obstacles]]\nname = "cross"\nmesh = { file = "bars.stl" }\n' + BODY
    assert len(load(obstacle).world.obstacles) == 2
    given = "mass = 2.0\ncentre_of_mass = [0, 0, 0]\ninertia = [1.0, 1.0, 1.0, 0, 0, 0]\n"
    body = BODY + 'mesh = { file = "bars.stl" }\n'
    assert load(body + given).bodies[0].options["mass"] == 2.0
    with pytest.raises(ConfigError, match=r"must fill no place twice: 5\.\d% of its volume"):
        load(body)


def test_what_touches_or_has_a_cavity_is_a_solid(write):
    hole = block((0.05, 0.1, 0.15))
    hole.invert()
    for made, volume in (
        (in_one(block(), block(centre=(0.1, 0.0, 0.0))), 12e-3),
        (in_one(block(), block(centre=(0.1, 0.05, 0.0))), 12e-3),
        (in_one(block(), hole), 6e-3 * 7 / 8),
    ):
        turned = made.copy()
        turned.apply_transform(trimesh.transformations.rotation_matrix(1.2, [0.3, -0.5, 0.8]))
        for mesh in (made, turned):
            solid = read_solid(MeshSource(file=write(mesh), concavity=1.0), weighs=True)
            assert solid.volume == pytest.approx(volume, rel=1e-5)  # STL stores single precision


CROSS = ((0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))
CHESS = ((0, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1))


@pytest.mark.parametrize("turned", [0.0, 1.2])
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("places", [CROSS, CHESS], ids=["whole sides", "edges"])
def test_boxes_that_share_sides_or_edges_are_a_piece_each(write, places, mirrored, turned):
    """Sides are cut along one diagonal or both; the decomposer ends the process at walls between bodies."""
    boxes = [block((0.1, 0.1, 0.1), 0.1 * np.array(place)) for place in places]
    if mirrored:
        for box in boxes[1:]:
            box.apply_transform(np.diag([-1.0, 1.0, 1.0, 1.0]))
    mesh = in_one(*boxes)
    mesh.apply_transform(trimesh.transformations.rotation_matrix(turned, [0.3, -0.5, 0.8]))
    solid = read_solid(MeshSource(file=write(mesh)), weighs=True)
    assert solid.volume == pytest.approx(1e-3 * len(places), rel=1e-5)
    hulls = [trimesh.Trimesh(vertices=piece).convex_hull.volume for piece in solid.pieces]
    np.testing.assert_allclose(hulls, [1e-3] * len(places), rtol=1e-5)


def test_a_cavity_belongs_to_the_body_around_it_alone(write):
    hole = block((0.05, 0.1, 0.15))
    hole.invert()
    sides = [block(centre=(0.1 * x, 0.2 * y, 0.0)) for x, y in [place[:2] for place in CROSS[1:]]]
    solid = read_solid(MeshSource(file=write(in_one(block(), hole, *sides)), concavity=1.0), weighs=True)
    assert solid.volume == pytest.approx(6e-3 * (5 - 1 / 8), rel=1e-6)
    alone = [piece for piece in solid.pieces if max(abs(np.mean(piece, axis=0))) > 0.09]
    assert [len(piece) for piece in alone] == [8] * 4
    # a corner of STL is rounded to float32
    np.testing.assert_allclose(solid.centre, 0.0, atol=float(np.finfo(np.float32).eps) * 0.3)


def faces_itself():
    mesh = block()
    mesh.invert()
    return in_one(block(), mesh)


def inside_out():
    mesh = block(centre=(0.5, 0.0, 0.0))
    mesh.invert()
    return in_one(block((0.2, 0.2, 0.3)), mesh)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: in_one(block(), block()), "every triangle once: 12 stand there again, facing the same way"),
        (inside_out, r"must have triangles that all face outwards: 33\.\d% of its volume is inside out"),
        (faces_itself, "must enclose a volume: to every triangle there is one that faces it"),
    ],
)
@pytest.mark.parametrize("use", [BODY, '[[world.obstacles]]\nname = "part"\n'], ids=["body", "obstacle"])
def test_a_surface_twice_or_inside_out_is_refused(write, load, made, said, use):
    write(made(), "part.ply")
    with pytest.raises(ConfigError, match=said):
        load(use + 'mesh = { file = "part.ply" }\n')


TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
LARGER = "v 5 5 5\nv 7 5 5\nv 5 7 5\nv 5 5 7\n"
BACKWARDS = "f -4 -2 -3\nf -4 -3 -1\nf -4 -1 -2\nf -3 -2 -1\n"


def test_an_index_below_zero_counts_back_from_its_own_face(tmp_path):
    file = tmp_path / "two.obj"
    file.write_text(f"o one\n{TETRAHEDRON}{BACKWARDS}o two\n{LARGER}{BACKWARDS}")
    solid = read_solid(MeshSource(file=file))
    assert solid.volume == pytest.approx(1 / 6 + 8 / 6)
    np.testing.assert_allclose(solid.centre, (0.25 / 6 + 5.5 * 8 / 6) / 1.5)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("f 2 3 0", "line 8: a face has the vertex 0, .* counted from 1, or back from -1, 4 stand above it"),
        ("f 2 3 9", "line 8: a face has the vertex 9, which there is not: the file has 4"),
        ("f 2/1 3/1 -5/1", "line 8: a face has the vertex -5, .* 4 stand above it"),
        ("f 2 3 four", "line 8: 'four' must begin with the index of a vertex"),
        ("f 2 3", "line 8: a face must have three vertices or more"),
        ("v 1 2", "line 8: v 1 2: must be three numbers"),
    ],
)  # fmt: skip
def test_a_wrong_line_of_an_obj_file_is_named(tmp_path, line, said):
    file = tmp_path / "part.obj"
    file.write_text(f"{TETRAHEDRON}f 1 3 2\nf 1 2 \\\n  4\n{line}\nf 1 4 3\n")
    with pytest.raises(ImportProblem, match=f"is not read as .obj: {said}"):
        read_solid(MeshSource(file=file, convex="hull"))


def test_an_obj_file_may_hold_more_than_vertices_and_triangles(tmp_path):
    """A unit cube of quadrangles with colours, normals, comments, vertices below the faces and one of no face."""
    corners = [f"v {i % 2} {i // 2 % 2} {i // 4} 0.5 0.5 0.5 # grey" for i in range(8)]
    sides = [(1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)]
    faces = ["f " + " ".join(f"{k}//1" for k in side) for side in sides]
    lines = ["mtllib none.mtl", "vn 0 0 1", *corners[:4], *faces, *corners[4:], "v 9 9 9", "l 1 2"]
    file = tmp_path / "cube.obj"
    file.write_bytes("\r\n".join(lines).encode())
    solid = read_solid(MeshSource(file=file))
    assert solid.volume == pytest.approx(1.0)
    assert [len(piece) for piece in solid.pieces] == [8]
    np.testing.assert_allclose(solid.inertia, np.eye(3) / 6, atol=1e-12)
