"""Results of a run: arrays on demand, contacts instant by instant, and a replay without any plugin."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactRecord
from corekit.errors import ResultsError
from corekit.geometry.shapes import Shape
from corekit.roles.viewer import Replay
from corekit.simulation.arguments import PATH, check_arguments
from corekit_record.record_layout import PARTS, STATUSES
from corekit_record.recorded import Energy, JointForces, SolveHistory
from corekit_record.recorded_forces import contact_force
from corekit_record.recorded_replay import outline_of, replay_of
from corekit_record.replay_data import nearest_frame, shapes_from_text
from corekit_record.results_file import datasets, open_results, or_damaged, plain_attributes
from corekit_run.folder import RunStatus, read_log, read_status

__all__ = ["RESULTS", "Results"]

RESULTS = "results.nc"
"""The file of a run's folder that holds its records."""


@final
class Results:
    """The records of a run, finished or still running.

    Arrays are read at first use, then kept; all belong to the T records there were at the first use.
    `refresh` forgets them, so that a running run shows what it has published since.

    Args:
        path: the run's folder, or its `results.nc`.
    Raises:
        ResultsError: there is none, or it is not one of ours.
    """

    def __init__(self, path: str | Path) -> None:
        check_arguments("corekit.Results", path=(path, PATH))
        path = Path(path)
        is_file = path.is_file() or path.suffix == ".nc"
        self.path = path.parent if is_file else path
        self.file = path if is_file else path / RESULTS
        self._read: dict[str, Any] = {}
        self._attributes: dict[str, Any] = {}
        self._contact_ends: IntArray | None = None
        self.refresh()

    def refresh(self) -> None:
        """Read the file again."""
        self._seen = self._signature()
        with self._open() as file:
            self._names = frozenset(datasets(file))
            self._attributes = plain_attributes(file.attrs)
            self._read = {"time": file["time"][:]}
        self._contact_ends = None

    @property
    def outdated(self) -> bool:
        """Whether something was published since the file was last read."""
        return self._signature() != self._seen

    def _signature(self) -> tuple[int, ...]:
        """Identity of a publication: each is another file under the same name."""
        try:
            stat = self.file.stat()
        except OSError:
            return ()
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _open(self) -> AbstractContextManager[Any]:
        if self.file.exists() and not self.file.is_file():
            raise ResultsError(f"{self.file} is no results file: a folder, a pipe or a device is not read")
        if not self.file.exists():
            what = f"holds no {self.file.name}" if self.path.exists() else "is not there"
            raise ResultsError(f"no results in {self.path}: the folder {what}")
        return open_results(self.file)

    @or_damaged
    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        """Return a variable by its name in the file, for example `"residual_normal"`.

        Raises:
            ResultsError: the file has none of that name.
        """
        if name not in self._read:
            if name not in self._names:
                self._raise_if_left_out(name)
                raise ResultsError(f"{self.file} has no {name!r}; it has {', '.join(sorted(self._names))}")
            # a file that goes on growing may hold more by now than the T records seen first
            length = self._length_of(name)
            with self._open() as file:
                dataset = file[name]
                kept = slice(length) if dataset.maxshape[:1] == (None,) else slice(None)
                self._read[name] = dataset.asstr()[kept] if dataset.dtype.kind == "O" else dataset[kept]
        return self._read[name]

    def _length_of(self, name: str) -> int | None:
        """Return the entries of a growing variable that belong to the first reading; None for all."""
        if name.startswith("contact_") and name != "contact_count":
            return int(np.sum(self["contact_count"]))
        if name.startswith("step_") and name != "step_length":
            return None if name == "step_time" else len(self["step_time"])
        return len(self.time)

    def labels(self, dimension: str) -> tuple[str, ...]:
        """Return the names along a dimension; none if the world has nothing of the kind."""
        return tuple(self[dimension]) if dimension in self._names else ()

    def array(self, name: str, *shape: int) -> Array:
        """Return a variable over time, or an empty one if the world has nothing of the kind.

        Raises:
            ResultsError: the scenario left it out.
        """
        self._raise_if_left_out(name)
        return self[name] if name in self._names else np.zeros((len(self.time), *shape))

    # — what was recorded —

    @property
    def left_out(self) -> tuple[str, ...]:
        """What the scenario did not have recorded, words of `[output] record`."""
        return tuple(str(self._attributes.get("left_out", "")).split())

    def _raise_if_left_out(self, name: str) -> None:
        part = next((part for part in self.left_out if name in PARTS.get(part, ())), None)
        if part is not None:
            raise ResultsError(
                f"{self.file} has no {name!r}, since the scenario's [output] record leaves out {part!r}: run it with "
                f"{part!r} in it"
            )

    @property
    def title(self) -> str:
        """Name of the scenario."""
        return str(self._attributes.get("title", ""))

    @property
    def time(self) -> Array:
        """Of each record [s], shape (T,)."""
        return self._read["time"]

    @property
    def q(self) -> Array:
        """Coordinates, shape (T, nq); see `coordinates`."""
        return self.array("q", 0)

    @property
    def v(self) -> Array:
        """Velocities, shape (T, nv); see `velocities`."""
        return self.array("v", 0)

    @property
    def inputs(self) -> Array:
        """Inputs, shape (T, nu)."""
        return self.array("inputs", 0)

    @property
    @or_damaged
    def coordinates(self) -> tuple[tuple[str, str], ...]:
        """Name and unit of each coordinate."""
        return tuple(zip(self.labels("coordinate"), self.labels("coordinate_unit"), strict=True))

    @property
    @or_damaged
    def velocities(self) -> tuple[tuple[str, str], ...]:
        """Name and unit of each velocity."""
        return tuple(zip(self.labels("dof"), self.labels("dof_unit"), strict=True))

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of the frames, `body.frame`."""
        return self.labels("frame")

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies."""
        return self.labels("body")

    @property
    def frame_position(self) -> Array:
        """Origins of the frames in the world [m], shape (T, frames, 3)."""
        return self.array("frame_position", 0, 3)

    @property
    @or_damaged
    def tip(self) -> int | None:
        """Index of the frame that tables call the tip; None without frames.

        It is the one where the outline of the first body with several frames ends at the first record; in a world of
        bodies with one frame each it is the first of those. Where outlines were not recorded it is the last frame.
        """
        owners = [frame.partition(".")[0] for frame in self.frames]
        if not owners:
            return None
        body = next((name for name in self.bodies if owners.count(name) > 1), owners[0])
        first, count = owners.index(body), owners.count(body)
        if "outlines" in self.left_out:
            return first + count - 1
        end = outline_of(self, self.bodies.index(body))[0][-1:]
        return first + (
            nearest_frame(self.frame_position[0, first : first + count], end[0]) if len(end) else count - 1
        )

    @property
    def frame_quat_wxyz(self) -> Array:
        """Rotations of the frames, shape (T, frames, 4)."""
        return self.array("frame_quat_wxyz", 0, 4)

    @property
    def energy(self) -> Energy:
        """Of each body."""
        return Energy(self["kinetic_energy"], self["potential_energy"])

    @property
    def contact_count(self) -> IntArray:
        """Contacts of each record, shape (T,)."""
        return self["contact_count"]

    @or_damaged
    def contacts(self, k: int) -> ContactRecord:
        """Return the contacts of record k; k may be negative, as in a list."""
        count = self.contact_count
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
            raise ResultsError(f"a record has a whole number, not {k!r}: `time` lists when each was made")
        if not -len(count) <= k < len(count):
            raise ResultsError(f"there is no record {k}: {self.file} has {len(count)}")
        k %= len(count)
        if self._contact_ends is None:
            self._contact_ends = np.cumsum(count, dtype=np.int64)
        end = int(self._contact_ends[k])
        part = slice(end - int(count[k]), end)

        def column(name: str) -> Any:
            return self[f"contact_{name}"][part]

        turning = (
            {"moment_impulse": column("moment_impulse")} if "contact_moment_impulse" in self._names else {}
        )
        return ContactRecord(
            id=column("id"),
            shape=column("shape").astype(np.int64),
            gap=column("gap"),
            point=column("point"),
            normal=column("normal"),
            tangent=column("tangent"),
            normal_impulse=column("normal_impulse"),
            tangential_impulse=column("tangential_impulse"),
            slip=column("slip"),
            mode=column("mode").astype(np.int64),
            residual=column("residual"),
            step_size=float(self["step_length"][k]),
            owners=self._owners,
            **turning,
        )

    @or_damaged
    def force(self, body: str, other: str | None = None) -> Array:
        """Return the mean contact force on something over the grid step that each record ended [N], shape (T, 3).

        Args:
            body: a body, an obstacle, or a part of a body: `gripper.finger-1`.
            other: what it touches, named alike; everything if None.
        Raises:
            ResultsError: no such name, or contacts were left out.
        """
        return contact_force(self, body, other)

    @or_damaged
    def joint_force(self, name: str) -> JointForces:
        """Return what a joint gave its first frame, as means over the grid step that each record ended; first nan.

        Raises:
            ResultsError: there is no such joint, or reactions were left out.
        """
        if name not in self.labels("joint"):
            known = ", ".join(self.labels("joint")) or "none"
            raise ResultsError(f"{self.file} has no joint {name!r}; it has {known}")
        i = self.labels("joint").index(name)
        return JointForces(self["joint_force"][:, i], self["joint_torque"][:, i])

    @property
    def reaction(self) -> Array:
        """Forces on prescribed coordinates, names and units as in `prescribed`, shape (T, p); first nan."""
        return self.array("reaction", 0)

    @property
    @or_damaged
    def prescribed(self) -> tuple[tuple[str, str], ...]:
        """Name of each prescribed velocity, and the unit of its force."""
        return tuple(zip(self.labels("prescribed"), self.labels("prescribed_unit"), strict=True))

    @property
    def obstacles(self) -> tuple[str, ...]:
        """Names of the obstacles."""
        return self.labels("obstacle")

    @property
    @or_damaged
    def obstacle_shapes(self) -> tuple[Shape, ...]:
        """Shape of each obstacle."""
        return tuple(shapes_from_text(self._attributes["obstacle_shapes"]))

    @property
    def _owners(self) -> tuple[str, ...]:
        """Name of the body or obstacle of every shape."""
        if "owners" not in self._read:
            about = zip(self.bodies, self.labels("body_shapes"), strict=True)
            own = [name for name, shapes in about for _ in shapes_from_text(shapes)]
            self._read["owners"] = np.array([*own, *self.labels("obstacle")], dtype=object)
        return tuple(self._read["owners"])

    # — how it went —

    @property
    @or_damaged
    def first_step(self) -> int:
        """Number of the first step in `solves`: 0, unless records before a checkpoint were lost (`lost`)."""
        return int(self._attributes.get("first_step", 0))

    @property
    def lost(self) -> str:
        """What of the records is lost, and why, in a sentence; empty as a rule."""
        return str(self._attributes.get("lost", ""))

    @property
    @or_damaged
    def solves(self) -> SolveHistory:
        """Which solver solved every accepted step, recorded or not, and how well."""
        with self._open() as file:
            names = str(file["answered_by"].attrs["flag_meanings"]).split()
        return SolveHistory(
            time=self["step_time"],
            status=tuple(STATUSES[number] for number in self["step_status"]),
            answered_by=tuple(names[number + 1] for number in self["step_answered_by"]),
            iterations=self["step_iterations"],
            residual=self["step_residual"],
            contacts=self["step_contact_count"],
        )

    @property
    def status(self) -> str:
        """`running`, `finished`, `failed`, `interrupted` or `killed`; `unknown` without its folder."""
        return self.outcome.status

    @property
    def outcome(self) -> RunStatus:
        """The status with its reason."""
        return read_status(self.path)

    @property
    @or_damaged
    def statistics(self) -> Mapping[str, Any]:
        """Counters over every step, kept or not, up to the last publication."""
        return json.loads(self._attributes.get("statistics", "{}"))

    @property
    def events(self) -> list[dict[str, Any]]:
        """The run's log."""
        return read_log(self.path)

    # — in other forms —

    def _repr_html_(self) -> str:
        return import_module("corekit_record.notebook").as_html(self)

    @or_damaged
    def to_xarray(self) -> Any:
        """Return the file as an `xarray.Dataset`, in memory.

        Raises:
            ResultsError: xarray is not installed.
        """
        try:
            xarray = import_module("xarray")
        except ImportError:
            raise ResultsError("to_xarray needs xarray: pip install xarray") from None
        with xarray.open_dataset(self.file, engine="h5netcdf") as dataset:
            return dataset.load()

    @or_damaged
    def replay(self) -> Replay:
        """Return everything needed to draw the run, from its folder alone; without contacts that were left out.

        Raises:
            ResultsError: frames or outlines were left out.
        """
        return replay_of(self)
