"""Every format is opened by the library whose it is, and holds what the records say."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.cli import main
from corekit.data.contacts import ContactRecord
from corekit.errors import ExtraNotInstalled
from corekit_export.formats import export_run, format_of
from corekit_export.scene import points_at, scene_of

RADIUS = 5e-3


@pytest.fixture(scope="module")
def scene(results):
    return scene_of(results.replay())


def at(scene, part, k):
    return next(points_at(each, k) for each in scene.parts if each.name == part)


def test_parts_stand_where_shapes_are(scene, results):
    for k in (0, -1):
        ball = at(scene, "top/1", k)
        np.testing.assert_allclose(
            np.linalg.norm(ball - results.frame_position[k, 0], axis=1), 0.05, rtol=1e-12
        )
    first = next(each for each in scene.parts if each.name == "rod/line-1-1")
    outline = results.replay().bodies[2].outline[:, :2]
    ends = [points_at(first, -1).mean(axis=0), 0.5 * outline[-1].sum(axis=0)]
    np.testing.assert_allclose(*ends, atol=1e-12)
    across = np.cross(points_at(first, -1) - outline[-1, 0], outline[-1, 1] - outline[-1, 0])
    away = np.linalg.norm(across, axis=1) / np.linalg.norm(outline[-1, 1] - outline[-1, 0])
    assert away.max() == pytest.approx(RADIUS, rel=1e-9)


@pytest.mark.to_nearest(
    "UpdateInformation of VTK 9.7's vtkHDFReader crashes after fesetround(FE_UPWARD), without a file too",
    "up",
)
def test_paraview_s_reader_finds_every_instant_with_its_contact_forces(results, tmp_path):
    reader_of = pytest.importorskip("vtkmodules.vtkIOHDF")
    to_numpy = pytest.importorskip("vtkmodules.util.numpy_support").vtk_to_numpy
    path = tmp_path / "run.vtkhdf"
    assert export_run(results.path, path) == []
    reader = reader_of.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    assert reader.GetNumberOfSteps() == len(results.time)
    for k in (0, 3, len(results.time) - 1):
        reader.SetStep(k)
        reader.Update()
        data, record = reader.GetOutput(), results.contacts(k)
        assert reader.GetTimeValue() == results.time[k]
        assert data.GetNumberOfVerts() == record.count
        force = to_numpy(data.GetPointData().GetArray("force"))
        np.testing.assert_allclose(force.sum(axis=0), record.force.sum(axis=0), rtol=1e-5, atol=1e-4)
        points = to_numpy(data.GetPoints().GetData())
        np.testing.assert_allclose(points[len(points) - record.count :], record.point, atol=1e-6)
        owner = to_numpy(data.GetCellData().GetArray("owner"))
        names = data.GetFieldData().GetAbstractArray("owners")
        assert [names.GetValue(i) for i in range(4)] == ["top", "bottom", "rod", "floor"]
        assert set(owner) == {0, 1, 2, 3} | ({-1} if record.count else set())
    assert isinstance(record, ContactRecord)
    assert record.count


def test_gltf_holds_the_motion_and_every_form_once(results, scene, tmp_path):
    pygltflib, trimesh = pytest.importorskip("pygltflib"), pytest.importorskip("trimesh")
    path = tmp_path / "run.glb"
    export_run(results.path, path)
    loaded = trimesh.load(path)
    assert len(loaded.graph.nodes_geometry) == len(scene.parts)
    assert len(loaded.geometry) == 6  # sphere, box, floor, and the lines of three bodies in their colours
    corners = np.concatenate([points_at(part, 0) for part in scene.parts])
    upright = np.stack([corners[:, 0], corners[:, 2], -corners[:, 1]], axis=1)  # y is up there
    np.testing.assert_allclose(loaded.bounds, [upright.min(axis=0), upright.max(axis=0)], atol=1e-5)
    whole = pygltflib.GLTF2().load(str(path))
    blob = whole.binary_blob()

    def array(index):
        accessor = whole.accessors[index]
        view = whole.bufferViews[accessor.bufferView]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor.type]
        values = np.frombuffer(blob, np.float32, accessor.count * width, view.byteOffset)
        return values.reshape(accessor.count, width)

    (animation,) = whole.animations
    tip = next(i for i, node in enumerate(whole.nodes) if node.name == "rod/line-1-30")
    (channel,) = [
        each for each in animation.channels if each.target.node == tip and each.target.path == "translation"
    ]
    sampler = animation.samplers[channel.sampler]
    np.testing.assert_allclose(array(sampler.input)[:, 0], results.time, rtol=1e-6)
    part = next(each for each in scene.parts if each.name == "rod/line-1-30")
    np.testing.assert_allclose(array(sampler.output), part.position, atol=1e-6)


@pytest.mark.parametrize("ending", ["usd", "usda", "usdc"])
def test_usd_holds_the_motion_in_metres_with_z_up(results, scene, tmp_path, ending):
    pxr = pytest.importorskip("pxr.UsdGeom")
    usd = pytest.importorskip("pxr.Usd")
    path = tmp_path / f"run.{ending}"
    export_run(results.path, path)
    stage = usd.Stage.Open(str(path))
    assert pxr.GetStageUpAxis(stage) == "Z"
    assert pxr.GetStageMetersPerUnit(stage) == 1.0
    for k in (0, len(results.time) - 1):
        cache = pxr.BBoxCache(1000.0 * float(results.time[k]), [pxr.Tokens.default_])
        box = cache.ComputeWorldBound(stage.GetPrimAtPath("/pile_and_rod/rod")).ComputeAlignedRange()
        corners = np.concatenate([points_at(part, k) for part in scene.parts if part.owner == 2])
        # the box of turned parts holds them
        assert np.all(np.array(box.GetMin()) <= corners.min(axis=0) + 1e-6)
        assert np.all(np.array(box.GetMax()) >= corners.max(axis=0) - 1e-6)
        assert np.all(np.array(box.GetMin()) >= corners.min(axis=0) - 0.01)


@pytest.mark.to_nearest(
    "CPython writes 1 − 2⁻⁵³ as 'nan' after fesetround(FE_UPWARD): f'{1 - 2**-53:.9g}'", "up"
)
def test_mujoco_s_cantilever_sags_as_beam_theory_says_and_a_ball_lies_still(results, tmp_path):
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "run.mjcf"
    notes = export_run(results.path, path)
    assert notes == ["approximate: the rods of 'rod' are chains of links, which do not stretch"]
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    masses = dict(zip((model.body(i).name for i in range(model.nbody)), model.body_mass, strict=True))
    assert masses["top"] == pytest.approx(1.0)
    assert masses["bottom"] == pytest.approx(2.0)
    load, edge = 1000.0 * np.pi * RADIUS**2 * 9.81, 0.01  # N/m, m
    weight = sum(mass for name, mass in masses.items() if name.startswith("rod"))
    assert weight == pytest.approx(load / 9.81 * 0.3)
    for _ in range(2500):
        mujoco.mj_step(model, data)
    tip = data.body("rod-beam-30")
    end = tip.xpos + tip.xmat.reshape(3, 3)[:, 0] * 0.01
    # springs of EI/l at the nodes, whose moments are q·s²/2 at s = k·l from the tip: the linear sag is Σ q·l·s³/(2EI)
    sag = load * edge**4 * np.sum(np.arange(1, 30) ** 3) / (2.0 * 5e7 * 0.25 * np.pi * RADIUS**4)
    assert 0.5 - end[2] == pytest.approx(sag, rel=(sag / 0.3) ** 2)  # a large sag is less by its square
    assert data.body("bottom").xpos[2] == pytest.approx(0.05, abs=1e-3)


def test_the_verb_says_what_it_wrote_and_refuses_an_unknown_ending(results, tmp_path, capsys):
    out = tmp_path / "run.glb"
    assert main(["export", str(results.path), "-o", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    assert main(["export", str(results.path), "-o", str(tmp_path / "run.obj")]) == 2
    assert "must end with one of .vtkhdf, .glb" in capsys.readouterr().err
    assert main(["export", str(tmp_path), "-o", str(out)]) == 2
    assert "no results in" in capsys.readouterr().err


def test_a_library_that_is_not_there_is_asked_for_by_its_extra(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ExtraNotInstalled, match=r'pip install "corekit-export\[usd\]"'):
        format_of(tmp_path / "x.usd")
