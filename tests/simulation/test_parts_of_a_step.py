"""A grid step in parts is as good as its parts, not as its last one."""

import pytest

from corekit.data.status import SolveInfo, Status, StepReport
from corekit.roles.integrator import Integrator
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.small_world import small_world

H = 1e-2


class FourParts(Integrator):
    """Four parts a grid step, which end as they are told."""

    def __init__(self, outcomes):
        self.outcomes, self.count = outcomes, 0

    def step(self, system, state, t_stop, out):
        h = 0.25 * H
        out.q[:], out.v[:], out.time = state.q, state.v, state.time + h
        if t_stop - out.time < 1e-9:
            out.time = t_stop
        status = self.outcomes[self.count % 4]
        self.count += 1
        return StepReport(True, h, self.count, SolveInfo(status, answered_by=f"part {self.count}"))


@pytest.mark.parametrize(
    ("outcomes", "part"),
    [
        ((Status.CONVERGED, Status.FALLBACK, Status.CONVERGED, Status.CONVERGED), 4),
        ((Status.CONVERGED, Status.INACCURATE, Status.MISREPORTED, Status.CONVERGED), 2),
        ((Status.CONVERGED, Status.INACCURATE, Status.CONVERGED, Status.JAMMED), 4),
    ],
)
def test_a_step_is_solved_where_all_of_its_parts_are(outcomes, part):
    """It was reported CONVERGED wherever its last part was. What watches a run is still told of every part."""
    pendulum = Pendulum(PendulumConfig(lengths=(1.0,), masses=(1.0,), angles=(0.1,), rates=(0.0,)))
    simulation = small_world({"body": pendulum}, FourParts(outcomes), step=H)
    for step in range(2):
        report = simulation.step()
        assert report.solve_info == SolveInfo(outcomes[part - 1], answered_by=f"part {part + 4 * step}")
        assert report is simulation.report
        assert report.iterations == 4 * (step + 1)
