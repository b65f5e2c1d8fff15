"""Keeps every n-th step of a run in its results file, through buffers that are sized once."""

from __future__ import annotations

import json
import time as clock
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corekit.data.contacts import ContactRecord
from corekit.data.status import SolveInfo
from corekit.data.step import StepReport
from corekit.errors import ConfigError, Mistake
from corekit.geometry.frames import quat_wxyz_from_rotation
from corekit.run.drawing import resampled
from corekit.run.record_layout import STATUSES, attributes_of, dimensions_of, variables_of
from corekit.run.statistics import Statistics
from corekit.run.store import CHUNK, GrowingFile
from corekit.world.shape_scene import ShapeScene

if TYPE_CHECKING:
    from corekit.run.simulation import Simulation

__all__ = ["Recorder"]

_PUBLISH_EVERY = 1.0
"""Wall time between publications [s], longer where publishing is slow: it may take 2 % of the time."""
_SHARE = 0.02
_STEP_BLOCK = 4096
"""Steps whose solves are held in memory before they are written."""
_CONTACT_FIELDS = (
    "id", "shape", "gap", "point", "normal", "tangent", "normal_impulse", "tangential_impulse", "slip", "mode",
    "residual",
)  # fmt: skip


@final
class Recorder:
    """An observer that writes `results.nc`: the initial state, then every n-th grid step.

    Observe with `statistics` first and the recorder after it: a record carries what was counted since
    the last one. Use it as a context manager, or `close` it, so that the last block is written.

    Args:
        path: of the file.
        simulation: at its initial state, which is recorded at once.
        every: time from record to record [s], a whole number of steps.
        statistics: who counts.
        title: name of the scenario.
        resumed: to go on with the file at `path`, what `memory` gave; the simulation is still at its initial
            state, from which the file's constant parts follow. Records after that memory are dropped.
        initial: whether to record the state now.
    Raises:
        ConfigError: `every` is not a whole number of steps.
        ResultsError: the folder cannot be written to, or the file to go on with is another run's.
    """

    def __init__(
        self,
        path: Path,
        simulation: Simulation,
        every: float,
        statistics: Statistics,
        title: str = "",
        resumed: Mapping[str, np.ndarray[Any, Any]] | None = None,
        *,
        initial: bool = True,
    ) -> None:
        step = simulation.step_length
        self._stride = max(1, round(every / step))
        if abs(every / step - self._stride) > 1e-6 * self._stride:
            allowed = f"must be a whole number of steps of {step:g} s"
            hint = f"nearest is {self._stride * step:.10g}"
            raise ConfigError([Mistake("output.every", every, allowed, hint)])
        self._statistics = statistics
        self._scene = scene = ShapeScene(simulation.bodies, simulation.obstacles)
        outlines = [
            body.model.outline(part)
            for body, part in zip(simulation.bodies, simulation.state.parts, strict=True)
        ]
        self._outlines = [(len(outline.points), np.asarray(outline.starts)) for outline in outlines]
        dimensions = dimensions_of(simulation, outlines)
        variables = variables_of(simulation, scene, outlines)
        kept = None
        if resumed is not None:
            kept = {name: int(resumed[f"{name}_length"]) for name in ("time", "contact", "step")}
        self._file = GrowingFile(path, dimensions, variables, attributes_of(simulation, title), kept)
        sizes = {name.rpartition("/")[2]: size or 0 for name, size in dimensions.items()}
        self._rows: dict[str, np.ndarray[Any, Any]] = {}
        self._contacts: dict[str, np.ndarray[Any, Any]] = {}
        self._steps: dict[str, np.ndarray[Any, Any]] = {}
        for variable in variables:
            inner = tuple(
                dimensions.get(f"{variable.name.rpartition('/')[0]}/{name}") or sizes[name]
                for name in variable.dimensions[1:]
            )
            if variable.dimensions[0] == "time":
                self._rows[variable.name] = np.zeros((CHUNK, *inner), variable.dtype)
            elif variable.dimensions[0] == "contact":
                self._contacts[variable.name] = np.zeros((16 * CHUNK, *inner), variable.dtype)
            elif variable.dimensions[0] == "step":
                self._steps[variable.name] = np.zeros(_STEP_BLOCK, variable.dtype)
        self._row = self._contact = self._step = 0
        self._answerers: dict[str, int] = {}
        self._solve, self._solve_numbers = SolveInfo(), (-1, -1)
        self._next_publication = 0.0
        self._unpublished = True
        if resumed is not None:
            names = json.loads(str(resumed["answerers"]))
            self._answerers = {name: i for i, name in enumerate(names)}
            self._kept = int(resumed["kept"])
            self._due = self._next_due(simulation)
            return
        self._kept = simulation.step_index // self._stride
        self._due = -1.0
        if initial:
            self._keep(simulation, None)
            self.publish()

    def __call__(self, simulation: Simulation, report: StepReport) -> None:
        self._keep_step(simulation, report.solve)
        if simulation.time >= self._due:
            self._keep(simulation, report)
            if clock.perf_counter() > self._next_publication:
                self.publish()

    def keep(self, simulation: Simulation, report: StepReport, record: ContactRecord) -> None:
        """Write a record of the state now, due or not, with contacts that no step gave: of an equilibrium."""
        self._keep(simulation, report, record)

    def close(self) -> None:
        """Write what is still in the buffers, for the last time."""
        self._write_block()
        self._describe()
        self._file.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _keep_step(self, simulation: Simulation, solve: SolveInfo) -> None:
        """Who solved this step, and how well: of every accepted step."""
        if self._step == _STEP_BLOCK:
            self._write_block()
        if solve is not self._solve or self._solve_numbers[0] < 0:  # steps without contact share one answer
            self._solve, self._solve_numbers = solve, self._numbers(solve)
        rows, k = self._steps, self._step
        rows["step_time"][k] = simulation.time
        rows["step_status"][k], rows["step_answered_by"][k] = self._solve_numbers
        rows["step_iterations"][k] = solve.iterations
        rows["step_residual"][k] = self._statistics.last_residual
        rows["step_contact_count"][k] = self._statistics.last_contacts
        self._step += 1
        self._unpublished = True

    def _numbers(self, solve: SolveInfo) -> tuple[int, int]:
        """Numbers of a solve's status and of who answered it."""
        who = self._answerers.setdefault(solve.answered_by, len(self._answerers))
        return STATUSES.index(solve.status), who

    # — one record —

    def _keep(
        self, simulation: Simulation, report: StepReport | None, record: ContactRecord | None = None
    ) -> None:
        if self._row == CHUNK:
            self._write_block()
        rows, k, state = self._rows, self._row, simulation.state
        rows["time"][k] = state.time
        rows["step_length"][k] = 0.0 if report is None else report.step
        if "q" in rows:
            rows["q"][k] = state.q
        if "v" in rows:
            rows["v"][k] = state.v
        if "inputs" in rows:
            np.concatenate([body.inputs.at(state.time) for body in simulation.bodies], out=rows["inputs"][k])
        self._keep_poses(simulation, k)
        self._keep_energy(simulation, k)
        self._keep_solve(report, k)
        if record is None:
            record = simulation.contacts() if report is not None else ContactRecord()
        rows["contact_count"][k] = record.count
        self._keep_contacts(record)
        self._statistics.note_contacts(state.time, record)
        self._row += 1
        self._kept += 1
        self._unpublished = True
        self._due = self._next_due(simulation)

    def _next_due(self, simulation: Simulation) -> float:
        step = simulation.step_length
        return simulation.start_time + self._kept * self._stride * step - 1e-6 * step

    def _keep_poses(self, simulation: Simulation, k: int) -> None:
        rows, scene = self._rows, self._scene
        scene.place(simulation.state)
        if "frame_position" in rows:
            rows["frame_position"][k] = scene.poses.frame_position
            rows["frame_quat_wxyz"][k] = quat_wxyz_from_rotation(scene.poses.frame_rotation)
        if "obstacle_position" in rows:
            obstacles = slice(len(scene.table) - len(simulation.obstacles), None)
            rows["obstacle_position"][k] = scene.poses.position[obstacles]
            rows["obstacle_quat_wxyz"][k] = quat_wxyz_from_rotation(scene.poses.rotation[obstacles])
        for body, part, (length, starts) in zip(
            simulation.bodies, simulation.state.parts, self._outlines, strict=True
        ):
            name = f"bodies/{body.name}/outline"
            if name in rows:
                rows[name][k] = resampled(body.model.outline(part), length, starts)

    def _keep_energy(self, simulation: Simulation, k: int) -> None:
        kinetic, potential = self._rows["kinetic_energy"][k], self._rows["potential_energy"][k]
        for i, (body, part) in enumerate(zip(simulation.bodies, simulation.state.parts, strict=True)):
            knows = "energy" in body.abilities
            kinetic[i], potential[i] = body.model.energy(part) if knows else (np.nan, np.nan)

    def _keep_solve(self, report: StepReport | None, k: int) -> None:
        rows = self._rows
        since = self._statistics.take_since_kept()
        rows["steps_since"][k] = since.steps
        rows["unsolved_since"][k] = since.unsolved
        rows["iterations_since"][k] = since.iterations
        rows["most_iterations_since"][k] = since.most_iterations
        rows["worst_residual_since"][k] = since.worst_residual
        rows["deepest_penetration_since"][k] = since.deepest_penetration
        if report is None:
            for name in ("status", "answered_by"):
                rows[name][k] = -1
            return
        solve = report.solve
        rows["status"][k], rows["answered_by"][k] = self._numbers(solve)
        rows["iterations"][k] = solve.iterations
        rows["integrator_iterations"][k] = report.iterations
        for name in ("normal", "friction", "cone", "equation", "compliance"):
            rows[f"residual_{name}"][k] = getattr(solve.residuals, name)

    def _keep_contacts(self, record: ContactRecord) -> None:
        begin, end = self._contact, self._contact + record.count
        for field in _CONTACT_FIELDS:
            name = f"contact_{field}"
            if name not in self._contacts:
                continue
            buffer = self._contacts[name]
            if end > len(buffer):
                grown = np.zeros((2 * end, *buffer.shape[1:]), buffer.dtype)
                grown[:begin] = buffer[:begin]
                self._contacts[name] = buffer = grown
            buffer[begin:end] = getattr(record, field)
        self._contact = end

    # — blocks —

    def _write_block(self) -> None:
        if self._row:
            self._file.append("contact", self._contact, self._contacts)
            self._file.append("time", self._row, self._rows)
            self._row = self._contact = 0
        if self._step:
            self._file.append("step", self._step, self._steps)
            self._step = 0

    def _describe(self) -> None:
        names = [(who or "unnamed").replace(" ", "_") for who in self._answerers]
        self._file.set_attribute("answered_by", "flag_values", np.arange(-1, len(names), dtype="i2"))
        self._file.set_attribute("answered_by", "flag_meanings", " ".join(["no_solve_yet", *names]))
        self._file.set_attribute("", "statistics", json.dumps(self._statistics.as_data()))

    def publish(self) -> None:
        """Make every record up to now readable under the file's name.

        Raises:
            ResultsError: the disk is full or the folder has gone; what was published before is still there.
        """
        if not self._unpublished:
            return
        begin = clock.perf_counter()
        self._write_block()
        self._describe()
        self._file.publish()
        self._unpublished = False
        now = clock.perf_counter()
        self._next_publication = now + max(_PUBLISH_EVERY, (now - begin) / _SHARE)

    # — for resuming —

    def memory(self) -> dict[str, np.ndarray[Any, Any]]:
        """Where it stands in the published file, for a checkpoint; to be taken right after `publish`."""
        return {
            **{f"{name}_length": np.array(self._file.length(name)) for name in ("time", "contact", "step")},
            "kept": np.array(self._kept),
            "answerers": np.array(json.dumps(list(self._answerers))),
        }
