"""Ability `compiled-form`: a component by tables and C entries, for a driver that steps worlds without Python.

The driver (`corekit-batch`) holds the state of every world and calls the entries of each component by their addresses.
It computes what the kernel's ordinary step computes, by the same kernels, to the bit. A component gives

| part | what it is |
|---|---|
| `CompiledForm.numbers` | real numbers, which may differ from world to world |
| `CompiledForm.index` | integers, sizes and structure, which all worlds share |
| `CompiledForm.scratch` | how many real numbers of work space the entries need; a thread has its own, zero at first |
| `CompiledForm.entries` | addresses of its entries by the names below, from `entries_of` |

Every entry begins with `index`, `numbers` and the work space. What arrays have for shapes follows from the description.

    dynamics     q, v, aux, inputs → mass (structure of M's data), force (nv,)
    tangent      q, v, aux, inputs → stiffness, damping, with the whole K and D; `dynamics` came before, at this state
    dissipation  q, v, aux, inputs → damping, D₀ of the ability `dissipation`
    integrate    q, aux, v̄, h → out_q, out_aux
    reparametrise  q, v, aux, all of which it may change; returns whether it did. Absent where the model never does
    poses        q, v, aux → position (frames, 3), rotation (frames, 3, 3)
    rows         q, v, aux, count, frame (c,), local (c, 3) → dofs (c, k), values (c, 3, k); after `dynamics`
    constraints  q, v, aux, inputs → dofs (nb, k), values (nb, k), position_error, target_rate, compliance, lower,
                 upper, (nb,) each, as of `ConstraintRows`; what stays as `new_constraints` made it need not be written

Entries of a detector that serves every pair of a world of fixed size:

    candidates   position (n, 3), rotation (n, 3, 3), end (n, 3) of all shapes as of `ShapePoses`, margin → pairs
                 (capacity, 2); returns how many
    contacts     pairs, count, position, rotation, end, frame_position, frame_rotation, margin, capacity → id, shape,
                 gap, point, normal, frame, local_point, weight as of `ContactSet`; returns how many, or how many there
                 would be where they are more than the capacity, with nothing written

and of a solver of impulses, for contacts alone:

    solve        contacts m, W (R, R), w₀ (R,), μ (m,), λ of the last step (R,), λ (R,) with the guess → λ, and
                 residuals (3,) as of `Residuals`; returns whether it is solved

What a solver leaves unsolved there, its `solve` must solve from the same guess. One that derives from
`UnreducedStepSolver` has another entry in its place, for worlds of one body with constraints:

    unreduced    sizes (10,), A (n, columns) by its lower band, A[j + d, j] at [j, d], b (n,), J_b by dofs and values
                 (nb, k), E, r, lower, upper (nb,), J_c by dofs and values (m·width, k_c), bias (m, width), μ (m,), λ
                 of the last step (m·width,), memory (m,) → memory, Δ (n,), λ_b (nb,) and λ_c (m·width,) with their
                 guesses, and residuals (4,), with that of the equation; returns 0 if it is unsolved, 1 if it is
                 solved, and 2 if memory was written, too

with the sizes n, columns, nb, k, m, width, k_c, whether any contact of the world has friction, and the largest m and
k_c for which there is work space. `memory` is a number a contact that the solver carries from step to step, zero for
contacts that it does not know: `CompiledForm.carried` names ids and numbers in its internal state. And a solver of
quadratic programs has

    program      sizes (4,): n, columns, rows, width; H (n, columns) by its lower band, then as of `QPProblem`:
                 gradient, dofs, values, lower, upper, compliance, multiplier_lower, multiplier_upper, tolerance → x,
                 multiplier with its guess, and residuals (2,), of rows and of the equation; returns whether it
                 converged

A step calls `poses` first, at its start, and no entry at another state before `rows`: what one leaves in the work space
the next may use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from attrs import field, frozen

from corekit.compiled.entries import array_at, entry_address
from corekit.data.arrays import Array, IntArray

__all__ = [
    "DETECTOR_ENTRIES",
    "MODEL_ENTRIES",
    "PROGRAM_ENTRIES",
    "SOLVER_ENTRIES",
    "CompiledForm",
    "CompiledFormAbility",
    "ProgramSizes",
    "SingleSolveAbility",
    "StepSizes",
    "add_displacement",
    "entries_of",
]

_STATE: Final = "integers floats floats floats floats floats"
"""Index, numbers, work space, q, v, aux."""

MODEL_ENTRIES: Final[Mapping[str, str]] = {
    "dynamics": f"{_STATE} floats floats floats",
    "tangent": f"{_STATE} floats floats floats",
    "dissipation": f"{_STATE} floats floats",
    "integrate": "integers floats floats floats floats floats float floats floats",
    "reparametrise": _STATE,
    "poses": f"{_STATE} floats floats",
    "rows": f"{_STATE} integer integers floats integers floats",
    "constraints": f"{_STATE} floats integers floats floats floats floats floats floats",
}
"""Entry of a model → kinds of its arguments, see `corekit.compiled.entries`."""


DETECTOR_ENTRIES: Final[Mapping[str, str]] = {
    "candidates": "integers floats floats floats floats floats float integers",
    "contacts": (
        "integers floats floats integers integer floats floats floats floats floats float integer integers integers "
        "floats floats floats integers floats floats"
    ),
}
"""Entry of a contact detector → kinds of its arguments."""

SOLVER_ENTRIES: Final[Mapping[str, str]] = {
    "solve": "integers floats floats integer floats floats floats floats floats floats",
    "unreduced": (
        "integers floats floats integers floats floats integers floats floats floats floats floats integers floats "
        "floats floats floats floats floats floats floats floats"
    ),
}
"""Entry of a contact solver → kinds of its arguments."""

PROGRAM_ENTRIES: Final[Mapping[str, str]] = {
    "program": (
        "integers floats floats integers floats floats integers floats floats floats floats floats floats float floats "
        "floats floats"
    )
}
"""Entry of a solver of quadratic programs → kinds of its arguments."""


class StepSizes(NamedTuple):
    """The largest sizes of a step that a solver's entry `unreduced` is to solve, as its first argument has them."""

    velocities: int
    columns: int
    rows: int
    row_width: int
    contacts: int
    rows_per_contact: int
    contact_width: int


class ProgramSizes(NamedTuple):
    """The largest sizes of a program, as the first argument of the entry `program` has them."""

    variables: int
    columns: int
    rows: int
    width: int


def _no_integers() -> IntArray:
    return np.zeros(0, dtype=np.int64)


@frozen(eq=False, kw_only=True)
class CompiledForm:
    """A component by tables and entries.

    Args:
        entries, numbers, index, scratch: see above.
        scratch_for: work space by `StepSizes` or `ProgramSizes`, of entries for which that counts, not `scratch`.
        carried: names of ids and of `memory` in the internal state of a solver that carries any, else empty.
    """

    entries: Mapping[str, int]
    numbers: Array = field(factory=lambda: np.zeros(0))
    index: IntArray = field(factory=_no_integers)
    scratch: int = 0
    scratch_for: Callable[[Any], int] | None = None
    carried: tuple[str, ...] = ()


class CompiledFormAbility(Protocol):
    """Ability `compiled-form`."""

    def compiled_form(self) -> CompiledForm | str:
        """Return the form of this component, or in words what its options ask for that has none: “a moving base”."""


class SingleSolveAbility(Protocol):
    """Ability `single-solve` of an integrator: every step is one solve of the step equation, expanded at its start.

    Then q⁺ = integrate(q₀, v⁺, h). Only where A is not positive definite does it do more.
    """

    def single_solve(self) -> tuple[float, bool]:
        """Return β and whether D counts, as of `ThetaStep.linearise_at_start`."""


def entries_of(signatures: Mapping[str, str], **functions: Callable[..., int]) -> Mapping[str, int]:
    """Compile functions to entries of these signatures; return their addresses by name.

    Raises:
        KeyError: a role has no such entry.
    """
    return {name: entry_address(function, signatures[name]) for name, function in functions.items()}


def add_displacement(
    index: Any, _numbers: Any, _work: Any, q: Any, aux: Any, velocity: Any, step: float, out_q: Any, out_aux: Any
) -> int:  # fmt: skip
    """Entry `integrate` where coordinates are those of a vector space: q + h·v̄, and aux as it is.

    Its index begins with nv and the length of aux.
    """
    sizes = array_at(index, (2,))
    n, others = sizes[0], sizes[1]
    start, speed, out = array_at(q, (n,)), array_at(velocity, (n,)), array_at(out_q, (n,))
    for i in range(n):
        out[i] = start[i] + step * speed[i]
    before, after = array_at(aux, (others,)), array_at(out_aux, (others,))
    for i in range(others):
        after[i] = before[i]
    return 0
