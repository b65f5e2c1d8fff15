"""A plan simulated without feedback by steps like its own: implicit Euler over the plan's intervals.

The plan's rows are those of implicit Euler with the contact closed at position level, so that a simulator with the
same steps and inputs held should make the same motion. Two terms differ, and only they were found to:

- The edge of the disk. Rounded by 0.1 mm, ε = 1e-8 m², the plan glides over the ball along another edge than that of
  the simulator's disk, which presses with some 30 mN where the plan says 0, and the ball about x ends 21° off. With ε
  = 1e-12 m², the paper's, the arm stays within 0.6 µm and the ball within 0.3°.
- The spin. The plan's ball keeps I·ω from step to step in world axes, as (18) has it, the simulator's in its own, so
  that over a step they part by h·ω₊ × ω₋, of which a contact that sticks stops all but what is along its normal.
  Where the axis of the spin stands, about x, that is nothing; about y it is 0.08 of 5 rad/s in the second step and 3°
  to 5° in the end.

With the simulator's steps of 1 ms nothing of the kind can be expected. Inputs that are held for 40 ms move an arm of
265 N/m and 125 N·s/m a chamber faster in the beginning of an interval and slower at its end, by K·h/D = 8 %, where
the plan has one velocity: 0.1 mm an interval, and against a contact D/h·0.1 mm = 0.3 N, more than the plan presses
with. Feedback that may not change what contacts press with, as that of `adaptive-tracking`, has no way to turn the ball
where the plan presses with nothing, and ends 177° off about x; the regulator alone ends 7.5° off.
"""

from __future__ import annotations

from typing import Any

from corekit.data.arrays import Array
from corekit.scenario.load import load
from corekit_run.running import run
from corekit_scenarios.cases.cusp.ball_tracked import ARRIVED, off_target
from corekit_study.case_run import CaseRun, Row
from corekit_study.plan import PlanResult
from corekit_study.plan_rollout import RolloutResult, assess_rollout
from corekit_study.reference import method

__all__ = ["by_own_steps", "own_steps_row"]


def own_steps_row(case: CaseRun, made: PlanResult, about: str = "") -> Row:
    """Where the ball ends by the plan's own steps; `about` begins the row's name."""
    with case.show(f"{about}simulating by the plan's own steps"):
        angle = off_target(by_own_steps(made))
    return Row(
        quantity=f"{about}simulated, open loop, by steps like the plan's own: angle from target", unit="°",
        against=method("implicit Euler at the plan's 40 ms"), expected=0.0, ours=angle,
        tolerance=f"≤ {ARRIVED:g}°", passed=angle <= ARRIVED,
        note="ten directions of friction that stand still, inputs held over each interval, no feedback",
    )  # fmt: skip


def by_own_steps(made: PlanResult) -> RolloutResult:
    """Simulate a plan of one body by implicit Euler over the plan's intervals, without feedback, in its folder."""
    plan, file = made.plan, made.file
    assert made.folder is not None
    assert file.world is not None
    assert file.replay is not None
    ((body, motion),) = ((name, each) for name, each in plan.bodies.items() if each.inputs is not None)
    inputs: Any = motion.inputs
    step = float(plan.time[1] - plan.time[0])
    (channel,) = made.bodies[body].model.description.inputs
    scenario = load(
        file.world,
        [
            *file.overrides,
            f"time.step={step!r}",
            f"time.duration={float(plan.time[-1])!r}",
            f"output.every={step!r}",
            "integrator.use=implicit-euler",
            "integrator.options={}",
            f"contact.solver.options.friction_directions={file.options['directions']}",
            f"bodies.{body}.initial.{file.replay.start[body]}={motion.q[0].tolist()}",
        ],
    )

    def planned(sim: Any) -> dict[str, dict[str, Array]]:
        """Inputs of the interval that begins."""
        return {body: {channel.name: inputs[min(round(sim.time / step) + 1, len(inputs) - 1)]}}

    results = run(scenario.with_controller(planned, every=step), directory=made.folder / "replay-own-steps")
    return assess_rollout("own-steps", results, plan, 0.0, 0.0)
