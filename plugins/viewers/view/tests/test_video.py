"""The video has the duration of the run, shows its instants, and is written atomically."""

import subprocess
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from matplotlib import rc_context

from corekit.errors import ConfigError, PluginError, ResultsError
from corekit_view.camera import View, window
from corekit_view.config import VideoConfig
from corekit_view.encoder import ffmpeg
from corekit_view.frames import select
from corekit_view.palette import MODES, rgb
from corekit_view.plot_style import set_plot_style
from corekit_view.scene import bounds
from corekit_view.video import VideoViewer
from corekit_view.video_frames import VideoFrames, extend_window, frame_index

STICK, SLIDE = (rgb(colour) for _, _, colour, _ in MODES)
SMALL: dict[str, Any] = {"fps": 5, "width": 240, "height": 180, "azimuth": -1.0}


@pytest.fixture(autouse=True)
def _style():
    with rc_context():
        set_plot_style()
        yield


def written(replay, folder, **options):
    path = folder / "run.mp4"
    VideoViewer(VideoConfig(**{**SMALL, **options})).render(replay, path)
    assert [entry.name for entry in folder.iterdir()] == ["run.mp4"]
    return path


def decoded(path, width, height):
    """Return all pictures of a video as decoded by ffmpeg, in 0…1."""
    command = [ffmpeg(), "-loglevel", "error", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(raw, dtype=np.uint8).reshape(-1, height, width, 3) / 255.0


def differ(one, other):
    """Return the root mean square of the difference of two pictures."""
    return float(np.sqrt(np.mean((one - other) ** 2)))


def near(image, colour):
    return int(np.count_nonzero(np.abs(image - colour).max(axis=2) < 0.08))


def test_pictures_are_of_the_nearest_instants_at_a_constant_rate():
    time = np.linspace(0.0, 2.0, 201)
    shown = frame_index(time, 30, 1.0)
    assert len(shown) == 61 + 15  # two seconds, both ends, and half a second of rest
    assert np.abs(time[shown[:61]] - np.arange(61) / 30).max() <= 0.005 + 1e-12
    assert np.all(shown[60:] == 200)


@pytest.mark.parametrize(("speed", "pictures"), [(0.1, 101), (1.0, 11), (4.0, 3), (1e6, 1)])
def test_speed_stretches_and_shortens(speed, pictures):
    time = 3.0 + np.array([0.0, 0.02, 0.5, 0.51, 1.0])  # records need not be evenly spread, nor begin at zero
    shown = frame_index(time, 10, speed)
    assert len(shown) == pictures + 5
    wanted = 3.0 + speed * np.arange(pictures) / 10
    best = np.abs(time[:, None] - wanted).min(axis=0)
    assert np.abs(time[shown[:pictures]] - wanted) == pytest.approx(best, abs=1e-12)


def test_single_frame_is_a_still():
    assert frame_index(np.array([0.7]), 4, 1.0).tolist() == [0, 0, 0]


@pytest.mark.parametrize("speed", [1e-308, 5e-324, 1e-9])
def test_a_video_of_more_pictures_than_anybody_waits_for_is_refused(speed):
    with pytest.raises(ConfigError, match=r"speed: found .*; makes .* pictures of 100 s at fps = 30"):
        frame_index(np.linspace(0.0, 100.0, 11), 30, speed)


def test_a_video_that_would_never_end_is_refused():
    with pytest.raises(
        ConfigError, match=r"speed: found 1e-09; makes 1\.2e\+10 pictures of 0\.4 s at fps = 30"
    ):
        frame_index(np.array([0.0, 0.2, 0.4]), 30, 1e-9)


def test_extended_window_keeps_its_scale(arm_over_box):
    replay = arm_over_box(2)
    narrow = window(View(-1.0, 0.35), bounds(replay))
    wide, tall = extend_window(narrow, 3.0), extend_window(narrow, 0.3)
    assert wide.width == pytest.approx(3.0 * wide.height)
    assert wide.height == pytest.approx(narrow.height)
    assert tall.height == pytest.approx(tall.width / 0.3)
    assert tall.width == pytest.approx(narrow.width)
    assert wide.left + wide.right == pytest.approx(narrow.left + narrow.right)


def test_file_has_the_expected_pictures_and_an_even_size(arm_over_box, tmp_path):
    shown = decoded(written(arm_over_box(5), tmp_path, fps=3, width=239, height=181), 240, 182)
    assert len(shown) == 7 + 2  # two seconds at 3 a second with both ends, and half a second of rest
    # the arm moves, then rests up to errors of the compression
    assert differ(shown[1], shown[4]) > 0.05
    assert differ(shown[-1], shown[-2]) < 0.005


def test_decoded_pictures_are_those_that_were_drawn(arm_over_box, tmp_path):
    replay, config = arm_over_box(3), VideoConfig(**SMALL)
    drawn = list(VideoFrames(replay, config))
    assert len(drawn) == len(VideoFrames(replay, config))
    for picture, back in zip(drawn, decoded(written(replay, tmp_path), 240, 180), strict=True):
        assert differ(picture / 255.0, back) < 0.03


def test_contacts_are_drawn_while_they_last(arm_over_box):
    replay = arm_over_box(9)
    first = next(k for k, contact in enumerate(replay.contacts) if len(contact.mode))
    pictures = list(VideoFrames(replay, VideoConfig(**{**SMALL, "fps": 4, "width": 480, "height": 360})))
    foot = int(0.9 * 360)  # the legend shows both modes from the start
    assert near(pictures[first - 1][:foot] / 255.0, STICK) == 0
    assert near(pictures[8][:foot] / 255.0, STICK) > 20
    assert near(pictures[8][:foot] / 255.0, SLIDE) > 20
    without = list(VideoFrames(arm_over_box(2, contacts=False), VideoConfig(**SMALL)))
    assert near(without[-1] / 255.0, SLIDE) == 0


def test_equal_pictures_are_drawn_once_and_order_is_kept(arm_over_box, monkeypatch):
    film = VideoFrames(arm_over_box(3), VideoConfig(**{**SMALL, "fps": 10}))
    made = []
    compose = VideoFrames._composed
    monkeypatch.setattr(
        VideoFrames, "_composed", lambda self, k, shaded: made.append(k) or compose(self, k, shaded)
    )
    assert len(list(film)) == 26
    assert made == [0, 1, 2]


def test_progress_rises_to_the_end(arm_over_box, tmp_path):
    shares = []
    VideoViewer(VideoConfig(**SMALL)).render(arm_over_box(3), tmp_path / "run.mp4", shares.append)
    assert len(shares) == 13
    assert np.all(np.diff(shares) > 0)
    assert shares[-1] == 1.0


def test_same_replay_gives_the_same_bytes(arm_over_box, tmp_path):
    first = written(arm_over_box(2), tmp_path).read_bytes()
    assert written(arm_over_box(2), tmp_path).read_bytes() == first


def fake_ffmpeg(folder, monkeypatch, script):
    path = folder / "ffmpeg"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(path))


@pytest.mark.parametrize(
    "script",
    [
        "head -c 1000 >/dev/null; echo 'run: No space left on device' >&2; exit 1",  # in the middle
        "cat >/dev/null; echo 'run: No space left on device' >&2; exit 1",  # at the end
    ],
)
def test_error_of_the_encoder_is_reported_and_the_old_video_kept(arm_over_box, tmp_path, monkeypatch, script):
    fake_ffmpeg(tmp_path, monkeypatch, script)
    (tmp_path / "out").mkdir()
    path = tmp_path / "out" / "run.mp4"
    path.write_bytes(b"old")
    with pytest.raises(ResultsError, match=r"not written.*No space left on device"):
        VideoViewer(VideoConfig(**SMALL)).render(arm_over_box(2), path)
    assert path.read_bytes() == b"old"
    assert len(list(path.parent.iterdir())) == 1


def test_ffmpeg_that_does_not_start_is_reported(arm_over_box, tmp_path, monkeypatch):
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(tmp_path / "nowhere" / "ffmpeg"))
    with pytest.raises(PluginError, match=r"does not start from .*nowhere.*IMAGEIO_FFMPEG_EXE"):
        VideoViewer(VideoConfig(**SMALL)).render(arm_over_box(2), tmp_path / "run.mp4")
    assert list(tmp_path.iterdir()) == []


def test_absent_ffmpeg_is_reported(monkeypatch):
    def nothing():
        raise RuntimeError("No ffmpeg exe could be found.")

    monkeypatch.setattr("imageio_ffmpeg.get_ffmpeg_exe", nothing)
    with pytest.raises(PluginError, match=r"no ffmpeg found.*on the PATH"):
        ffmpeg()


def test_interruption_ends_ffmpeg_and_leaves_nothing(arm_over_box, tmp_path, monkeypatch):
    ffmpeg()  # imageio starts one of its own, once, to see whether it starts
    started = []
    begin = subprocess.Popen

    def watched(*arguments, **options):
        started.append(begin(*arguments, **options))
        return started[-1]

    monkeypatch.setattr("corekit_view.encoder.subprocess.Popen", watched)

    def stop(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        VideoViewer(VideoConfig(**SMALL)).render(arm_over_box(5), tmp_path / "run.mp4", stop)
    assert list(tmp_path.iterdir()) == []
    assert [process.poll() is not None for process in started] == [True]


@pytest.mark.parametrize("place", ["missing/run.mp4", "folder.mp4"])
def test_unwritable_path_is_reported_without_a_file(arm_over_box, tmp_path, place):
    (tmp_path / "folder.mp4").mkdir()
    with pytest.raises(ResultsError, match="cannot write"):
        VideoViewer(VideoConfig(**SMALL)).render(arm_over_box(1), tmp_path / place)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder.mp4"]


def test_a_replay_without_drawable_frames_is_reported(arm_over_box, tmp_path):
    with pytest.raises(ResultsError, match="no frames"):
        VideoViewer(VideoConfig(**SMALL)).render(
            select(arm_over_box(2), np.zeros(0, dtype=np.int64)), tmp_path / "run.mp4"
        )


def test_title_is_not_read_as_mathematics(arm_over_box, tmp_path):
    written(evolve(arm_over_box(1), title=r"$ \frac{ ^"), tmp_path)


@pytest.mark.parametrize("module", ["matplotlib", "imageio_ffmpeg"])
def test_missing_module_is_reported(monkeypatch, module):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == module else object())
    with pytest.raises(PluginError, match=rf"needs the module '{module}'.*pip install"):
        VideoViewer(VideoConfig())


@pytest.mark.parametrize("wrong", [{"fps": 0}, {"speed": 0.0}, {"width": 3}, {"height": 10**6}])
def test_options_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        VideoConfig(**wrong)
