"""Two stages of search: a kinematic motion, then a dynamic one from it, each with a record.

    1  at rest where the bodies touch → kinematic rolling                        a seed, converged or not
       (where rolling is infeasible or not wanted: the kinematic program with complementarity, ε from loose to tight)
    2  efforts by inverse dynamics → dynamic rolling                             a seed, converged or not
    3  dynamic program with complementarity at the final ε, by homotopy where that fails                       (1)

Rolling is a smooth program whose feasible points are feasible for (1) with all products zero. Programs are prepared,
with their derivatives, once per structure, and kept: they serve every target, friction, weight and start.

Source: CUSP, sections IV-B and V-C, for the two stages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit_mpcc.complementarity.answer import Ending, MpccAnswer, SolveOptions
from corekit_mpcc.complementarity.solve import PreparedMpcc
from corekit_mpcc.motion import Motion
from corekit_mpcc.situation import Situation
from corekit_mpcc.transcription.parameters import shared_parameters
from corekit_mpcc.transcription.seed import at_rest, inverse_dynamics
from corekit_mpcc.transcription.stage import Stage

__all__ = ["Programs", "Search"]

Progress = Callable[[Mapping[str, float]], None]


@final
class Programs:
    """Prepared programs by structure; those of one planner are kept for its life."""

    def __init__(self) -> None:
        self._made: dict[Any, tuple[Stage, PreparedMpcc]] = {}
        self.preparing = 0.0

    def __len__(self) -> int:
        return len(self._made)

    def of(self, situation: Situation, *, dynamic: bool) -> tuple[Stage, PreparedMpcc]:
        """The stage of a situation and its prepared program."""
        stage = Stage(situation, dynamic=dynamic)
        search = situation.config.search
        program = stage.program
        numbers = np.concatenate([*program.bounds, program.scales]).tobytes()
        key = (dynamic, program.stages, search.relaxation, search.batched, stage.fingerprint, numbers)
        if key not in self._made:
            began = time.perf_counter()
            made = PreparedMpcc(program, search.relaxation, search.batched)
            self._made[key] = stage, made
            self.preparing += time.perf_counter() - began
        return self._made[key]


@frozen(kw_only=True)
class _How:
    """How one program is solved, beside what the task's options say."""

    tolerance: float
    scale: float
    barrier: float
    rolling: bool = False
    seed: bool = False
    schedule: Literal["direct", "homotopy", "direct-then-homotopy"] = "direct"
    warm: bool = False


@final
class Search:
    """The search for one situation.

    Args:
        situation: what is to be done. programs: prepared ones.
        q: coordinates at the start. progress: told every iterate.

    Attributes:
        record: what was solved, one entry each.
        ending: how the last program ended.
        multipliers: of the last program.
    """

    def __init__(self, situation: Situation, programs: Programs, q: Array, progress: Progress) -> None:
        self._situation, self._programs, self._q, self._progress = situation, programs, q, progress
        self._asked = situation.config.search
        self._began = time.perf_counter() - programs.preparing
        self.record: list[dict[str, Any]] = []
        self.ending = Ending.FAILED
        self._certified = False
        self._passed: Array | None = None
        self.multipliers: Mapping[str, Array] = {}

    def run(
        self, earlier: Motion | None = None, multipliers: Mapping[str, Array] | None = None
    ) -> tuple[Stage, Motion]:
        """The motion found and the stage it belongs to.

        Args:
            earlier: a motion to begin from, instead of the kinematic stage.
            multipliers: of the program that gave it; where given, the dynamic program is begun from them at once.
        """
        dynamic = self._asked.stages == "dynamic"
        if earlier is None or not dynamic:
            stage, motion = self._kinematic(earlier)
            # what bodies that move as they like cannot do, bodies with dynamics cannot either
            if not dynamic or self.ending is Ending.INFEASIBLE:
                return stage, motion
            earlier = motion
        return self._dynamic(earlier, multipliers)

    @property
    def _rolls(self) -> bool:
        return self._asked.bridge and all(place.holds for place in self._situation.places)

    def _kinematic(self, earlier: Motion | None) -> tuple[Stage, Motion]:
        asked = self._asked
        stage, program = self._programs.of(self._situation, dynamic=False)
        start = self._start(stage)
        motion = Motion(stage.variables, start, np.tile(start, (program.program.stages, 1)))
        if earlier is not None:
            motion = self._taken_over(earlier, stage, start)
        last = asked.stages == "kinematic"
        tolerance = asked.tolerance if last else asked.seed_tolerance
        if self._rolls:
            how = _How(
                tolerance=tolerance, scale=asked.kinematic_scale, barrier=0.1, rolling=True, seed=not last
            )
            motion = self._solve("kinematic rolling", stage, program, motion, how)
            if self.ending.solved or (not last and self.ending is not Ending.INFEASIBLE):
                return stage, motion
        how = _How(
            tolerance=tolerance,
            scale=asked.kinematic_scale,
            barrier=1e-4 if self._rolls else 0.1,
            schedule="direct-then-homotopy" if last else "homotopy",
        )
        return stage, self._solve("kinematic", stage, program, self._loosened(stage, motion), how)

    def _dynamic(self, seed: Motion, multipliers: Mapping[str, Array] | None) -> tuple[Stage, Motion]:
        asked = self._asked
        stage, program = self._programs.of(self._situation, dynamic=True)
        start = self._start(stage)
        known = "tau" in seed.variables
        motion = self._taken_over(seed, stage, start)
        if multipliers and known:
            how = _How(
                tolerance=asked.tolerance, scale=asked.dynamic_scale, barrier=10.0 * asked.final, warm=True
            )
            found = self._solve("dynamic, warm", stage, program, motion, how, multipliers)
            if self.ending.solved:
                return stage, found
        if not known:
            shared = shared_parameters(stage, self._situation, self._q)
            motion.x[:, stage.variables["tau"]] = inverse_dynamics(stage, motion.x, start, shared)
        if self._rolls:
            how = _How(
                tolerance=asked.seed_tolerance,
                scale=asked.dynamic_scale,
                barrier=1e-2,
                rolling=True,
                seed=True,
            )
            motion = self._solve("dynamic rolling", stage, program, motion, how)
        how = _How(
            tolerance=asked.tolerance,
            scale=asked.dynamic_scale,
            barrier=1e-4,
            schedule="direct-then-homotopy",
        )
        found = self._solve("dynamic", stage, program, self._loosened(stage, motion), how)
        return stage, self._or_before(found)

    def _or_before(self, found: Motion) -> Motion:
        """The motion found, or where nothing certified was, the last certified one that was seen on the way to it."""
        if self._certified or self._passed is None:
            return found
        return Motion(found.variables, found.start, self._passed)

    def _start(self, stage: Stage) -> Array:
        return stage.variables.pack(at_rest(stage, self._situation, self._q))

    def _taken_over(self, earlier: Motion, stage: Stage, start: Array) -> Motion:
        steps = stage.program.stages
        if len(earlier.x) != steps:
            earlier = Motion(earlier.variables, earlier.start, earlier.resampled(steps))
        return earlier.carried_to(stage, start)

    def _loosened(self, stage: Stage, motion: Motion) -> Motion:
        """The motion with slip variables off their bound, for an interior point to begin from."""
        x = motion.x.copy()
        for place in stage.places:
            at = stage.variables[f"gamma.{place.name}"]
            x[:, at] = np.maximum(x[:, at], 1e-4)
        return Motion(motion.variables, motion.start, x)

    def _solve(
        self,
        name: str,
        stage: Stage,
        prepared: PreparedMpcc,
        motion: Motion,
        how: _How,
        multipliers: Mapping[str, Array] | None = None,
    ) -> Motion:
        asked = self._asked
        left = asked.time_limit - (time.perf_counter() - self._began - self._programs.preparing)
        low, high = stage.program.bounds
        high, x = np.tile(high, (stage.program.stages, 1)), motion.x.copy()
        if how.rolling:
            for place in stage.places:
                at = stage.variables[f"gamma.{place.name}"]
                high[:, at] = x[:, at] = 0.0
        options = SolveOptions(
            backend=asked.backend,
            schedule=how.schedule,
            first=max(asked.first, asked.final),
            final=asked.final,
            tolerance=how.tolerance,
            iterations=asked.iterations,
            time_limit=max(left, 1e-3),
            objective_scale=how.scale,
            barrier=how.barrier,
            barrier_again=1e-3,
            warm=how.warm,
            # a better start than the best point that is certified, which may be the one it began from
            answer="last" if how.seed else "certified",
            polish="never" if how.seed else "needed",
            without=stage.pairs if how.rolling else stage.rolling_rows,
        )

        def tell(told: Mapping[str, float]) -> None:
            self._progress({**told, "stage": float(len(self.record))})

        began = time.process_time()
        answer: MpccAnswer = prepared.solve(
            x,
            shared=shared_parameters(stage, self._situation, self._q),
            own=stage.own(),
            start=motion.start,
            low=np.tile(low, (len(x), 1)),
            high=high,
            options=options,
            progress=tell,
            multipliers=multipliers,
        )
        self.ending, self.multipliers = answer.ending, answer.multipliers
        self._certified = answer.certificate.certified
        if stage.dynamic and answer.best is not None:
            self._passed = answer.best
        self.record.append({**_recorded(name, answer), "processor_seconds": time.process_time() - began})
        return Motion(stage.variables, motion.start, answer.x)


def _recorded(name: str, answer: MpccAnswer) -> dict[str, Any]:
    """One solve as plain data."""
    return {
        "stage": name,
        "ending": answer.ending.name.lower(),
        "said": answer.ending.value,
        "iterations": answer.iterations,
        "seconds": round(answer.seconds, 3),
        "cost": answer.cost,
        "infeasibility": answer.certificate.infeasibility,
        "complementarity": answer.certificate.complementarity,
        "culprit": answer.certificate.culprit,
        "derivatives": answer.evaluated,
        "programs": [
            {
                "what": attempt.what, "relaxation": attempt.relaxation, "outcome": attempt.outcome,
                "said": attempt.said, "iterations": attempt.iterations, "seconds": round(attempt.seconds, 3),
            }
            for attempt in answer.trail
        ],
    }  # fmt: skip
