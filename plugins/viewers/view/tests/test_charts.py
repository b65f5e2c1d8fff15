"""Line charts: drawn values, styles, labels and atomic files."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.image import imread

from corekit.errors import ResultsError
from corekit.roles.viewer import Line, LineChart, Panel
from corekit_view.charts import chart_figure, line_style
from corekit_view.config import PictureConfig
from corekit_view.picture import MatplotlibViewer
from corekit_view.plot_style import set_plot_style

TIME = np.linspace(0.0, 2.0, 50)


def chart(count: int = 2, panels: int = 3) -> LineChart:
    lines = tuple(Line(f"solver {i}", TIME, np.sin(TIME + i)) for i in range(count))
    return LineChart("Tips $of$ arms", tuple(Panel("t [s]", f"tip {k} [m]", lines) for k in range(panels)))


def test_every_line_of_every_panel_is_drawn_with_its_values():
    figure = chart_figure(chart(), 0.183)
    assert len(figure.axes) == 3
    for axes, panel in zip(figure.axes, chart().panels, strict=True):
        assert axes.get_ylabel() == panel.y_label
        for drawn, line in zip(axes.lines, panel.lines, strict=True):
            np.testing.assert_array_equal(np.asarray(drawn.get_ydata()), line.y)
    assert figure.axes[-1].get_xlabel() == "t [s]"


def test_small_and_large_numbers_stand_at_their_ticks_alone():
    """A common power of ten above the first panel would run into the legend."""
    small = Panel("t [s]", "x [m]", (Line("lcp", TIME, 2e-5 * np.sin(TIME)),))
    large = Panel("t [s]", "f [N]", (Line("lcp", TIME, 3e7 * np.sin(TIME)),))
    for panel, tick in ((small, "1e−05"), (large, "2e+07")):
        figure = chart_figure(LineChart("x", (panel,)), 0.183)
        figure.canvas.draw()
        (axes,) = figure.axes
        assert not axes.yaxis.get_offset_text().get_text()
        assert tick in [label.get_text() for label in axes.get_yticklabels()]


def test_two_dozen_lines_have_different_styles():
    assert len({str(line_style(index)) for index in range(24)}) == 24


def test_labels_beside_the_panels_are_aligned_inside_the_picture():
    wide = Panel("t [s]", "x [m]", (Line("a", TIME, -1e-4 * np.sin(TIME)),))
    narrow = Panel("t [s]", "y [m]", (Line("a", TIME, 3.0 * np.sin(TIME)),))
    with rc_context():
        set_plot_style()
        figure = chart_figure(LineChart("x", (wide, narrow)), 0.183)
        figure.canvas.draw()
        places = [axes.yaxis.label.get_window_extent() for axes in figure.axes]
        numbers = [text.get_window_extent().x0 for axes in figure.axes for text in axes.get_yticklabels()]
    assert places[0].x0 == pytest.approx(places[1].x0, abs=2)
    assert 0.0 < places[0].x0 < places[0].x1 < min(numbers)


def test_rounding_errors_are_not_drawn_as_motion():
    moving = Panel("t [s]", "y [m]", (Line("a", TIME, np.sin(TIME)),))
    still = Panel("t [s]", "x [m]", (Line("a", TIME, 1e-17 * np.sin(30 * TIME)),))
    figure = chart_figure(LineChart("x", (still, moving)), 0.183)
    assert np.ptp(figure.axes[0].get_ylim()) > 1e-4


def test_a_line_has_the_same_style_in_all_panels():
    both = chart(2, 1).panels[0]
    second = Panel("t [s]", "z [m]", both.lines[1:])
    figure = chart_figure(LineChart("x", (both, second)), 0.183)
    assert figure.axes[0].lines[1].get_color() == figure.axes[1].lines[0].get_color()


def test_the_viewer_writes_a_picture_with_colour_in_it(tmp_path):
    viewer = MatplotlibViewer(PictureConfig(dpi=80))
    viewer.chart(chart(), tmp_path / "tips.png")
    pixels = imread(tmp_path / "tips.png")
    assert pixels.shape[1] == pytest.approx(0.183 / 0.0254 * 80, abs=2)
    assert np.ptp(pixels[..., :3], axis=2).max() > 0.3
    assert list(tmp_path.iterdir()) == [tmp_path / "tips.png"]


@pytest.mark.parametrize("y", [np.full(50, np.nan), np.zeros(0)])
def test_a_chart_without_a_line_is_refused_without_a_file(tmp_path, y):
    empty = LineChart("none", (Panel("t [s]", "z [m]", (Line("a", TIME[: len(y)], y),)),))
    with pytest.raises(ResultsError, match="no line to draw"):
        MatplotlibViewer(PictureConfig()).chart(empty, tmp_path / "x.png")
    assert not list(tmp_path.iterdir())


def test_another_suffix_is_refused(tmp_path):
    with pytest.raises(ResultsError, match=r"\.png"):
        MatplotlibViewer(PictureConfig()).chart(chart(), tmp_path / "x.pdf")
