"""Recorder of every n-th step of a run: buffers, and quaternions made of them, are written block by block."""

from __future__ import annotations

import json
import time as clock
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, final

import numpy as np

from corekit.data.contacts import ContactRecord
from corekit.data.instants import beside_grid
from corekit.data.status import SolveInfo, StepReport
from corekit.errors import ConfigError, Mistake, ResultsError
from corekit.geometry.frames import quat_wxyz_from_rotation
from corekit.roles.collision_scene import CollisionScene
from corekit.simulation.loop import Simulation
from corekit_record.column_buffer import ColumnBuffer
from corekit_record.digest import DamagedResults, set_aside
from corekit_record.netcdf_file import CHUNK
from corekit_record.reactions import Reactions
from corekit_record.record_layout import CONTACT_FIELDS, STATUSES, attributes_of, dimensions_of, variables_of
from corekit_record.replay_data import resample_outline
from corekit_record.results import Results
from corekit_record.statistics import Statistics
from corekit_record.store import GrowingFile
from corekit_run.folder_run import ignore
from corekit_run.observers import Arrays, RunObserver

__all__ = ["Recorder"]

_PUBLISH_EVERY = 1.0
"""Wall time between publications [s], longer where publishing is slow: it may take 2 % of the time."""
_SHARE = 0.02
_STEP_BLOCK = 4096
"""Steps whose solves are buffered before they are written."""
_ROW_BLOCK = 4 * CHUNK
"""Records buffered before they are written."""
_STEP_NUMBERS = ("time", "status", "answered_by", "iterations", "residual", "contact_count")
_SOLVE_NUMBERS = (
    "step_length", "steps_since", "unsolved_since", "iterations_since", "most_iterations_since",
    "worst_residual_since", "deepest_penetration_since", "status", "answered_by", "iterations",
    "integrator_iterations", "residual_normal", "residual_friction", "residual_cone", "residual_equation",
    "residual_compliance", "contact_count",
)  # fmt: skip


@final
class Recorder(RunObserver):
    """Observer that writes `results.nc`: the initial state, then every n-th grid step.

    It is called after `statistics`, because a record holds the counters since the last one. As a context manager it
    begins and closes by itself.

    Args:
        path: of the file.
        simulation: at its initial state, which is recorded by `begin`.
        every: time from record to record [s], a whole number of steps.
        statistics: counters of the run.
        title: name of the scenario.
        initial: whether `begin` records the state.
        left_out: of `PARTS`, what is not recorded.
        tell: called with a sentence if the file of an earlier attempt is lost.
    Raises:
        ConfigError: `every` is not a whole number of steps.
    """

    name = "recorder"

    def __init__(
        self,
        path: Path,
        simulation: Simulation,
        every: float,
        statistics: Statistics,
        title: str = "",
        *,
        initial: bool = True,
        left_out: Collection[str] = (),
        tell: Callable[[str], object] = ignore,
    ) -> None:
        step = simulation.step_length
        self._stride = max(1, round(every / step))
        if abs(every / step - self._stride) > 1e-6 * self._stride:
            allowed = f"must be a whole number of steps of {step:g} s"
            hint = f"nearest is {self._stride * step:.10g}"
            raise ConfigError([Mistake("output.every", every, allowed, hint)])
        self._path, self._simulation, self._title, self._initial = path, simulation, title, initial
        self._statistics, self._tell, self._left_out = statistics, tell, tuple(left_out)
        self._lost, self._first_step, self._row, self._contact = "", 0, 0, 0
        self._kept = simulation.step_index // self._stride
        self._due = -1.0
        self._answerers: dict[str, int] = {}
        self._solve, self._solve_numbers = SolveInfo(), (-1, -1)
        self._next_publication = 0.0
        self._unpublished = True

    def begin(self) -> None:
        """Make the file and record the state.

        Raises:
            ResultsError: the folder cannot be written to, or there is a file with more than an initial record.
        """
        folder = self._path.parent
        try:
            if self._path.exists() and len(Results(self._path).time) > 1:
                raise ResultsError(
                    f"{folder} has no checkpoint-*.npz to go on from. Run {folder / 'resolved.toml'} anew instead."
                )
        except DamagedResults as error:
            self._lost = f"{error.what}. It is made anew from the start"
        self._open(None)
        if self._initial:
            self._keep(self._simulation, None)
            self.flush(0.0)

    def restore(self, state: Arrays) -> None:
        """Continue the published file; records after that state are dropped.

        Where the file is damaged or missing a new one begins at that state. Everything else goes on as it would have:
        the counters of `statistics` are of the whole run, and `first_step` says where the file's steps begin.

        Raises:
            ResultsError: it is not the file of this run.
        """
        kept = {name: int(state[f"{name}_length"]) for name in ("time", "contact", "step")}
        self._first_step = int(state["first_step"])
        try:
            self._continue(kept)
        except DamagedResults as error:
            self._lost = f"{error.what}. Its records up to this checkpoint are lost, and new ones begin here"
            self._first_step += kept["step"]
            self._open(None)
        except ResultsError as error:
            raise ResultsError(
                f"{error}. Move it elsewhere to go on from the checkpoint, with records from there on"
            ) from error
        names = json.loads(str(state["answerers"]))
        self._answerers = {name: i for i, name in enumerate(names)}
        self._kept = int(state["kept"])
        self._due = self._next_due(self._simulation)

    def _continue(self, kept: Mapping[str, int]) -> None:
        """Go on with the published file.

        Raises:
            DamagedResults: there is none, or it cannot be read. ResultsError: it is another one.
        """
        if not self._path.exists():
            raise DamagedResults.of(self._path, "is not there")
        records = len(Results(self._path).time)
        if records < kept["time"]:
            raise ResultsError(
                f"{self._path} holds {records} records, the checkpoint belongs to {kept['time']}: "
                "it is not the file that this run wrote"
            )
        self._open(kept)

    def _open(self, kept: Mapping[str, int] | None) -> None:
        """Create the file, or continue it after the kept records, and create the buffers."""
        simulation = self._simulation
        self._scene = scene = CollisionScene(simulation.bodies, simulation.obstacles)
        outlines = [
            body.model.compute_outline(part)
            for body, part in zip(simulation.bodies, simulation.state.body_states, strict=True)
        ]
        self._outlines = [(len(outline.points), np.asarray(outline.starts)) for outline in outlines]
        dimensions = dimensions_of(simulation, outlines)
        variables = variables_of(simulation, scene, outlines, self._left_out)
        self._file = GrowingFile(
            self._path, dimensions, variables, attributes_of(simulation, self._title, self._left_out), kept
        )
        self._rows: dict[str, np.ndarray[Any, Any]] = {}
        self._contacts: dict[str, np.ndarray[Any, Any]] = {}
        kind = {variable.name: variable.dtype for variable in variables}
        steps = [f"step_{name}" for name in _STEP_NUMBERS]
        self._steps = ColumnBuffer(steps, [kind[name] for name in steps])
        self._solves = ColumnBuffer(_SOLVE_NUMBERS, [kind[name] for name in _SOLVE_NUMBERS])
        for variable in variables:
            inner = tuple(dimensions[name] or 0 for name in variable.dimensions[1:])
            if variable.dimensions[0] == "time" and variable.name not in _SOLVE_NUMBERS:
                self._rows[variable.name] = np.zeros((_ROW_BLOCK, *inner), variable.dtype)
            elif variable.dimensions[0] == "contact":
                self._contacts[variable.name] = np.zeros((16 * CHUNK, *inner), variable.dtype)
        self._reactions = Reactions(simulation, self._rows)
        self._obstacles = slice(len(scene.table) - len(simulation.obstacles), None)
        self._rotations = {
            name: np.zeros((_ROW_BLOCK, count, 3, 3))
            for name, count in (
                ("frame_quat_wxyz", len(scene.poses.frame_rotation)),
                ("obstacle_quat_wxyz", len(simulation.obstacles)),
            )
            if name in self._rows
        }

    def on_step_accepted(self, simulation: Simulation, report: StepReport) -> None:
        self._keep_step(simulation, report.solve_info)
        if simulation.time >= self._due:
            self._keep(simulation, report)
            if clock.perf_counter() > self._next_publication:
                self.flush(0.0)

    def keep(self, simulation: Simulation, report: StepReport, record: ContactRecord) -> None:
        """Record the state now, due or not, with contacts that are not of a step: of an equilibrium."""
        self._keep(simulation, report, record)

    def close(self) -> None:
        """Write the rest of the buffers and close the file."""
        self._write_block()
        self._describe()
        self._file.close()

    def __enter__(self) -> Recorder:
        self.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _keep_step(self, simulation: Simulation, solve: SolveInfo) -> None:
        """Record which solver solved this step, and how well: of every accepted step."""
        if solve is not self._solve or self._solve_numbers[0] < 0:  # steps without contact share one solution
            self._solve, self._solve_numbers = solve, self._numbers(solve)
        counted, (status, who) = self._statistics, self._solve_numbers
        self._steps.add(
            (simulation.time, status, who, solve.iterations, counted.last_residual, counted.last_contacts)
        )
        self._unpublished = True
        if len(self._steps) == _STEP_BLOCK:
            self._write_block()

    def _numbers(self, solve: SolveInfo) -> tuple[int, int]:
        """Return the numbers of a solve's status and of its solver."""
        who = self._answerers.setdefault(solve.answered_by, len(self._answerers))
        return STATUSES.index(solve.status), who

    # — one record —

    def _keep(
        self,
        simulation: Simulation,
        report: StepReport | None,
        record: ContactRecord | None = None,
        *,
        counted: bool = True,
    ) -> None:
        rows, k, state = self._rows, self._row, simulation.state
        rows["time"][k] = state.time
        for name, values in (("q", state.q), ("v", state.v)):
            if name in rows:
                rows[name][k] = values
        if "inputs" in rows:
            np.concatenate(
                [body.inputs.value_at(state.time) for body in simulation.bodies], out=rows["inputs"][k]
            )
        self._keep_poses(simulation, k)
        self._keep_energy(simulation, k)
        self._reactions.keep(simulation, k, after_step=report is not None and record is None)
        if record is None:
            record = simulation.contacts() if report is not None else ContactRecord()
        self._keep_solve(report, record)
        self._keep_contacts(record)
        if counted:
            self._statistics.add_contacts(state.time, record)
            self._kept += 1
        self._row += 1
        self._unpublished = True
        self._due = self._next_due(simulation)
        if self._row == _ROW_BLOCK:
            self._write_block()

    def _next_due(self, simulation: Simulation) -> float:
        point = simulation.start_time + self._kept * self._stride * simulation.step_length
        return point - beside_grid(point, simulation.step_length)

    def _keep_poses(self, simulation: Simulation, k: int) -> None:
        rows, scene = self._rows, self._scene
        scene.update_poses(simulation.state)
        if "frame_position" in rows:
            rows["frame_position"][k] = scene.poses.frame_position
            self._rotations["frame_quat_wxyz"][k] = scene.poses.frame_rotation
        if "obstacle_position" in rows:
            rows["obstacle_position"][k] = scene.poses.position[self._obstacles]
            self._rotations["obstacle_quat_wxyz"][k] = scene.poses.rotation[self._obstacles]
        if "outline" not in rows:
            return
        first, actuators = 0, [np.zeros((0, 3))]
        for body, part, (length, starts) in zip(
            simulation.bodies, simulation.state.body_states, self._outlines, strict=True
        ):
            made, last = body.model.compute_outline(part), first + length
            rows["outline"][k, first:last], first = resample_outline(made, length, starts), last
            actuators += [points for _, points in made.actuators]
        if "actuator_line" in rows:
            rows["actuator_line"][k] = np.concatenate(actuators)

    def _keep_energy(self, simulation: Simulation, k: int) -> None:
        if "kinetic_energy" not in self._rows:
            return
        kinetic, potential = self._rows["kinetic_energy"][k], self._rows["potential_energy"][k]
        for i, (body, part) in enumerate(zip(simulation.bodies, simulation.state.body_states, strict=True)):
            own = body.abilities.energy
            kinetic[i], potential[i] = (np.nan, np.nan) if own is None else own.compute_energies(part)

    def _keep_solve(self, report: StepReport | None, record: ContactRecord) -> None:
        since = self._statistics.pop_since_last_record()
        counted = (
            since.steps, since.unsolved, since.iterations, since.most_iterations, since.worst_residual,
            since.deepest_penetration,
        )  # fmt: skip
        if report is None:
            self._solves.add((0.0, *counted, -1, -1, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, record.count))
            return
        solve, left = report.solve_info, report.solve_info.residuals
        self._solves.add(
            (
                record.step_size, *counted, *self._numbers(solve), solve.iterations, report.iterations, left.normal,
                left.friction, left.cone, left.equation, left.compliance, record.count,
            )
        )  # fmt: skip

    def _keep_contacts(self, record: ContactRecord) -> None:
        begin, end = self._contact, self._contact + record.count
        for field in CONTACT_FIELDS:
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
        if count := self._row:
            for name, rotation in self._rotations.items():
                self._rows[name][:count] = quat_wxyz_from_rotation(rotation[:count])
            self._file.append("contact", self._contact, self._contacts)
            self._file.append("time", count, {**self._rows, **self._solves.pop_arrays()})
            self._row = self._contact = 0
        if count := len(self._steps):
            self._file.append("step", count, self._steps.pop_arrays())

    def _describe(self) -> None:
        names = [(who or "unnamed").replace(" ", "_") for who in self._answerers]
        self._file.set_attribute("answered_by", "flag_values", np.arange(-1, len(names), dtype="i2"))
        self._file.set_attribute("answered_by", "flag_meanings", " ".join(["no_solve_yet", *names]))
        self._file.set_attribute("", "statistics", json.dumps(self._statistics.summary()))

    def flush(self, patience: float) -> bool:
        """Make every record up to now readable under the file's name.

        Args:
            patience: how long to wait for another program that has the file open [s].
        Returns:
            False if it still had: nothing is lost, the next publication holds these records too.
        Raises:
            ResultsError: the disk is full or the folder has gone; what was published before is still there.
        """
        if self._lost:
            self._replace_lost()
        if not self._unpublished:
            return True
        begin = clock.perf_counter()
        self._write_block()
        self._describe()
        self._unpublished = not self._file.publish(patience)
        now = clock.perf_counter()
        self._next_publication = now + max(_PUBLISH_EVERY, (now - begin) / _SHARE)
        return not self._unpublished

    def _replace_lost(self) -> None:
        """Keep a file that cannot be read under another name, begin the new one with the state, and say so."""
        sentence = f"{self._path} {self._lost}, at t = {self._simulation.time:.9g} s.{set_aside(self._path)}"
        self._lost = ""
        if not self._file.length("time") + self._row:
            self._keep(self._simulation, None, counted=False)
            self._file.set_attribute("", "first_step", self._first_step)
            self._file.set_attribute("", "lost", sentence)
        self._tell(sentence)

    # — for resuming —

    def internal_state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Lengths of the published file, for a checkpoint; call it right after `flush`."""
        return {
            **{f"{name}_length": np.array(self._file.length(name)) for name in ("time", "contact", "step")},
            "kept": np.array(self._kept),
            "first_step": np.array(self._first_step),
            "answerers": np.array(json.dumps(list(self._answerers))),
        }
