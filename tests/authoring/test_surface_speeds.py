"""How fast velocities move a surface, against closed forms of links that turn and bend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corekit.registry.discover import discover
from corekit.registry.resolve import find, load_spec, load_target
from corekit.roles.component import BuildContext
from corekit.roles.surface_speeds import surface_speeds
from corekit.scenario.structure import structure
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.rounding import rounding

RODS: dict[str, Any] = {
    "lengths": (1.0, 0.7), "masses": (1.0, 2.0), "angles": (0.0, 0.0), "rates": (0.0, 0.0)
}  # fmt: skip


def test_a_rod_that_turns_moves_the_far_side_of_the_ball_at_its_end():
    """Its length and the radius of the ball, which turns along; what hangs below it is shifted."""
    made = Pendulum(
        PendulumConfig(lengths=(1.0, 0.7), masses=(1.0, 2.0), angles=(0.0, 0.0), rates=(0.0, 0.0), radius=0.1)
    )
    assert surface_speeds(made) == pytest.approx([1.1, 0.8], rel=rounding(24))


def test_places_move_the_surface_as_they_move():
    made = PointChain(
        PointChainConfig(masses=(1.0, 2.0), positions=((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), shape="sphere")
    )
    assert surface_speeds(made).tolist() == [1.0] * 6


def test_without_shapes_the_origins_of_frames_count():
    made = Pendulum(
        PendulumConfig(lengths=(1.0, 0.7), masses=(1.0, 2.0), angles=(0.0, 0.0), rates=(0.0, 0.0))
    )
    assert surface_speeds(made) == pytest.approx([1.0, 0.7], rel=rounding(24))


def test_a_bend_moves_the_tip_by_half_the_length():
    pytest.importorskip("corekit_gvs")
    row = find("models", "gvs", discover())
    spec = load_spec(row)
    link = {
        "kind": "soft", "name": "arm",
        "divisions": [{"length": 0.4, "strain": [{"modes": ["bend-y"], "order": 0}]}],
    }  # fmt: skip
    mistakes: list = []
    config = structure(load_target(spec.config), {"links": [link]}, "options", mistakes)
    assert not mistakes
    made = load_target(spec.target)(config, BuildContext())
    scale = made.description.velocity_scale
    assert scale == pytest.approx(np.array([0.5 * 0.4]), rel=1e-6)


@pytest.mark.parametrize("left", [0.0, 4e-18, 1e-14])
def test_a_velocity_that_moves_no_point_but_for_rounding_counts_as_it_is(left):
    class Idle:
        """A pendulum whose second velocity moves nothing."""

        def __init__(self) -> None:
            self._right = Pendulum(PendulumConfig(**RODS))
            self.description = self._right.description
            self.compute_initial_state = self._right.compute_initial_state
            self.compute_frame_poses = self._right.compute_frame_poses

        def compute_point_jacobians(self, state: Any, frame: Any, local: Any, dofs: Any, values: Any) -> None:
            self._right.compute_point_jacobians(state, frame, local, dofs, values)
            values[..., 1] = left

    idle: Any = Idle()
    assert surface_speeds(idle) == pytest.approx([1.0, 1.0], rel=rounding(24))


def test_a_hinge_through_all_points_of_its_link_moves_none():
    """Alone, so that no other velocity says what is small: 4e-18 m of rounding is no speed."""

    class Through:
        def __init__(self) -> None:
            self._right = Pendulum(PendulumConfig(lengths=(1.0,), masses=(1.0,), angles=(0.0,), rates=(0.0,)))
            self.description = self._right.description
            self.compute_initial_state = self._right.compute_initial_state
            self.compute_frame_poses = self._right.compute_frame_poses

        def compute_point_jacobians(self, state: Any, frame: Any, local: Any, dofs: Any, values: Any) -> None:
            self._right.compute_point_jacobians(state, frame, local, dofs, values)
            values[:] = 4e-18

    through: Any = Through()
    assert surface_speeds(through).tolist() == [1.0]
