"""Spheres on half-spaces, and sweeps that solve for the impulses."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen

from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.contact import ImpulseSolver
from corekit.roles.detector import ContactDetector


@frozen(kw_only=True)
class NoOptions:
    pass


class Floor(ContactDetector):
    def __init__(self, config, context=None):
        self._table: Any = None
        self._pairs: Any = None

    @property
    def supported_pairs(self):
        return frozenset({("sphere", "half-space"), ("sphere", "sphere")})

    def prepare(self, table, served):
        self._table = table
        self._pairs = table.pairs(frozenset({("sphere", "half-space")}))

    def find_candidates(self, poses, margin, out):
        out.reserve(len(self._pairs))
        out.pairs[: len(self._pairs)] = self._pairs
        out.count = len(self._pairs)

    def compute_contacts(self, candidates, poses, margin, out):
        for i, j in candidates.pairs[: candidates.count]:
            normal, radius = poses.rotation[j][:, 2], self._table.size[i, 0]
            gap = normal @ (poses.position[i] - poses.position[j]) - radius
            if gap >= margin:
                continue
            k = out.count
            out.reserve(k + 1)
            out.id[k], out.shape[k], out.gap[k] = 1000 * i + j, (i, j), gap
            out.normal[k], out.point[k] = normal, poses.position[i] - radius * normal
            out.frame[k], out.weight[k], out.local_point[k] = -1, 0.0, 0.0
            out.frame[k, 0], out.weight[k, 0] = self._table.frame[i], 1.0
            out.local_point[k, 0] = poses.frame_rotation[self._table.frame[i]].T @ (-radius * normal)
            out.count = k + 1


class Sweeps(ImpulseSolver):
    """Contact by contact: normal impulses, then friction on the disk."""

    def __init__(self, config, context=None):
        pass

    def solve(self, problem, impulse):
        matrix, width = problem.delassus(), problem.rows_per_contact
        diagonal, sweeps = np.diag(matrix), 0
        for _ in range(20):
            sweeps += 1
            before = impulse.copy()
            for c in range(problem.contact_count):
                n, t = width * c, slice(width * c + 1, width * (c + 1))
                rate = matrix[n] @ impulse + problem.free_velocity[n]
                impulse[n] = max(0.0, impulse[n] - rate / matrix[n, n])
                rate = matrix[t] @ impulse + problem.free_velocity[t]
                trial = impulse[t] - rate / diagonal[t]
                size, most = np.linalg.norm(trial), problem.friction[c] * impulse[n]
                impulse[t] = trial if size <= most else trial * (most / size)
            if np.array_equal(before, impulse):
                break
        rate = matrix @ impulse + problem.free_velocity
        normal = float(np.max(np.abs(np.minimum(impulse, rate)[::width]), initial=0.0))
        status = Status.CONVERGED if normal < 1e-9 else Status.ITERATION_LIMIT
        return SolveInfo(status, sweeps, Residuals(normal=normal), "tiny sweeps")
