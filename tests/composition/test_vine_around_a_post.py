"""A vine around a post: a wall that slides is a rope around a capstan; one that everts is not held by its bends."""

import math

import numpy as np
import pytest

from .test_vine import pins, vine

RADIUS, THIN, GRIP = 0.1, 0.005, 0.3
"""Of a post, of a tube around it, and their coefficient of friction."""


def around_a_post(form, growth, **options):
    """A slack tube that goes a quarter around a post and is pulled by 1 N at its tip."""
    links, quarter = 60, 0.5 * math.pi
    full = {"longest": 1.2, "stowed": 0.002} if form == "everting" else {}
    shape = {
        "bodies": 2 * links, "length": 0.8, "diameter": 2 * THIN, "bending_stiffness": 1e-5, "bending_damping": 1e-5,
        "form": form, **full, **options,
    }  # fmt: skip
    lengths = np.full(links, 0.8 / links)
    if form == "everting":
        lengths = 0.002 + np.clip(0.8 - links * 0.002 - 0.018 * np.arange(links), 0.0, 0.018)
    along = np.cumsum(lengths) - 0.5 * lengths
    turned = np.clip((along - 0.2) / (RADIUS + THIN), 0.0, quarter)
    post = {
        "name": "post",
        "shape": "sphere",
        "size": [RADIUS],
        "position": [0.2, 0.0, -RADIUS - THIN - 1e-4],
    }
    simulation = vine(
        shape, obstacles=[{**post, "friction": GRIP}], inputs={"growth-rate": growth, "tip-force": [0.0, -1.0]},
        step=0.005, initial={"bend": (-np.diff(turned, prepend=0.0)).tolist()},
    )  # fmt: skip
    heights, slips, tensions = [], [], []
    for step in range(150):
        assert simulation.step().solve_info.status.solved
        # at first it is pulled taut
        if step >= 50:
            heights.append(pins(simulation)[-1, 1])
            contacts = simulation.contacts()
            slips.append(np.abs(contacts.slip[contacts.normal_impulse > 0.0]).max())
            tensions.append(
                -simulation.system.terms.bodies[0].row_impulse.reshape(links, -1)[[0, -1], 4] / 0.005
            )
    angle = simulation.state.q[[2, -1]]
    came = (heights[0] - heights[-1]) / (99 * 0.005)
    return np.array(tensions), abs(angle[1] - angle[0]), max(slips[-10:]), came


@pytest.mark.parametrize("growth", [0.05, -0.05])
def test_where_its_wall_slides_a_tube_goes_around_a_post_as_a_rope_around_a_capstan(growth):
    """T_tip = T_base·exp(±μ·φ): the tube is pushed or pulled through the bend."""
    tensions, turned, slip, came = around_a_post("tube", growth)
    np.testing.assert_allclose(tensions[:, 1], 1.0, rtol=1e-3)
    exponent = math.copysign(GRIP * turned, growth)
    # the tube's own damping, the mesh and what swings in it are half a percent
    assert np.log(tensions[:, 1] / tensions[:, 0]).mean() == pytest.approx(exponent, rel=0.01)
    assert slip > 0.2 * abs(growth)
    assert came == pytest.approx(growth, rel=0.01)


@pytest.mark.parametrize(("form", "share"), [("everting", 1.0), ("tube", 0.7)])
def test_the_wall_of_an_everting_tube_rests_so_that_bends_behind_do_not_hold_its_tip(form, share):
    """A winch of 1.2 N takes the tip back against 1 N; through the bend it would need exp(0.3·π/2) = 1.6 N."""
    _, _, slip, came = around_a_post(form, -0.05, growth_force=1.2)
    if form == "everting":
        assert came == pytest.approx(-0.05, rel=1e-3)
        assert slip < 1e-6
    else:
        assert -0.05 * share < came < 0.0
        assert slip > 1e-3
