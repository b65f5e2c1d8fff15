"""What is said of a step that cannot be solved: its note, and what stands in each other where it began."""

from __future__ import annotations

import pytest

from corekit.data.state import State
from corekit.data.status import SolveInfo, Status, StepReport
from corekit.errors import StepFailed
from corekit.roles.integrator import Integrator, System
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.small_world import floor, small_world


class _GivesUp(Integrator):
    """Looks for contacts, as every integrator does, and solves nothing."""

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        system.theta.begin_step(state, t_stop - state.time)
        return StepReport(False, t_stop - state.time, 3, SolveInfo(Status.ITERATION_LIMIT), "steps cut")


@pytest.mark.parametrize(
    ("height", "advice"),
    [
        (0.07, "At its start ball is 30 mm inside floor, which may have no solution: move them apart."),
        (0.0995, "Try a smaller step than 0.002 s, for example 0.001 s."),
    ],
)
def test_an_overlap_is_named_in_place_of_a_smaller_step(height, advice):
    """A ball with a radius of 100 mm. An overlap of half a millimetre is no cause."""
    ball = PointChain(PointChainConfig(positions=((0.0, 0.0, height),), shape="sphere"))
    world = small_world(
        {"ball": ball}, _GivesUp(), step=2e-3, solver=ProjectedGaussSeidel(), detector=ReferenceDetector(),
        obstacles=[floor()],
    )  # fmt: skip
    with pytest.raises(StepFailed) as caught:
        world.step()
    assert str(caught.value).endswith(f"{Status.ITERATION_LIMIT.value} Steps cut. {advice}")
