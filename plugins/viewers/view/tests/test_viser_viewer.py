"""The page is self-contained and complete, and its server stops."""

import base64
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

from corekit.errors import PluginError, ResultsError
from corekit_view.config import PageConfig
from corekit_view.force_strip import force_strip
from corekit_view.frames import thin_frames
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
    assert "contact: stick" in arm_page
    assert "contact: slide" in arm_page
    names = {message["name"] for _, message in of_type(recording(arm_page), "BatchedMeshesMessage")}
    assert {"/bodies/0/links", "/bodies/0/joints", "/bodies/0/cylinder", "/obstacles/0"} <= names
    assert {
        f"/contacts/{mode}/{part}" for mode in ("stick", "slide") for part in ("points", "shafts", "heads")
    } <= names


POINTER = """
const handlers = {}, made = {};
const element = (id) => made[id] ??= {
  textContent: "usual", set: {}, setAttribute(name, value) { this.set[name] = value; },
  addEventListener(name, does) { handlers[name] = does; }, getBoundingClientRect: () => ({ left: 100, width: 240 }),
};
globalThis.document = { getElementById: element };
SCRIPT
for (const x of WHERE) {
  handlers.pointermove({ clientX: x });
  console.log(made["corekit-force"].textContent);
}
handlers.pointerleave();
console.log(made["corekit-force"].textContent, made["corekit-now"].set.visibility);
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_forces_are_told_in_numbers_where_the_pointer_is(arm_over_box):
    """Pointed at a frame's time, the page tells the sum of its forces, their count and the largest."""
    replay = arm_over_box(40)
    size = [np.linalg.norm(contact.force, axis=1) for contact in replay.contacts]
    chosen = [0, int(np.argmax([each.sum() for each in size])), 39]
    time = replay.time
    where = [100 + 240 * float((time[k] - time[0]) / (time[-1] - time[0])) for k in chosen]
    (script,) = re.findall(r"<script>(.*)</script>", force_strip(replay), re.DOTALL)
    program = POINTER.replace("SCRIPT", script).replace("WHERE", str(where))
    told = subprocess.run(
        ["node", "-e", program], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for k, line in zip(chosen, told, strict=False):
        at, total, count, largest = (float(number) for number in re.findall(r"-?\d[\d.e+-]*", line))
        expected = (time[k], size[k].sum(), len(size[k]), size[k].max(initial=0.0))
        assert (at, total, count, largest) == pytest.approx(expected, rel=1e-3, abs=1e-6)
    assert told[-1] == "usual hidden"


def test_a_run_without_forces_has_no_chart_of_them(arm_over_box, planar_rod):
    assert force_strip(planar_rod()) == ""
    assert "corekit-strip" in force_strip(arm_over_box(4))


def test_recording_has_the_duration_of_the_run(arm_page):
    content = recording(arm_page)
    updates = of_type(content, "SceneNodeUpdateMessage")
    times = np.array([time for time, _ in content["messages"]])
    assert np.all(np.diff(times) >= 0)
    assert 1.6 < times[-1] <= 2.0  # the arm comes to rest at 1.7 s
    assert content["durationSeconds"] == pytest.approx(2.5)
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
    assert recording(written(arm_over_box(5), tmp_path, speed=4.0))["durationSeconds"] == pytest.approx(1.0)


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
