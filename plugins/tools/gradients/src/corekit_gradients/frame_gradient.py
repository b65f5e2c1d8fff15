"""A misfit of a body's frames at given instants, and its derivative by numbers of the scenario.

Between the ends x_k of grid steps a frame is on the straight line between its places P(x_k) = (origin, axes), so that

    ψ = Σ_k C_k·P(x_k),     C_k = Σ_j share_jk·∂misfit/∂P_j,     share: of x_k in what is at instant t_j             (1)

with C_k held has the derivative of the misfit. By displacements it is one of central differences of ψ alone, which ask
no ability of the model: two evaluations of its poses per velocity, and one sweep for all instants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.derivatives import StateCovector
from corekit.simulation.loop import Simulation
from corekit_gradients.run_gradient import RecordedRun

__all__ = ["find_frame_gradient"]

_STEP: Final = 2.0**-17

Misfit = Callable[[Array, Array], tuple[float, Array, Array]]


def find_frame_gradient(
    simulation: Simulation, body: int, times: Array, paths: Sequence[str], misfit: Misfit
) -> tuple[float, list[float]]:
    """Run until the last instant; the misfit and its derivative by what is at each path, all of a list at once.

    Args:
        simulation: at its start.
        body: index of the body whose frames are looked at.
        times: instants, increasing [s], shape (T,).
        paths: of numbers in the scenario.
        misfit: positions (T, frames, 3) [m] and rotations (T, frames, 3, 3) → value, and its derivatives by both.
    Raises:
        GradientError, StepFailed: as of `find_gradient`.
    """
    steps = max(int(np.ceil((times[-1] - simulation.time) / simulation.step_length - 1e-9)), 1)
    run = RecordedRun(simulation, steps, paths)
    ends = np.array([state.time for state in run.states])
    after = np.clip(np.searchsorted(ends, times), 1, len(ends) - 1)
    share = np.clip((times - ends[after - 1]) / (ends[after] - ends[after - 1]), 0.0, 1.0)
    places = np.array([_places(simulation, body, state) for state in run.states])
    seen = places[after - 1] + share[:, None, None, None] * (places[after] - places[after - 1])
    value, by_position, by_rotation = misfit(seen[..., 3], seen[..., :3])
    slopes = np.concatenate([by_rotation, by_position[..., None]], axis=3)
    weights = np.zeros_like(places)
    np.add.at(weights, after, share[:, None, None, None] * slopes)
    np.add.at(weights, after - 1, (1.0 - share)[:, None, None, None] * slopes)
    where, nv = simulation.system.slices[body], simulation.system.nv

    def term(k: int) -> StateCovector | None:
        if not weights[k].any():
            return None
        state, moved = run.states[k], run.states[k].copy()
        move, out = np.zeros(nv), np.zeros(nv)
        for j in range(where.start, where.stop):
            for side in (_STEP, -_STEP):
                move[j] = side
                run.derivatives.displace(state, move, moved)
                out[j] += float(np.vdot(weights[k], _places(simulation, body, moved))) / (2.0 * side)
            move[j] = 0.0
        return StateCovector(out, np.zeros(nv))

    def held(world: Simulation) -> float:
        return sum(
            float(np.vdot(own, _places(world, body, state)))
            for own, state in zip(weights, run.states, strict=True)
            if own.any()
        )

    found = run.pull(term, held).parameters
    by_path = [
        sum(slope for name, slope in found.items() if name == path or name.startswith(f"{path}["))
        for path in paths
    ]
    return value, by_path


def _places(simulation: Simulation, body: int, state: State) -> Array:
    """Rotation and position of every frame, shape (frames, 3, 4)."""
    own = simulation.bodies[body]
    count = len(own.description.frames)
    position, rotation = np.zeros((count, 3)), np.zeros((count, 3, 3))
    own.model.compute_frame_poses(state.body_states[body], position, rotation)
    return np.concatenate([rotation, position[:, :, None]], axis=2)
