"""The picture needs no display, shows the scene, and is written atomically."""

from typing import Any

import numpy as np
import pytest
from attrs import evolve
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread

from corekit.data.contacts import ContactMode
from corekit.errors import PluginError, ResultsError
from corekit.geometry.shapes import Shape
from corekit.roles.viewer import BodyTrack, ContactTrack, ObstacleTrack, Replay
from corekit_view.camera import View, Window
from corekit_view.config import PictureConfig
from corekit_view.contacts import Arrows
from corekit_view.overlay import draw_contacts, force_arrows
from corekit_view.palette import MODES, rgb
from corekit_view.picture import MatplotlibViewer
from corekit_view.timeplots import draw_time_plots

STICK, SLIDE = (rgb(colour) for _, _, colour, _ in MODES)


@pytest.fixture(autouse=True)
def _no_display(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)


def drawn(replay, folder, **options):
    path = folder / "run.png"
    given: dict[str, Any] = {"dpi": 90, "panels": 3, "width": 0.12, **options}
    MatplotlibViewer(PictureConfig(**given)).render(replay, path)
    assert [entry.name for entry in folder.iterdir()] == ["run.png"]
    return imread(path)[:, :, :3]


def pixels_of(image, colour, tolerance=0.03):
    return np.argwhere(np.abs(image - colour).max(axis=2) < tolerance)


def one_contact(force, mode=ContactMode.SLIDE):
    """Return a ball at rest on a level plane, with one force at the origin."""
    point, still = np.zeros((1, 3)), np.tile(np.eye(3), (1, 1, 1))
    body = BodyTrack(
        "ball", np.zeros((1, 0, 3)), np.zeros(0), np.zeros(1, dtype=np.int64), (Shape("sphere", (0.1,)),),
        np.array([[[0.0, 0.0, 0.1]]]), still[None],
    )  # fmt: skip
    ground = ObstacleTrack("floor", Shape("half-space", ()), np.zeros((1, 3)), still)
    contact = ContactTrack(point, np.array([force], dtype=float), np.array([mode], dtype=np.int64))
    return Replay("ball", np.zeros(1), (body,), (ground,), (contact,))


def test_picture_has_the_width_of_the_options_and_the_colours_of_both_modes(arm_over_box, tmp_path):
    image = drawn(arm_over_box(30), tmp_path, width=0.1)
    assert image.shape[1] == pytest.approx(0.1 / 0.0254 * 90, abs=1)
    assert 0.05 < np.mean(image.min(axis=2) < 0.97) < 0.9
    assert len(pixels_of(image, STICK)) > 20
    assert len(pixels_of(image, SLIDE)) > 20


def test_without_contacts_no_mode_colour_appears(arm_over_box, tmp_path):
    image = drawn(arm_over_box(12, contacts=False), tmp_path)
    assert len(pixels_of(image, STICK)) == len(pixels_of(image, SLIDE)) == 0
    assert np.mean(image.min(axis=2) < 0.97) > 0.03


def test_single_frame_is_one_panel_without_time_plots(arm_over_box, tmp_path):
    assert drawn(arm_over_box(1), tmp_path).std() > 0.02


@pytest.mark.parametrize("scale", [1.0, 0.015, 1e-7, 1e6])
@pytest.mark.parametrize("contacts", [True, False])
def test_labels_of_plots_are_whole_and_beside_each_other(arm_over_box, scale, contacts):
    """Numbers as −0.015 are wide."""
    replay = arm_over_box(5, contacts=contacts)
    body = evolve(replay.bodies[0], outline=-scale * np.abs(replay.bodies[0].outline))
    figure = Figure(figsize=(0.18 / 0.0254, 3.0), dpi=100)
    FigureCanvasAgg(figure)
    draw_time_plots(figure, evolve(replay, bodies=(body,)), np.array([0, 4]), 3.0)
    end = 0.0
    for axes in figure.axes:
        box = axes.yaxis.get_tightbbox()
        assert box is not None
        assert box.x0 >= end
        end = axes.get_window_extent().x1


def test_two_frames_as_of_an_equilibrium_have_no_time_plots(arm_over_box, tmp_path):
    image, bare = (drawn(arm_over_box(2), tmp_path, plots=plots) for plots in (True, False))
    assert image.shape == bare.shape
    assert drawn(arm_over_box(3), tmp_path).shape[0] > image.shape[0]


def test_many_bodies_and_every_obstacle_kind_are_drawn(fallen_bodies, tmp_path):
    image = drawn(fallen_bodies(14), tmp_path, panels=2)
    assert image.std() > 0.05


def test_thin_rod_is_visible(planar_rod, tmp_path):
    image = drawn(planar_rod(radius=1e-5), tmp_path, plots=False, dpi=150)
    blue = (image[:, :, 2] - image[:, :, 0]) > 0.15
    assert blue.sum() > 100


def test_a_ball_is_round_and_agrees_with_the_scale_bar(tmp_path):
    image = drawn(one_contact((0, 0, 0)), tmp_path, azimuth=0.3, elevation=0.0, dpi=200, plots=False)
    blue = np.argwhere((image[:, :, 2] - image[:, :, 0]) > 0.12)
    high, wide = np.ptp(blue, axis=0) + 1
    assert wide == pytest.approx(high, abs=3)
    # the scale bar is the longest dark run: 50 mm, where the ball measures 200 mm
    dark = image[int(0.5 * len(image)) :].max(axis=2) < 0.35
    runs = [len(run) for row in dark for run in "".join("x" if d else " " for d in row).split()]
    assert wide / max(runs) == pytest.approx(4.0, rel=0.02)


def test_empty_world_is_drawn(tmp_path):
    assert (
        drawn(
            Replay(
                "nothing",
                np.arange(3.0),
                (),
                (),
                (ContactTrack(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, dtype=np.int64)),) * 3,
            ),
            tmp_path,
        ).shape[2]
        == 3
    )


def test_title_and_names_are_not_read_as_mathematics(arm_over_box, tmp_path):
    replay = arm_over_box(3)
    body = evolve(replay.bodies[0], name="a_{$x")
    drawn(evolve(replay, title=r"cost in $ \frac{ ^", bodies=(body, replay.bodies[0])), tmp_path)


@pytest.mark.parametrize("force", [(3, 0, 3), (-2, 0, 4), (0, 0, 5), (4, 0, 0)])
def test_arrow_on_the_picture_points_along_the_force(tmp_path, force):
    image = drawn(one_contact(force), tmp_path, azimuth=-np.pi / 2, elevation=0.0, dpi=150, width=0.08)
    rows_columns = pixels_of(image[: int(0.9 * len(image))], SLIDE)
    # view from −y: x to the right, z upwards; the marker at the contact is the lowest or first of the pixels
    away = rows_columns @ np.array([[0.0, -1.0], [1.0, 0.0]])
    spread = away - away.mean(axis=0)
    _, _, main = np.linalg.svd(spread, full_matrices=False)
    direction = np.array([force[0], force[2]]) / np.hypot(force[0], force[2])
    assert abs(main[0] @ direction) > 0.995
    # the wide head is at the far end
    along, across = spread @ direction, spread @ np.array([-direction[1], direction[0]])
    far = along > np.quantile(along, 0.75)
    middle = np.abs(along - np.median(along)) < 0.1 * np.ptp(along)
    assert np.ptp(across[far]) > 1.8 * np.ptp(across[middle])


def test_arrows_are_the_projected_forces(arm_over_box):
    contact = arm_over_box(60).contacts[-1]
    view = View(0.7, 0.4)
    for (_, tail, vector, _), (mode, _, _, _) in zip(
        force_arrows(contact, view, Arrows(0.01)), MODES, strict=True
    ):
        chosen = contact.mode == mode
        tip = view.project(contact.point[chosen] + 0.01 * contact.force[chosen])[:, :2]
        assert tail + vector == pytest.approx(tip)


@pytest.mark.parametrize("force", [(-1, 0, 0.2), (1, 0, 0.2), (0, 0, 1), (0, 0, -1), (-1, 0, -1)])
def test_label_of_a_shortened_arrow_is_inside_the_panel(force):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.0, 2.0), dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.2, 0.2, 0.6, 0.6))
    axes.set_xlim(-0.5, 0.5)
    axes.set_ylim(-0.5, 0.5)
    contact = one_contact(123.0 * np.array(force)).contacts[0]
    frame = Window(-0.5, 0.5, -0.5, 0.5)
    draw_contacts(axes, contact, View(-np.pi / 2, 0.0), frame, Arrows(1.0, 0.46))
    figure.canvas.draw()
    (words,) = axes.texts
    assert words.get_text() == f"{123.0 * np.linalg.norm(force):.3g} N"
    place, panel = words.get_window_extent(), axes.get_window_extent()
    assert panel.x0 - 1 <= place.x0 < place.x1 <= panel.x1 + 1
    assert panel.y0 - 1 <= place.y0 < place.y1 <= panel.y1 + 1


@pytest.mark.parametrize(
    ("count", "spacing", "part"),
    [(2, 0.01, 1.0), (9, 0.1, 1.0), (9, 0.04, 0.04 * 86.4 / 4.4), (9, 0.01, 0.25)],
)
def test_arrows_in_a_dense_row_are_thinner(count, spacing, part):
    """A panel of 0.6 · 2 in shows 1 m: points are `spacing` · 86.4 pt apart, heads 4.4 pt wide."""
    from matplotlib.figure import Figure
    from matplotlib.quiver import Quiver

    axes = Figure(figsize=(2.0, 2.0), dpi=100).add_axes((0.2, 0.2, 0.6, 0.6))
    axes.set_xlim(-0.5, 0.5)
    axes.set_ylim(-0.5, 0.5)
    one = one_contact(np.array([0.0, 0.0, 0.1])).contacts[0]
    row = np.zeros((count, 3))
    row[:, 0] = spacing * np.arange(count) - 0.4
    contact = evolve(
        one, point=row, force=np.repeat(one.force, count, axis=0), mode=np.repeat(one.mode, count)
    )
    draw_contacts(axes, contact, View(-np.pi / 2, 0.0), Window(-0.5, 0.5, -0.5, 0.5), Arrows(1.0))
    drawn_arrows = [each for each in axes.collections if isinstance(each, Quiver) and each.N]
    widths = [72 * float(each.width or 0.0) for each in drawn_arrows]
    # the second nearest of a point within a row is as near as the first one
    assert widths == pytest.approx([part, part])


def test_separate_and_non_finite_contacts_are_not_drawn(tmp_path):
    separate = drawn(one_contact((1, 0, 1), ContactMode.SEPARATE), tmp_path)
    assert len(pixels_of(separate, SLIDE)) == 0
    broken = drawn(one_contact((np.nan, 0, 1)), tmp_path)
    assert len(pixels_of(broken, SLIDE, 0.01)) < 100


def test_arm_behind_a_wall_is_hidden_and_in_front_of_it_visible(planar_rod, tmp_path):
    replay = planar_rod(2, radius=0.05)
    wall = replay.obstacles[0]
    counts = []
    for y in (-0.4, 0.4):
        place = np.tile([0.0, y, 0.6], (2, 1))
        track = evolve(wall, shape=Shape("box", (1.2, 0.05, 1.0)), position=place)
        image = drawn(
            evolve(replay, obstacles=(track,)), tmp_path, azimuth=-np.pi / 2, elevation=0.1, plots=False
        )
        counts.append(int(((image[:, :, 2] - image[:, :, 0]) > 0.2).sum()))
    assert counts[0] == 0
    assert counts[1] > 300


def test_user_style_has_no_effect_and_is_not_changed(arm_over_box, tmp_path):
    import matplotlib as mpl

    with mpl.rc_context({"text.usetex": True, "axes.grid": True, "font.size": 40.0}):
        image = drawn(arm_over_box(3), tmp_path)
        assert mpl.rcParams["font.size"] == 40.0
    assert np.array_equal(image, drawn(arm_over_box(3), tmp_path))


def test_same_replay_gives_the_same_bytes(arm_over_box, tmp_path):
    path = tmp_path / "a.png"
    viewer = MatplotlibViewer(PictureConfig(dpi=60, panels=2))
    viewer.render(arm_over_box(4), path)
    first = path.read_bytes()
    viewer.render(arm_over_box(4), path)
    assert path.read_bytes() == first


def test_other_suffix_is_refused(arm_over_box, tmp_path):
    with pytest.raises(ResultsError, match=r"writes \.png"):
        MatplotlibViewer(PictureConfig()).render(arm_over_box(2), tmp_path / "run.jpg")


@pytest.mark.parametrize("place", ["missing/run.png", "folder.png"])
def test_unwritable_path_is_reported_without_a_file(arm_over_box, tmp_path, place):
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(ResultsError, match="cannot write"):
        MatplotlibViewer(PictureConfig(dpi=40, panels=1)).render(arm_over_box(2), tmp_path / place)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder.png"]


def test_full_disk_keeps_the_old_picture(arm_over_box, tmp_path, monkeypatch):
    path = tmp_path / "run.png"
    path.write_bytes(b"old")

    def full(_figure, part, **_options):
        part.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", full)
    with pytest.raises(ResultsError, match="No space left"):
        MatplotlibViewer(PictureConfig(dpi=40, panels=1)).render(arm_over_box(2), path)
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_flat_polytope_is_reported(fallen_bodies, tmp_path):
    replay = fallen_bodies(1)
    bad = evolve(replay.obstacles[1], name="shard", shape=Shape("polytope", (), vertices=np.zeros((5, 3))))
    with pytest.raises(ResultsError, match="'shard' cannot be drawn"):
        MatplotlibViewer(PictureConfig()).render(evolve(replay, obstacles=(bad,)), tmp_path / "run.png")


def test_missing_matplotlib_is_reported(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(PluginError, match=r"needs the module 'matplotlib'.*pip install"):
        MatplotlibViewer(PictureConfig())


@pytest.mark.parametrize(
    "wrong", [{"panels": 0}, {"dpi": 5}, {"width": -1.0}, {"force_scale": 0.0}, {"azimuth": np.nan}]
)
def test_options_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PictureConfig(**wrong)
