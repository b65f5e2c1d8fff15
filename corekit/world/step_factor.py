"""A of all bodies factorised, and the step's velocity without and with impulses.

    v_f = G·(b + extra),     W = J·G·Jᵀ,     v⁺ = v_f + G·Jᵀ·λ                                 (1)

A is block diagonal over bodies. A contact potential adds low-rank terms that may couple them: they go into one
matrix of all bodies (`ContactMatrix`), or beside eliminated rows into a low-rank correction. Where every body's
matrix is diagonal or small and dense, W comes from half of G·Jᵀ (`halving`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo
from corekit.linalg.constraint_rows import EliminatedConstraints
from corekit.linalg.delassus_assembly import DelassusAssembly
from corekit.linalg.matrices import Matrix
from corekit.linalg.square_root import SquareRootFactorisation
from corekit.world.body_system import BodySystem
from corekit.world.contact_forces import ContactForces
from corekit.world.contact_matrix import ContactMatrix
from corekit.world.impulses import Impulses

__all__ = ["StepFactor"]


@final
class StepFactor:
    """Factorises the bodies' matrices as they stand, with a potential's terms.

    Args:
        parts, slices: bodies, and where their velocities stand.
        forces: of a contact potential, or None.
        impulses: contacts and bounded rows.

    Attributes:
        ready: whether the last factorisation succeeded.
        number: counts factorisations. plain: whether the last one is of the bodies' own matrices alone.
        halves: of the bodies' factorisations where all have them and no potential acts, or None.
    """

    __slots__ = (
        "_alone", "_forces", "_impulses", "_joined", "_joint", "_one", "_parts", "_slices", "halves", "number", "plain",
        "ready",
    )  # fmt: skip

    def __init__(
        self,
        parts: Sequence[BodySystem],
        slices: Sequence[slice],
        forces: ContactForces | None,
        impulses: Impulses,
    ) -> None:
        self._parts, self._slices = tuple(parts), tuple(slices)
        self._forces, self._impulses = forces, impulses
        self._one = self._parts[0] if len(self._parts) == 1 else None
        # of a body without others and without a potential: how, what, with which rows
        self._alone: tuple[Callable[..., bool], Matrix, EliminatedConstraints | None] | None = None
        if self._one is not None and forces is None:
            self._alone = self._one.factor.refactor, self._one.matrix, self._one.eliminated
        # contact terms go into one matrix of all bodies, unless rows are eliminated from each body's own
        self._joint: ContactMatrix | None = None
        if forces is not None and not impulses.has_rows:
            self._joint = ContactMatrix(self._parts, self._slices, forces)
        self._joined = False
        self.ready = self.plain = True
        self.number = 0
        halving = [
            (part.factor, part.right, part.fixed, part.matrix)
            for part in self._parts
            if isinstance(part.factor, SquareRootFactorisation)
        ]
        self.halves = (
            DelassusAssembly(halving) if forces is None and len(halving) == len(self._parts) else None
        )

    def forget(self) -> None:
        """Have no analysis of contacts that were, so that what comes is the same as after a fresh start."""
        if self._joint is not None:
            self._joint.forget()

    def factorise(self, coefficients: tuple[float, float]) -> bool:
        """Factorise, with a potential's damping and stiffness times these; False if that failed."""
        self.number += 1
        if self._alone is not None:
            refactor, matrix, rows = self._alone
            self.ready = refactor(matrix, rows)
            return self.ready
        if self._forces is None:
            self.ready = True
            for part in self._parts:
                if not part.factor.refactor(part.matrix, part.eliminated):
                    self.ready = False
            return self.ready
        self.plain = not self._forces.count
        self._joined = self._joint is not None and self._forces.count > 0
        damping, stiffness = coefficients
        if damping == 0.0 and stiffness == 0.0:
            self._joined = False
        if self._joined and self._joint is not None:
            self.ready = self._joint.refactor(damping, stiffness)
            return self.ready
        self.ready = True
        for part in self._parts:
            if not part.factor.refactor(part.matrix, part.eliminated):
                self.ready = False
        if self.ready:
            self.ready = self._forces.factorise(self.columns, damping, stiffness)
        return self.ready

    def columns(self, block: Array) -> None:
        """Overwrite `block` (nv, R) by (block diagonal G)·block."""
        if self._one is not None:
            self._one.columns(block)
            return
        for part, where in zip(self._parts, self._slices, strict=True):
            piece = np.array(block[where], order="F")
            part.columns(piece)
            block[where] = piece

    def _unjoined(self, extra: Array | None, x: Array) -> None:
        """v_f without the potential's terms in A."""
        if self._one is not None:
            self._one.solve(extra, x)
            return
        for part, where in zip(self._parts, self._slices, strict=True):
            part.solve(None if extra is None else extra[where], x[where])

    def free(self, extra: Array | None, x: Array) -> None:
        """Write v_f, with `extra` (nv,) added to b or not."""
        if self._forces is None and self._one is not None:
            self._one.solve(extra, x)
            return
        if self._joined and self._joint is not None:
            self._joint.solve(extra, x)
            return
        self._unjoined(extra, x)
        if self._forces is not None:
            if self._impulses.has_rows:
                # the rows' impulses answer the potential too
                share = self._forces.reply(x)
                self._unjoined(share if extra is None else extra + share, x)
            else:
                self._forces.correct(x)

    def correct(self, residual: Array, out: Array) -> None:
        """Write −A⁻¹·residual, both of shape (nv,); prescribed entries become 0."""
        if self._joined and self._joint is not None:
            np.negative(residual, out=out)
            self._joint.correct(out)
            return
        for part, where in zip(self._parts, self._slices, strict=True):
            part.factor.solve_negative(residual[where], out[where])
        if self._forces is not None:
            self._forces.correct(out[:, None])

    def push(self, extra: Array | None, velocity: Array) -> SolveInfo:
        """Solve for the impulses at v_f = `velocity` and write v⁺ there."""
        impulses = self._impulses
        transposed = impulses.stack(velocity)
        response = transposed.copy(order="F")
        self.columns(response)
        if self._forces is not None:
            self._forces.correct(response)
        info, impulse = impulses.solve(transposed, response)
        if impulses.has_rows:
            push = transposed @ impulse
            self.free(push if extra is None else push + extra, velocity)
        else:
            velocity += response @ impulse
        return info
