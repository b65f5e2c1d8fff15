"""Constants of outlines against closed forms, thin walls, tables, and finite differences."""

import math

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.linalg import spsolve

from corekit.geometry.section_solvers import section_solver
from corekit.geometry.sections import ellipse, outline, rectangle, tube
from corekit_sections.saint_venant import solve_outline
from corekit_testing.rounding import rounding

SOLVED = 2e-5
"""Error of the numerical solution: what the next halving would change, a tenth of the change that ends it."""
ARCS = 2e-4
"""Error of J and of the shear coefficients by the chords of arcs, 5° each, of walls above a tenth of their radius."""
SQUARE = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))


def scaled(loop, factor):
    return tuple(tuple(factor * each for each in vertex) for vertex in loop)


def box(height, width, at=(0.0, 0.0)):
    return tuple((at[0] + height * y, at[1] + width * z) for y, z in SQUARE)


def all_of(constants):
    return np.concatenate([np.ravel(each) for each in constants])


def test_the_kernel_finds_it():
    assert section_solver() is solve_outline


@pytest.mark.parametrize(("height", "width"), [(1.0, 1.0), (0.02, 0.01), (0.02, 0.002)])
def test_a_rectangle_has_the_constants_of_its_series(height, width):
    expected = rectangle(np.array(height), np.array(width))
    found = outline(box(height, width, at=(3.0 * height, -width)), (), np.ones(()))
    np.testing.assert_allclose(all_of(found), all_of(expected), rtol=SOLVED)


def test_an_equilateral_triangle_has_its_closed_form():
    """J = √3·a⁴/80, I = √3·a⁴/96; its stress function is a polynomial."""
    found = solve_outline(((-0.5, 0.0), (0.5, 0.0), (0.0, math.sqrt(0.75))))
    assert found.torsion == pytest.approx(math.sqrt(3.0) / 80.0, rel=1e-9)
    assert [found.inertia_y, found.inertia_z] == pytest.approx([math.sqrt(3.0) / 96.0] * 2, rel=rounding(50))
    assert found.shear_centre == pytest.approx((0.0, 0.0), abs=1e-9)


@pytest.mark.parametrize("hole", [0.0, 0.5, 0.9])
def test_a_circle_of_arcs_has_the_constants_of_a_tube(hole):
    holes = (((hole, 0.0, 1.0), (-hole, 0.0, 1.0)),) if hole else ()
    found = outline(((1.0, 0.0, 1.0), (-1.0, 0.0, 1.0)), holes, np.ones(()))
    np.testing.assert_allclose(all_of(found), all_of(tube(np.ones(()), hole)), rtol=ARCS)


def test_a_half_circle_has_its_closed_forms():
    """J = (π/2 − 4/π)·r⁴ = 0.2976·r⁴, I about its centroid, shear centre 8·r/(5·π) from the centre (Trefftz), and
    Cowper's (1 + ν)/(1.305 + 1.273·ν) for shear across its flat side, as he prints it.
    """
    found = solve_outline(((1.0, 0.0, 1.0), (-1.0, 0.0)))
    assert found.area == pytest.approx(0.5 * math.pi, rel=rounding(200))
    assert found.inertia_y == pytest.approx(math.pi / 8.0 - 8.0 / (9.0 * math.pi), rel=ARCS)
    assert found.inertia_z == pytest.approx(math.pi / 8.0, rel=ARCS)
    assert found.torsion == pytest.approx(0.5 * math.pi - 4.0 / math.pi, rel=ARCS)
    assert found.shear_centre[0] == pytest.approx(0.0, abs=1e-9)
    assert found.shear_centre[1] == pytest.approx((8.0 / 5.0 - 4.0 / 3.0) / math.pi, rel=10 * ARCS)
    assert found.shear_z == pytest.approx((1.305, 1.273), abs=2e-3)


def test_a_thin_box_twists_by_bredts_formula():
    """J = 4·(enclosed area)²·t/(length of the wall), to first order in the thickness."""
    errors = []
    for wall in (0.04, 0.02):
        found = solve_outline(box(1.0 + wall, 2.0 + wall), (box(1.0 - wall, 2.0 - wall),))
        errors.append(found.torsion / (4.0 * 2.0**2 * wall / 6.0) - 1.0)
    assert abs(errors[1]) < 0.6 * abs(errors[0])
    assert abs(errors[1]) < 0.02


def test_a_channel_twists_by_its_walls_and_about_a_centre_behind_its_web():
    """J = Σ b·t³/3 and e = 3·b²/(6·b + h) of thin walls, h and b between their middle lines."""
    h, b, t = 1.0, 0.5, 0.02
    low, high = -0.5 * (h + t), 0.5 * (h + t)
    found = solve_outline((
        (-0.5 * t, low), (b, low), (b, low + t), (0.5 * t, low + t), (0.5 * t, high - t), (b, high - t), (b, high),
        (-0.5 * t, high),
    ))  # fmt: skip
    assert found.torsion == pytest.approx((h + 2.0 * b) * t**3 / 3.0, rel=0.01)
    centroid = b * b / (h + 2.0 * b)
    assert found.shear_centre == pytest.approx((-centroid - 3.0 * b * b / (6.0 * b + h), 0.0), abs=2e-3)


def finite_differences(inside, cells):
    """J as twice the volume under Prandtl's membrane on a grid of squares, ∇²ψ = −2, ψ = 0 on the outline."""
    size = len(inside)
    number = np.full(inside.shape, -1)
    number[inside] = np.arange(inside.sum())
    rows, columns, values = [], [], []
    i, j = np.nonzero(inside)
    here = number[i, j]
    rows.append(here), columns.append(here), values.append(np.full(len(here), 4.0))
    for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        there = number[np.clip(i + di, 0, size - 1), np.clip(j + dj, 0, size - 1)]
        known = there >= 0
        rows.append(here[known]), columns.append(there[known]), values.append(np.full(known.sum(), -1.0))
    matrix = coo_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))))
    h = 1.0 / cells
    return 2.0 * h**2 * float(spsolve(matrix.tocsc(), np.full(len(here), 2.0 * h**2)).sum())


def test_a_cross_twists_as_finite_differences_say():
    """Arms 0.25 wide, with four corners that go inwards; the grids' errors fall as h^(4/3), and so are extrapolated."""
    found = []
    for cells in (64, 128):
        at = np.linspace(-0.5, 0.5, cells + 1)
        y, z = np.meshgrid(at, at, indexing="ij")
        eps = 0.25 / cells
        inside = ((np.abs(y) < 0.125 - eps) & (np.abs(z) < 0.5 - eps)) | (
            (np.abs(z) < 0.125 - eps) & (np.abs(y) < 0.5 - eps)
        )
        found.append(finite_differences(inside, cells))
    limit = found[1] + (found[1] - found[0]) / (2.0 ** (4.0 / 3.0) - 1.0)
    a, b = 0.125, 0.5
    quarter = np.array([(a, a), (a, b), (-a, b)])
    turns = [np.linalg.matrix_power(np.array([[0.0, -1.0], [1.0, 0.0]]), k) for k in range(4)]
    corners = tuple(tuple(turn @ each) for turn in turns for each in quarter)
    assert solve_outline(corners).torsion == pytest.approx(limit, rel=abs(found[1] - found[0]) / limit)


def test_a_tee_and_a_house_with_a_window_are_those_of_another_code():
    """J and Trefftz' shear centre by sectionproperties 3.10 with 4,000 finite elements, whose J is too large."""
    tee = ((-0.5, 0.8), (-0.1, 0.8), (-0.1, 0.0), (0.1, 0.0), (0.1, 0.8), (0.5, 0.8), (0.5, 1.0), (-0.5, 1.0))
    found = solve_outline(tee)
    assert 0.0 < 0.00476445 / found.torsion - 1.0 < 1e-3
    centroid = (0.2 * 0.9 + 0.16 * 0.4) / 0.36
    assert found.shear_centre == pytest.approx((0.0, 0.870711 - centroid), abs=1e-4)
    house = ((-1.0, 0.0), (1.0, 0.0), (1.0, 0.5), (0.4, 1.2), (-0.4, 1.2), (-1.0, 0.5))
    found = solve_outline(house, (box(1.0, 0.2, at=(0.0, 0.3)),))
    assert 0.0 < 0.45941292 / found.torsion - 1.0 < 1e-3


def test_size_order_and_direction_of_the_vertices_do_not_matter():
    corners = ((0.0, 0.0), (0.03, 0.01), (0.03, 0.02), (0.0, 0.03))
    found = solve_outline(corners)
    other = solve_outline(scaled(corners[2:] + corners[:2], 1e3)[::-1])
    assert other.torsion == pytest.approx(1e12 * found.torsion, rel=rounding(1000))
    assert other.shear_centre == pytest.approx(np.multiply(1e3, found.shear_centre), abs=1e-8)
    grown = outline(corners, (), np.array([1.0, 1e3]))
    assert grown.torsion[1] == pytest.approx(1e12 * grown.torsion[0])
    assert grown.area.tolist() == pytest.approx([6e-4, 600.0])


def test_an_arc_may_bend_inwards():
    """A square with a half disk taken from one side and put on the other has the area of the square."""
    found = solve_outline(((-0.5, -0.5), (0.5, -0.5, 1.0), (0.5, 0.5), (-0.5, 0.5, -1.0)))
    assert found.area == pytest.approx(1.0, rel=rounding(300))


@pytest.mark.parametrize(
    ("vertices", "holes", "said"),
    [
        (((0.0, 0.0), (1.0, 0.0)), (), "three vertices"),
        (((0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)), (), "cross itself"),
        (SQUARE, (box(0.5, 0.5, at=(0.4, 0.0)),), "cross itself"),
        (SQUARE, (box(0.5, 0.5, at=(2.0, 0.0)),), "holes inside"),
        (SQUARE, (box(0.5, 0.5), box(0.2, 0.2)), "beside each other"),
        (((0.0, 0.0), (0.0, 0.0), (1.0, 0.0), (0.0, 1.0)), (), "neighbouring vertices"),
        (((0.0, 0.0), (2.0, 0.0), (0.0, 1.0)), (), r"turned by .*turn the vertices by"),
        (tuple((math.cos(x), math.sin(x)) for x in np.linspace(0.0, 6.28, 600)), (), "too many sides"),
    ],
)  # fmt: skip
def test_what_is_no_section_is_said_in_words(vertices, holes, said):
    with pytest.raises(ValueError, match=said):
        solve_outline(vertices, holes)


def test_the_angle_that_is_said_makes_the_axes_principal():
    triangle = np.array([(0.0, 0.0), (2.0, 0.0), (0.0, 1.0)])
    with pytest.raises(ValueError, match="turn the vertices by") as caught:
        solve_outline(tuple(map(tuple, triangle.tolist())))
    angle = math.radians(float(str(caught.value).partition("turn the vertices by ")[2].partition("°")[0]))
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    solve_outline(tuple(map(tuple, (triangle @ turn.T).tolist())))


def test_an_ellipse_of_many_sides_shears_as_cowpers():
    at = 2.0 * np.pi * (np.arange(96) + 0.5) / 96
    sides = np.column_stack([2.0 * np.cos(at), np.sin(at)]) * math.sqrt(
        (2 * np.pi / 96) / math.sin(2 * np.pi / 96)
    )
    found = outline(tuple(map(tuple, sides.tolist())), (), np.ones(()))
    np.testing.assert_allclose(all_of(found), all_of(ellipse(np.array(2.0), np.array(1.0))), rtol=ARCS)
