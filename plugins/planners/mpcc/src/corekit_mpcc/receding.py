"""Planning while it happens: a horizon that moves on with every step, begun from the last answer.

With (z_0 … z_{N−1}) the motion planned from z_{−1}, the horizon that begins `by` steps later starts from what was
measured there and from

    z_k ← z_{k+by},   λ_k ← λ_{k+by},   the last step repeated at rest                         (1)

with the final relaxation at once and a barrier as small: near the last answer that takes few iterations, and fewer
than a larger barrier, which leaves the last answer's multipliers behind.
Where it does not converge, the same horizon is solved cold, by homotopy if need be; who answered is told.

Source: for (1), Diehl, Bock, Schlöder et al. (2002), "Real-time optimization and nonlinear model predictive control".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit.roles.planner import PlanningTask
from corekit_mpcc.complementarity.answer import Ending, MpccAnswer, SolveOptions
from corekit_mpcc.complementarity.certificate import Certificate
from corekit_mpcc.config import MpccConfig
from corekit_mpcc.motion import Motion
from corekit_mpcc.search import Programs, Search
from corekit_mpcc.situation import situation_of
from corekit_mpcc.transcription.parameters import shared_parameters
from corekit_mpcc.transcription.seed import touching_start

__all__ = ["Moment", "RecedingHorizon", "shifted"]

Progress = Callable[[Mapping[str, float]], None]


def _silent(_told: object) -> None:
    pass


def shifted(values: Array, by: int) -> Array:
    """Rows begun `by` later, the last one repeated, shape (N, …)."""
    by = min(by, len(values))
    return np.concatenate([values[by:], np.repeat(values[-1:], by, axis=0)])


@frozen(eq=False, kw_only=True)
class Moment:
    """What one turn of the horizon answers.

    Attributes:
        inputs: by body, to hold over the next step, shape (nu,).
        motion: from now to the end of the horizon.
        ending: how the search ended. certificate: what the motion is worth. answered_by: "warm" or "cold".
        iterations, seconds: what it took.
    """

    inputs: Mapping[str, Array]
    motion: Motion
    ending: Ending
    certificate: Certificate
    answered_by: str
    iterations: int
    seconds: float


@final
class RecedingHorizon:
    """A plan that is made anew with every step.

    Args:
        config: the task; its horizon is the one that moves on, its target what every horizon ends at. Stages: dynamic.
        task: the world.
        iterations: most iterations of a warm turn.
        time_limit: wall time of one turn [s]; the best point found until then answers.
        progress: told every iterate.
    Raises:
        ConfigError: a kinematic task, which has no inputs to apply.
        ConfigError, CompositionError: as in `IpoptMpcc.plan`.

    Attributes:
        now: the last turn's answer; after construction that of the first search, from rest.
    """

    def __init__(
        self,
        config: MpccConfig,
        task: PlanningTask,
        *,
        iterations: int = 50,
        time_limit: float = float("inf"),
        progress: Progress = _silent,
    ) -> None:
        if config.search.stages != "dynamic":
            said = "must be 'dynamic': a kinematic plan has no inputs to apply"
            raise ConfigError([Mistake("search.stages", config.search.stages, said)], "the task")
        self._asked, self._iterations, self._limit = config.search, iterations, time_limit
        self._progress = progress
        self._situation = situation_of(config, task)
        programs = Programs()
        q = touching_start(self._situation)
        search = Search(self._situation, programs, q, progress)
        self._stage, motion = search.run()
        self._prepared = programs.of(self._situation, dynamic=True)[1]
        self._multipliers = search.multipliers
        self._shared = shared_parameters(self._stage, self._situation, q)
        without = self._stage.rolling_rows
        certificate = self._prepared.certificate(
            motion.x, shared=self._shared, own=self._stage.own(), start=motion.start, without=without
        )
        self.now = Moment(
            inputs=self._inputs(motion),
            motion=motion,
            ending=search.ending,
            certificate=certificate,
            answered_by="cold",
            iterations=sum(int(entry["iterations"]) for entry in search.record),
            seconds=sum(float(entry["seconds"]) for entry in search.record),
        )

    def advance(self, measured: Mapping[str, Array] | None = None, by: int = 1) -> Moment:
        """Move the horizon on and solve it.

        Args:
            measured: what is known of the state now, by name of the variables (l, v, quat, omega, …), physical; what
                is not told is where the last plan wanted it.
            by: steps that have passed.
        Raises:
            ConfigError: names or shapes that are not the variables'.
        """
        last = self.now.motion
        start = last.x[min(by, len(last.x)) - 1].copy()
        mistakes = []
        for name, value in (measured or {}).items():
            if name not in last.variables or np.shape(value) != (last.variables.block(name).size,):
                known = ", ".join(f"{block.name} ({block.size})" for block in last.variables)
                mistakes.append(Mistake(f"measured.{name}", np.shape(value), f"one of {known}"))
            else:
                start[last.variables[name]] = value
        if mistakes:
            raise ConfigError(mistakes, "receding horizon")
        motion = Motion(last.variables, start, last.shifted(by))
        multipliers = {name: shifted(value, by) for name, value in self._multipliers.items()}
        warm = bool(multipliers)
        answer = self._solve(motion, multipliers) if warm else None
        seconds, iterations = (answer.seconds, answer.iterations) if answer is not None else (0.0, 0)
        late = answer is not None and answer.ending is Ending.TIME_LIMIT
        if answer is None or not (answer.ending.solved or late):
            warm = False
            answer = self._solve(motion, None)
            seconds, iterations = seconds + answer.seconds, iterations + answer.iterations
        self._multipliers = answer.multipliers
        found = Motion(motion.variables, start, answer.x)
        self.now = Moment(
            inputs=self._inputs(found),
            motion=found,
            ending=answer.ending,
            certificate=answer.certificate,
            answered_by="warm" if warm else "cold",
            iterations=iterations,
            seconds=seconds,
        )
        return self.now

    def _inputs(self, motion: Motion) -> dict[str, Array]:
        efforts = motion["tau"][0]
        bodies = self._situation.bodies
        return {name: efforts[bodies.slices(name)[1]].copy() for name in bodies.layouts}

    def _solve(self, motion: Motion, multipliers: Mapping[str, Array] | None) -> MpccAnswer:
        asked, stage = self._asked, self._stage
        warm = multipliers is not None
        how: dict[str, Any] = (
            {
                "schedule": "direct",
                "warm": True,
                "barrier": asked.final,
                "iterations": self._iterations,
            }
            if warm
            else {"schedule": "direct-then-homotopy", "barrier": 1e-4, "iterations": asked.iterations}
        )
        options = SolveOptions(
            backend=asked.backend,
            first=max(asked.first, asked.final),
            final=asked.final,
            tolerance=asked.tolerance,
            objective_scale=asked.dynamic_scale,
            time_limit=self._limit,
            without=stage.rolling_rows,
            **how,
        )
        return self._prepared.solve(
            motion.x,
            shared=self._shared,
            own=stage.own(),
            start=motion.start,
            options=options,
            progress=self._progress,
            multipliers=multipliers,
        )
