"""Tracking of a motion through contact in a world that differs from the one it was planned for.

`tracking-lqr` knows no way back to a contact that opens: its differences hold it closed. Here the law does four things
more, about the balance of forces along the motion, `corekit_study.motion_balance`:

1. The parts of the forces that may differ, a body's stiffness say, are estimated while it moves (`force_estimate`), and
   the inputs make up for θᵢ·eᵢ. The body behaves as the planned one.
2. Where the object is measured at p from its planned place, the motion moves with it by r_k = S_k·p, and the inputs by

       B·δu = M·Δṙ/T + D·ṙ + K·r − L·p                                                         (1)

   It begins where the body is: over `arrival`, r + o replaces r, o falling from −r to 0 but for what would enter the
   object.
3. Feedback does not change what contacts press with. In coordinates, errors along their normals N do not count; in the
   inputs, what would move along N is left out,

       u = … − P·K·Π·(e − r),   Π = 1 − W·Nᵀ·(N·W·Nᵀ)⁺·N,   N·W·B·P = 0                       (2)

   W the mobility. K is the regulator's for A·Π and B·P: it knows that it has no more.
4. A contact that presses with less than half of the planned force is approached at `approach`, with the inputs that
   give this velocity along its normal.

Only q, v and the place of the object are measured; no force is.

Source: J.-J. Slotine, W. Li (1991), Applied Nonlinear Control, chapter 8 (1); M. Raibert, J. Craig (1981), Hybrid
position/force control of manipulators, J. Dyn. Sys. Meas. Control 103 (3).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.component import BuildContext, InternalState, Stateful
from corekit.roles.controller import ControlledWorld, Controller, Inputs
from corekit_feedback.config import AdaptiveTrackingConfig
from corekit_feedback.force_estimate import ForceEstimate, IntervalBalance
from corekit_feedback.motion_file import BALANCE, DIFFERENCES, MotionFile
from corekit_feedback.riccati import solve_tracking

__all__ = ["AdaptiveTracking"]

_PRESSED = 0.5
"""Share of the planned force below which a contact is approached."""


@final
class AdaptiveTracking(Controller, Stateful):
    """Implements (1) and (2).

    Raises:
        ConfigError: the file holds no motion with its differences and balances, or lacks what the options name.
    """

    def __init__(self, config: AdaptiveTrackingConfig, context: BuildContext | None = None) -> None:
        path = (context or BuildContext()).path or "adaptive-tracking"
        self._config = config
        self._motion = motion = MotionFile(config.file, path, {**DIFFERENCES, **BALANCE})
        arrays = motion.arrays
        estimated = motion.index(config.estimated, "term_names", "estimated")
        self._object = str(arrays["object"][0]) if len(arrays["object"]) else ""
        lengths, changes = np.diff(arrays["time"]), np.diff(arrays["v"], axis=0)
        self._about = [
            IntervalBalance(
                length=float(lengths[k]), mass=arrays["mass"][k], stiffness=arrays["stiffness"][k],
                damping=arrays["damping"][k], drive=arrays["drive"][k], force=arrays["force"][k],
                terms=arrays["terms"][k][estimated], slopes=arrays["term_slopes"][k][estimated],
                unknown=arrays["unknown"][k], normals=arrays["normals"][k],
                pressing=arrays["pressing"][k], driven=arrays["driven"],
            )
            for k in range(len(lengths))
        ]  # fmt: skip
        none = np.zeros(arrays["v"].shape[1])
        self._planned = [
            (about.contact_part @ about.left_over(none, none, dv, np.zeros(arrays["inputs"].shape[1])))
            for about, dv in zip(self._about, changes, strict=True)
        ]
        self._splits = [_Split(about) for about in self._about]
        twice = [np.kron(np.eye(2), each.tangent) for each in self._splits]
        weights = np.diag(motion.weights(config.coordinates, config.rates))
        free = np.array([each.free for each in self._splits])
        self.gains = solve_tracking(
            arrays["a"] @ np.array(twice), arrays["b"] @ free, arrays["c"], weights,
            config.effort * np.eye(len(free[0])), config.final * weights,
        )  # fmt: skip
        self.feedback: Array = free @ self.gains.feedback
        """P·K·Π of (2), shape (N, m, 2·nv)."""
        self._offset = np.einsum("kij,kj->ki", free, self.gains.offset)
        self._begin()

    def _begin(self) -> None:
        self.estimate = ForceEstimate(self._about[0])
        self._last: tuple[int, Array, Array, Array] | None = None
        self._pressed = self._planned[0].copy()

    def compute_inputs(self, world: ControlledWorld) -> Inputs:
        motion, arrays = self._motion, self._motion.arrays
        k = motion.interval(world)
        xi, v = motion.displacement(world, k), world.state.v.copy()
        self._learn(world, v)
        away = self._away(world)
        before, now, after = (self._reference(each, away) for each in (max(k - 1, 0), k, k + 1))
        about, split, length = self._about[k], self._splits[k], self._about[k].length
        rate, next_rate = (now - before) / length, (after - now) / length
        moving = (
            about.mass @ (next_rate - rate) / length + about.damping @ next_rate + about.stiffness @ after
        )
        load = arrays["carried_load"][k] @ (self._share(k + 1) * away)
        missing = self.estimate.shares() @ about.parts(xi)
        error = np.concatenate([xi - now, v - arrays["v"][k] - rate])
        u = arrays["inputs"][k] + split.by_force @ (moving - load - missing)
        u = u - self._offset[k] - self.feedback[k] @ error - split.approach @ self._open(k)
        self._last = (k, xi, v, u.copy())
        return motion.by_channel(u)

    def _learn(self, world: ControlledWorld, v: Array) -> None:
        """Add the interval that ends now to the estimate."""
        if self._last is None:
            return
        motion, (k, xi, slower, u) = self._motion, self._last
        end = motion.displacement(world, k + 1)
        about, middle = self._about[k], 0.5 * (xi + end)
        left = about.left_over(middle, end - xi, v - slower, u - motion.arrays["inputs"][k])
        gaps = self._splits[k].normals @ (middle - motion.arrays["carried"][k] @ self._away(world))
        is_open = bool((gaps > self._config.open_gap).all())
        self._pressed = self.estimate.add(about, middle, left, is_open=is_open)

    def _open(self, k: int) -> Array:
        """Velocity with which each contact shall close [m/s]."""
        is_open = self._pressed < _PRESSED * self._planned[k]
        return np.where(is_open, self._config.approach, 0.0)

    def _away(self, world: ControlledWorld) -> Array:
        """How far the object is from its planned place [m], shape (3,)."""
        if not self._object:
            return np.zeros(3)
        frame = f"{self._object}.{world.body(self._object).description.frames[0]}"
        found: Array = world.frame(frame).position - self._motion.arrays["place"]
        return found

    def _share(self, k: int) -> float:
        """How much of its way the motion has moved at an instant."""
        part = min(float(self._motion.arrays["time"][k]) / self._config.arrival, 1.0)
        return part * part * (3.0 - 2.0 * part)

    def _reference(self, k: int, away: Array) -> Array:
        """r + o at an instant."""
        whole = self._motion.arrays["carried"][k] @ away
        split = self._splits[min(k, len(self._splits) - 1)]
        left = -whole - split.into @ np.minimum(split.normals @ -whole, 0.0)
        found: Array = whole + (1.0 - self._share(k)) * left
        return found

    def internal_state(self) -> InternalState:
        kept = {
            "known": self.estimate.known.copy(),
            "told": self.estimate.told.copy(),
            "pressed": self._pressed.copy(),
        }
        if self._last is None:
            return kept
        k, xi, v, u = self._last
        return kept | {"interval": np.array(k), "xi": xi.copy(), "v": v.copy(), "u": u.copy()}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._begin()
        if not internal_state:
            return
        held = {name: np.array(each) for name, each in internal_state.items()}
        self.estimate.known, self.estimate.told = held["known"], held["told"]
        self._pressed = held["pressed"]
        if "interval" in held:
            self._last = (int(held["interval"]), held["xi"], held["v"], held["u"])


@final
class _Split:
    """What moves along the normals of contacts and what does not, by (2)."""

    def __init__(self, about: IntervalBalance) -> None:
        self.normals = normals = about.normals
        moved = normals @ about.mobility
        self.into: Array = moved.T @ np.linalg.pinv(moved @ normals.T, rcond=1e-9)
        """W·Nᵀ·(N·W·Nᵀ)⁺."""
        self.tangent: Array = np.eye(normals.shape[1]) - self.into @ normals
        self.by_force: Array = np.asarray(np.linalg.pinv(about.drive), dtype=np.float64)
        pressing = self.by_force @ normals.T
        response = np.linalg.pinv(moved @ about.drive @ pressing, rcond=1e-9)
        self.free: Array = np.eye(about.drive.shape[1]) - pressing @ response @ moved @ about.drive
        self.approach: Array = pressing @ response / about.length
