"""How far a run is off because of its step: the same run with half of it, and what that leaves by extrapolation.

In contact every scheme is of order one: impacts fall anywhere within a step. With x_h a place in the run with the step
h, x that of h → 0, and an error e = x_h − x in proportion to h

    x_h − x_{h/2} = e/2,   so that   |e| ≈ 2·|x_h − x_{h/2}|                                      (1)

at every record, of every frame; the same of angles. Smooth motion is of a higher order p in some schemes, and (1) then
says up to 2·(1 − 2^{−p}) times too much. (1) holds while e is small beside the motion. From where it is more than a
tenth of the largest way of any frame, or 0.1 rad where nothing moves but turns, the runs part: motions that are
sensitive, as those of a pile, do so at any step, and there is no figure for them but for the time until then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import asdict, evolve, frozen

from corekit.data.arrays import Array
from corekit.errors import StepFailed
from corekit.geometry.frames import quat_wxyz_from_rotation
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation
from corekit_record.results import Results

__all__ = ["STEP_ERROR", "StepError", "estimate_step_error"]

STEP_ERROR = "step-error.json"
"""The file of a run's folder that holds the estimate."""
_PARTS, _PARTS_TURNED = 0.1, 0.1
"""Of the largest way, and [rad]."""
_NOTHING = 1e-12


@frozen(kw_only=True)
class StepError:
    """The estimate (1) of a run.

    Args:
        frame, distance_m, at_s: where and when the largest error of a place is, while the runs do not part.
        turned, angle_rad, turned_at_s: the same of an angle; `turned` is empty where nothing turned by another one.
        end_m: the largest error of a place at the last record.
        way_m: the largest way of a frame from its start.
        parted_s: when the runs part, None if they do not. failed: why the run with half the step ended early, or empty.
    """

    frame: str
    distance_m: float
    at_s: float
    turned: str
    angle_rad: float
    turned_at_s: float
    end_m: float
    way_m: float
    parted_s: float | None
    failed: str

    @property
    def short(self) -> str:
        """The error alone, or when the runs part, for a table."""
        if self.parted_s is not None:
            return f"parts at {self.parted_s:.3g} s"
        turn = f", {math.degrees(self.angle_rad):.2g}°" if self.turned else ""
        return f"{_length(self.distance_m)}{turn}"

    def as_data(self) -> dict[str, Any]:
        """Return the estimate and its sentence as JSON can hold it."""
        return {**asdict(self), "said": str(self)}

    def __str__(self) -> str:
        turn = f", {self.turned} {math.degrees(self.angle_rad):.2g}° at {self.turned_at_s:.4g} s"
        where = f"{self.frame} {_length(self.distance_m)} at {self.at_s:.4g} s{turn if self.turned else ''}"
        said = f"{where}, largest"
        if self.parted_s is not None:
            said = (
                f"too large for a figure: with half the step the run parts from this one at {self.parted_s:.4g} s, and "
                f"{_length(0.5 * self.end_m)} lie between them at the end, of {_length(self.way_m)} of motion. Take a "
                f"shorter step, or trust no place after that; before it {where}, largest"
            )
        return said + (f"; with half the step the run ended early: {self.failed}" if self.failed else "")


def _length(metres: float) -> str:
    return f"{1e3 * metres:.3g} mm" if metres < 1.0 else f"{metres:.3g} m"


def estimate_step_error(
    results: Results, scenario: Scenario, progress: Callable[[float], object] | None = None
) -> StepError:
    """Run a scenario with half of its step and compare it with the results of a run of it.

    Args:
        progress: called with the simulated time [s].
    Raises:
        ConfigError, CompositionError: the scenario cannot be composed.
    """
    simulation = _with_half_the_step(scenario).compose()
    times, step = results.time, 0.5 * scenario.time.step
    frames = [(body, i) for body in simulation.bodies for i in range(len(body.description.frames))]
    place, quat, failed, count = (
        np.zeros((len(times), len(frames), 3)),
        np.zeros((len(times), len(frames), 4)),
        "",
        0,
    )
    try:
        for k, time in enumerate(times):
            while simulation.step_index < round((time - times[0]) / step):
                simulation.step()
            _write(simulation, place[k], quat[k])
            count = k + 1
            if progress is not None:
                progress(float(time))
    except StepFailed as error:
        failed = str(error)
    return _compare(results, place[:count], quat[:count], failed)


def _with_half_the_step(scenario: Scenario) -> Scenario:
    step = scenario.time.step
    controllers = tuple(evolve(each, every=each.every or step) for each in scenario.controllers)
    return evolve(scenario, time=evolve(scenario.time, step=0.5 * step), controllers=controllers)


def _write(simulation: Simulation, place: Array, quat: Array) -> None:
    first = 0
    for body, state in zip(simulation.bodies, simulation.state.body_states, strict=True):
        own = slice(first, first + len(body.description.frames))
        axes = np.zeros((own.stop - own.start, 3, 3))
        body.model.compute_frame_poses(state, place[own], axes)
        quat[own] = [quat_wxyz_from_rotation(each) for each in axes]
        first = own.stop


def _compare(results: Results, place: Array, quat: Array, failed: str) -> StepError:
    count, times, names = len(place), results.time, results.frames
    if not (count and place.shape[1]):
        return StepError(
            frame="nothing", distance_m=0.0, at_s=0.0, turned="", angle_rad=0.0, turned_at_s=0.0, end_m=0.0, way_m=0.0,
            parted_s=None, failed=failed,
        )  # fmt: skip
    own = np.asarray(results.frame_position[:count])
    error = 2.0 * np.linalg.norm(own - place, axis=2)
    angle = 2.0 * _angles(np.asarray(results.frame_quat_wxyz[:count]), quat)
    way = float(np.linalg.norm(own - own[0], axis=2).max())
    parts = error.max(axis=1) > _PARTS * way + _NOTHING
    parts |= (angle.max(axis=1) > _PARTS_TURNED) & (way <= _NOTHING)
    parted = int(np.argmax(parts)) if parts.any() else None
    last = count if parted is None else max(parted, 1)
    k, i = np.unravel_index(int(error[:last].argmax()), error[:last].shape)
    m, j = np.unravel_index(int(angle[:last].argmax()), angle[:last].shape)
    largest = float(angle[m, j])
    return StepError(
        frame=names[int(i)], distance_m=float(error[k, i]), at_s=float(times[k]),
        turned=names[int(j)] if largest > 1e-6 else "", angle_rad=largest, turned_at_s=float(times[m]),
        end_m=float(error[-1].max()), way_m=way, parted_s=None if parted is None else float(times[parted]),
        failed=failed,
    )  # fmt: skip


def _angles(one: Array, other: Array) -> Array:
    """Angles between orientations [rad], exact near 0: 4·asin(|a − b|/2), of the nearer of ±b."""
    apart = np.minimum(np.linalg.norm(one - other, axis=2), np.linalg.norm(one + other, axis=2))
    found: Array = 4.0 * np.arcsin(np.clip(0.5 * apart, 0.0, 1.0))
    return found
