"""The page is self-contained and complete, and its server stops."""

import base64
import json
import re
import shutil
import socket
import subprocess
import threading

import msgspec
import numpy as np
import pytest
import zstandard
from attrs import evolve

from corekit.data.contacts import ContactMode
from corekit.errors import PluginError, ResultsError
from corekit.roles.viewer import ContactTrack
from corekit_view.config import PageConfig
from corekit_view.contacts import Arrows
from corekit_view.frames import thin_frames
from corekit_view.page_forces import force_numbers, force_script
from corekit_view.palette import rgb
from corekit_view.viser_scene import linear_bytes
from corekit_view.viser_viewer import ViserViewer


def written(replay, folder, **options):
    path = folder / "run.html"
    ViserViewer(PageConfig(**options)).render(replay, path)
    assert [entry.name for entry in folder.iterdir()] == ["run.html"]
    return path.read_text(encoding="utf-8")


def recording(page):
    """Return the recorded messages of a page and their raw arrays."""
    (text,) = re.findall(r'__VISER_EMBED_DATA__="([^"]+)"', page)
    packed = base64.b64decode(text)
    size = int.from_bytes(packed[:8], "little")
    inner = zstandard.ZstdDecompressor().decompressobj().decompress(packed[8:])
    assert len(inner) == size
    length = int.from_bytes(inner[:8], "little")
    return msgspec.msgpack.decode(inner[8 : 8 + length])


def of_type(content, kind):
    return [(time, message) for time, message in content["messages"] if message["type"] == kind]


@pytest.fixture(scope="module")
def arm_page(arm_over_box, tmp_path_factory):
    return written(arm_over_box(40), tmp_path_factory.mktemp("page"))


def test_page_loads_nothing_from_elsewhere(arm_page):
    tags = re.findall(r"<(?:script|link|img|iframe|source|style)\b[^>]{0,4000}>", arm_page)
    targets = [
        target for tag in tags for target in re.findall(r"""\s(?:src|href)\s*=\s*["']?([^"'\s>]+)""", tag)
    ]
    assert [target for target in targets if not target.startswith("data:")] == []
    assert "@import" not in arm_page.split("</head>")[0]


def test_page_contains_title_legend_and_every_object(arm_page):
    assert "<title>arm-on-inclined-box</title>" in arm_page
    (corner,) = re.findall(
        r"<details open.*?<summary[^>]*>([^<]*)</summary>(.*)</details>", arm_page, re.DOTALL
    )
    assert corner[0] == "arm-on-inclined-box"  # folds and unfolds what follows
    for shown in ("contact: stick", "contact: slide", "corekit-strip"):
        assert shown in corner[1]
    names = {message["name"] for _, message in of_type(recording(arm_page), "BatchedMeshesMessage")}
    assert {"/bodies/0/links", "/bodies/0/joints", "/bodies/0/cylinder", "/obstacles/0"} <= names
    assert {
        f"/contacts/{mode}/{part}" for mode in ("stick", "slide") for part in ("points", "shafts", "heads")
    } <= names


PAGE = """
const made = {}, docked = {};
const element = (id) => made[id] ??= {
  id, textContent: "", set: {}, style: {}, handlers: {}, setAttribute(name, value) { this.set[name] = value; },
  addEventListener(name, does) { this.handlers[name] = does; },
  getBoundingClientRect: () => ({ left: 100, width: 240 }),
};
element("corekit-forces").textContent = DATA;
let shown = 0, canvas = null, ticks = () => 0;
globalThis.setInterval = (does) => { ticks = (count) => { for (let k = 0; k < count; k++) does(); }; };
globalThis.document = {
  body: { append(each) { each.alone = true; } }, getElementById: element,
  addEventListener(name, does) { docked[name] = does; },
  querySelector: (selector) => selector === "canvas" ? canvas
    : selector === '[role="slider"]' ? { getAttribute: () => String(shown) } : null,
};
SCRIPT
docked.DOMContentLoaded();
"""
STRIP = """
for (const x of WHERE) {
  made["corekit-strip"].handlers.pointermove({ clientX: x });
  console.log(made["corekit-force"].textContent);
}
made["corekit-strip"].handlers.pointerleave();
shown = SHOWN;
docked.pointermove({ clientX: 0, clientY: 0 });
console.log(made["corekit-force"].textContent);
"""
SCENE = """
const drawn = { isInstancedMesh2: true, parent: {}, matrixWorld: { elements: [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1] } };
const scene = { isScene: true, onBeforeRender() {}, traverse: (look) => look(drawn) };
__THREE_DEVTOOLS__.dispatchEvent(new CustomEvent("observe", { detail: scene }));
// 1000 px a metre, x to the right and z up, from (500, 500)
const camera = {
  matrixWorldInverse: drawn.matrixWorld, projectionMatrix: { elements: [2,0,0,0, 0,0,0,0, 0,2,0,0, 0,0,0,1] },
};
canvas = { getBoundingClientRect: () => ({ left: 0, top: 0, width: 1000, height: 1000 }) };
const draw = () => scene.onBeforeRender({ domElement: canvas }, scene, camera);
"""
ARROWS = f"""{SCENE}
draw();
shown = SHOWN;
for (const [x, y] of WHERE) {{
  docked.pointermove({{ clientX: x, clientY: y }});
  const tip = made["corekit-tip"]; // a child of the body, so that a folded corner does not hide it
  console.log(tip.alone && tip.style.display, tip.textContent);
}}
"""
SAYS = """
const says = () => console.log(made["corekit-missing"].style.display);
"""
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")


def played(replay, arrows, speed, program, shown, where):
    """What a program prints in a page that shows a time, in lines."""
    data = re.findall(r"json\" id=\"corekit-forces\">(.*)</script>", force_numbers(replay, arrows, speed))[0]
    script = force_script().removeprefix("<script>").removesuffix("</script>")
    page = PAGE.replace("DATA", json.dumps(data)).replace("SCRIPT", script)
    program = program.replace("SHOWN", str(shown)).replace("WHERE", json.dumps(where))
    told = subprocess.run(["node", "-e", page + program], capture_output=True, text=True, check=True)
    return told.stdout.splitlines()


@needs_node
def test_sums_of_forces_are_told_at_the_time_that_is_shown_or_pointed_at(arm_over_box):
    replay, speed = arm_over_box(40), 2.0
    size = [np.linalg.norm(contact.force, axis=1) for contact in replay.contacts]
    chosen = [0, int(np.argmax([each.sum() for each in size])), 39, 23]
    time = replay.time
    where = [100 + 240 * float((time[k] - time[0]) / (time[-1] - time[0])) for k in chosen[:3]]
    told = played(replay, Arrows(0.01), speed, STRIP, (time[23] - time[0]) / speed, where)
    assert len(told) == 4
    for k, line in zip(chosen, told, strict=True):
        at, total, count, largest = (float(number) for number in re.findall(r"-?\d[\d.e+-]*", line))
        expected = (time[k], size[k].sum(), len(size[k]), size[k].max(initial=0.0))
        assert (at, total, count, largest) == pytest.approx(expected, rel=1e-3, abs=1e-6)


@needs_node
def test_the_arrow_under_the_pointer_tells_its_force(planar_rod):
    """Two arrows of one frame, one of them shortened, pointed at half way up; and beside both."""
    force = np.array([[0.0, 0.0, 2.0], [3.0, 0.0, -40.0]])
    contact = ContactTrack(
        point=np.array([[-0.2, 0.3, 0.0], [0.2, -0.1, 0.1]]), force=force,
        mode=np.array([ContactMode.STICK, ContactMode.SLIDE]),
    )  # fmt: skip
    none = ContactTrack(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, dtype=int))
    replay = planar_rod(4)
    replay = evolve(replay, contacts=(none, none, contact, none))
    arrows = Arrows(0.05, longest=0.1)
    half = (contact.point + 0.5 * arrows.vectors(force)) * 1000.0
    where = [[500 + x, 500 - z] for x, _, z in half.tolist()] + [[500.0, 500.0]]
    told = played(replay, arrows, 1.0, ARROWS, float(replay.time[2] - replay.time[0]), where)
    assert told[:2] == ["block 2 N (0, 0, 2), stick", "block 40.1 N (3, 0, -40), slide"]
    assert told[2].startswith("none")
    assert played(replay, arrows, 1.0, ARROWS, 0.0, where[:1])[0].startswith("none")


@needs_node
def test_a_player_that_tells_no_camera_is_said_to_have_no_numbers_beside_arrows(arm_over_box):
    """Nothing is said while the player loads or where the camera is known."""

    def told(program):
        return played(arm_over_box(4), Arrows(0.01), 1.0, SAYS + program, 0.0, [])

    assert told("ticks(100); says(); canvas = {}; ticks(1); says(); ticks(100); says();") == [
        "none",
        "none",
        "block",
    ]
    known = "canvas = {}; ticks(100); says(); for (let k = 0; k < 100; k++) draw(); ticks(1); says();"
    assert told(SCENE + known) == ["none", "none"]
    # a scene without what viser draws
    assert told(SCENE + "drawn.isInstancedMesh2 = false;" + known) == ["none", "block"]


def test_a_run_without_forces_has_no_numbers_of_them(arm_over_box, planar_rod, tmp_path):
    assert force_numbers(planar_rod(), Arrows(0.0), 1.0) == ""
    assert "corekit-strip" in force_numbers(arm_over_box(4), Arrows(0.01), 1.0)
    assert "corekit-forces" not in written(planar_rod(), tmp_path)


def test_the_script_of_forces_runs_before_the_player(arm_page):
    assert arm_page.index(force_script()) < arm_page.index("<script", arm_page.index(force_script()) + 10)
    assert arm_page.index(force_script()) == arm_page.index("<script")


def test_recording_has_the_duration_of_the_run(arm_page):
    content = recording(arm_page)
    updates = of_type(content, "SceneNodeUpdateMessage")
    times = np.array([time for time, _ in content["messages"]])
    assert np.all(np.diff(times) >= 0)
    assert 1.6 < times[-1] <= 2.0  # the arm comes to rest at 1.7 s
    assert content["durationSeconds"] == pytest.approx(2.0)
    assert {message["name"] for _, message in updates} >= {"/bodies/0/links", "/contacts/slide/shafts"}


def test_static_objects_are_sent_once(arm_page):
    updates = of_type(recording(arm_page), "SceneNodeUpdateMessage")
    assert "/obstacles/0" not in {message["name"] for _, message in updates}


def test_first_camera_looks_at_the_scene_from_outside(arm_page, arm_over_box):
    content = recording(arm_page)
    position = np.array(of_type(content, "SetCameraPositionMessage")[-1][1]["position"])
    target = np.array(of_type(content, "SetCameraLookAtMessage")[-1][1]["look_at"])
    outline = arm_over_box(40).bodies[0].outline.reshape(-1, 3)
    assert np.linalg.norm(target - outline.mean(axis=0)) < 0.4
    toward = (position - target) / np.linalg.norm(position - target)
    ahead = (position - outline) @ toward
    off_axis = np.linalg.norm((position - outline) - ahead[:, None] * toward, axis=1)
    assert ahead.min() > 0
    assert np.arctan2(off_axis, ahead).max() < 0.5 * np.radians(40) * 1.4


def test_speed_shortens_the_recording(arm_over_box, tmp_path):
    assert recording(written(arm_over_box(5), tmp_path, speed=4.0))["durationSeconds"] == pytest.approx(0.5)


def test_two_hundred_frames_stay_under_three_megabytes(arm_over_box, tmp_path):
    written(arm_over_box(200), tmp_path)
    assert (tmp_path / "run.html").stat().st_size < 1.3e6


def test_long_and_fine_runs_are_thinned_to_the_target_size(planar_rod, tmp_path):
    written(planar_rod(400, points=3000), tmp_path, megabytes=2.0)
    assert (tmp_path / "run.html").stat().st_size < 2.0e6


def test_thinning_keeps_the_time_of_the_end(arm_over_box):
    assert thin_frames(arm_over_box(90), 10).time[-1] == 2.0


def test_single_frame_no_contacts_and_every_kind_are_written(arm_over_box, fallen_bodies, tmp_path):
    content = recording(written(arm_over_box(1, contacts=False), tmp_path))
    assert content["durationSeconds"] == 0.0
    names = {
        m["name"] for _, m in of_type(recording(written(fallen_bodies(12), tmp_path)), "BatchedMeshesMessage")
    }
    assert sum(name.startswith("/bodies") and name.endswith("links") for name in names) == 12
    assert {f"/obstacles/{i}" for i in range(1, 7)} <= names


def test_title_is_escaped(arm_over_box, tmp_path):
    page = written(evolve(arm_over_box(2), title="</script><b>&"), tmp_path)
    assert "</script><b>&" not in page
    assert "<title>&lt;/script&gt;&lt;b&gt;&amp;</title>" in page


def test_no_server_thread_or_output_remains(arm_over_box, tmp_path, capsys):
    before = set(threading.enumerate())
    written(arm_over_box(3), tmp_path)
    assert set(threading.enumerate()) <= before
    assert capsys.readouterr().out == ""


def test_used_ports_do_not_matter(arm_over_box, tmp_path, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setenv("_VISER_PORT_OVERRIDE", str(taken.getsockname()[1]))
        assert "__VISER_EMBED_DATA__" in written(arm_over_box(2), tmp_path)


def test_server_is_stopped_after_a_failure(arm_over_box, tmp_path, monkeypatch):
    before = set(threading.enumerate())

    def broken(*_arguments):
        raise RuntimeError("broken recorder")

    monkeypatch.setattr("corekit_view.viser_viewer.record_page", broken)
    with pytest.raises(RuntimeError, match="broken recorder"):
        ViserViewer(PageConfig()).render(arm_over_box(2), tmp_path / "run.html")
    assert set(threading.enumerate()) <= before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["missing/run.html", "folder.html"])
def test_unwritable_path_is_reported_without_a_file(arm_over_box, tmp_path, place):
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ResultsError, match="cannot write"):
        ViserViewer(PageConfig()).render(arm_over_box(2), tmp_path / place)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder.html"]


def test_other_suffix_is_refused(arm_over_box, tmp_path):
    with pytest.raises(ResultsError, match=r"writes \.html"):
        ViserViewer(PageConfig()).render(arm_over_box(2), tmp_path / "run.png")


def test_missing_viser_is_reported(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(PluginError, match=r"needs the module 'viser'.*pip install"):
        ViserViewer(PageConfig())


def test_linear_light_of_known_colours():
    assert linear_bytes(rgb("#000000")) == (0, 0, 0)
    assert linear_bytes(rgb("#FFFFFF")) == (255, 255, 255)
    assert linear_bytes(np.array([0.5, 0.04045, 0.2])) == (55, 1, 8)  # 0.2140, 0.0031, 0.0331
