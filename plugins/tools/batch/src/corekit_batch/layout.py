"""From a simulation to the driver's tables, or to the sentence that says why the driver does not step it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from attrs import field, frozen
from numba.extending import get_cython_function_address
from scipy.linalg import cython_lapack

from corekit.data.arrays import Array
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.world.world_system import WorldSystem
from corekit.linalg.cholesky import NARROW
from corekit.linalg.constraint_rows import ConstraintRows
from corekit.linalg.factorisation import BandFactorisation, BlockFactorisation
from corekit.linalg.matrices import Banded, BlockDiagonal, Dense, Diagonal
from corekit.roles.compiled_form import CompiledForm
from corekit.roles.model import Model
from corekit.simulation.loop import Simulation
from corekit_batch.abilities import abilities_of
from corekit_batch.contact_tables import Surroundings
from corekit_batch.refusal import NotCompiled
from corekit_batch.surroundings import is_unreduced, reasons_of_contact, surroundings_of
from corekit_batch.tables import (
    BODY_FIELDS,
    BY_BAND,
    BY_BLOCKS,
    BY_CHOLESKY,
    BY_LU,
    ENTRY_NAMES,
    MATRICES,
    Bodies,
    Work,
)

__all__ = ["Layout", "form_numbers", "lay_out"]

_CONSTANT: Final = ("dofs", "values", "compliance", "lower", "upper", "target_rate", "position_error")
"""Of the rows of constraints, what a model may have written once."""
_NO_ROWS: Final = np.zeros(0, dtype=np.bool_)
_LAPACK: Final = ("dgetrf", "dgetrs", "dpotrf", "dpotrs")


@frozen(eq=False)
class Layout:
    """The tables of a world.

    Attributes:
        bodies, around: what the driver reads. forms: of the bodies, whose numbers another world may have others of.
        sizes: (nq, nv, na, nu) of the world. rows: of the bodies that have constraints, as their models made them.
    """

    bodies: Bodies
    around: Surroundings
    forms: tuple[CompiledForm, ...]
    sizes: tuple[int, int, int, int]
    rows: tuple[ConstraintRows, ...] = field(factory=tuple)

    @property
    def numbers(self) -> Array:
        """Numbers of the forms, one behind the other."""
        return np.concatenate([np.zeros(0), *(form.numbers for form in self.forms)])

    def new_work(self) -> Work:
        """Allocate the buffers of a thread."""
        nq, nv, na, nu = self.sizes
        row = self.bodies.row
        k = int(row[:, BODY_FIELDS.index("block")].max())
        matrices = MATRICES * int(row[:, BODY_FIELDS.index("stride")].sum())
        count = sum(each.count for each in self.rows)
        return Work(
            scratch=np.zeros(sum(form.scratch for form in self.forms)),
            matrix=np.zeros(matrices),
            force=np.zeros(nv), rhs=np.zeros(nv), velocity=np.zeros(nv), zero=np.zeros(nv),
            inputs=np.zeros(nu), q=np.zeros(nq), aux=np.zeros(na),
            pivot=np.zeros(nv, dtype=np.int32), size=np.zeros(3, dtype=np.int32),
            letters=np.frombuffer(b"LN", dtype=np.uint8).copy(),
            rest=np.zeros(k * k), turned=np.zeros(k * (k + 1)), band=np.zeros(nv + 2 * NARROW),
            row_dofs=self._joined("dofs").astype(np.int64), row_values=self._joined("values"),
            row_error=self._joined("position_error"), row_rate=self._joined("target_rate"),
            row_alpha=self._joined("compliance"), row_lower=self._joined("lower"), row_upper=self._joined("upper"),
            row_target=np.zeros(count), row_compliance=np.zeros(count), least=np.zeros(count), most=np.zeros(count),
            row_impulse=np.zeros(count),
        )  # fmt: skip

    def _joined(self, name: str) -> Array:
        """One array of the constraints of all bodies, flat."""
        return np.concatenate([np.zeros(0), *(getattr(each, name).ravel() for each in self.rows)])


def lay_out(simulation: Simulation) -> Layout:
    """Return the tables of a simulation's world.

    Raises:
        NotCompiled: the driver does not step such a world.
    """
    reason = next(_reasons(simulation), "")
    if reason:
        raise NotCompiled(reason)
    system = simulation.system
    assert isinstance(system, WorldSystem)  # or there was a reason
    beta, is_damped = simulation.integrator.single_solve()  # pyrefly: ignore[missing-attribute]
    terms, forms, rows, entries = system.terms.bodies, [], [], []
    names = (
        "q",
        "v",
        "aux",
        "u",
        "frame",
        "number",
        "index",
        "scratch",
        "matrix",
        "held",
        "row",
        "row_entry",
    )
    at = dict.fromkeys(names, 0)
    for each in terms:
        form = _form_of(each)
        nq, nv, na = each.body.sizes
        nu, frames = each.body.description.input_size, len(each.body.description.frames)
        k, columns = _columns(each)
        stride = nv * k if columns[2] == 0 else max((nv + 2 * NARROW) * (NARROW + 1), nv * max(columns))
        nb, width = (0, 0) if each.rows is None else each.rows.dofs.shape
        derivatives, held = each.stiffness is not None, each.body.abilities.dissipation is not None
        rows.append(
            [
                at["q"], nq, at["v"], nv, at["aux"], na, at["u"], nu, at["frame"], frames, at["number"],
                len(form.numbers), at["index"], at["scratch"], k, at["matrix"], derivatives, held,
                each.is_symmetric, _method(each), each.body.description.jacobian_width, stride, *columns,
                at["held"], len(each.prescribed), at["row"], nb, width, at["row_entry"],
            ]
        )  # fmt: skip
        entries.append([form.entries.get(name, 0) for name in ENTRY_NAMES])
        forms.append(form)
        grown = (
            nq, nv, na, nu, frames, len(form.numbers), len(form.index), form.scratch, MATRICES * stride,
            len(each.prescribed), nb, nb * width,
        )  # fmt: skip
        for name, size in zip(at, grown, strict=True):
            at[name] += size
    constrained = [_new_rows(each) for each in terms if each.rows is not None]
    bodies = Bodies(
        row=np.array(rows, dtype=np.int64),
        entry=np.array(entries, dtype=np.int64),
        index=np.concatenate([form.index for form in forms]),
        lapack=np.array([get_cython_function_address(cython_lapack.__name__, name) for name in _LAPACK]),
        is_rate=np.concatenate([_NO_ROWS, *(rows.is_velocity_level for rows in constrained)]),
        is_bounded=np.concatenate([_NO_ROWS, *(rows.bounded for rows in constrained)]),
        kept=np.flatnonzero(np.concatenate([_NO_ROWS, *(~rows.bounded for rows in constrained)])),
        held=np.concatenate([each.prescribed for each in terms]).astype(np.int64),
        held_q=np.concatenate([each.motion.coordinates for each in terms]).astype(np.int64),
        place=np.concatenate([_held_place(each) for each in terms]),
        all_blocks=all(isinstance(each.factor, BlockFactorisation) for each in terms),
        beta=float(beta),
        is_damped=bool(is_damped),
    )
    around = surroundings_of(simulation, system)
    return Layout(bodies, around, tuple(forms), (at["q"], at["v"], at["aux"], at["u"]), tuple(constrained))


def form_numbers(layout: Layout, models: Sequence[Model]) -> Array | None:
    """Numbers of a world whose bodies are other models of the same structure.

    None where one differs in more than numbers.
    """
    numbers, places, rows = [np.zeros(0)], [np.zeros(0)], iter(layout.rows)
    for model, known in zip(models, layout.forms, strict=True):
        form: CompiledForm | str = model.compiled_form()  # pyrefly: ignore[missing-attribute]
        if isinstance(form, str) or not np.array_equal(form.index, known.index):
            return None
        if known.entries.get("constraints") and model.description.constraint_count:
            made, own = model.new_constraints(), next(rows)  # pyrefly: ignore[missing-attribute]
            if not all(np.array_equal(getattr(made, name), getattr(own, name)) for name in _CONSTANT):
                return None
        numbers.append(form.numbers)
        held = len(model.description.prescribed_velocity_index)
        place, rate = np.zeros((2, held))
        if held:
            model.compute_prescribed_motion(0.0, place, rate)  # pyrefly: ignore[missing-attribute]
        places.append(place)
    # clamps stand where the worlds were laid out
    return np.concatenate(numbers) if np.array_equal(np.concatenate(places), layout.bodies.place) else None


def _form_of(terms: BodyTerms) -> CompiledForm:
    own = terms.body.abilities.compiled_form
    assert own is not None
    form = own.compiled_form()
    if isinstance(form, str):
        raise NotCompiled(f"body {terms.body.name!r} has {form}")
    if terms.rows is not None and not form.entries.get("constraints"):
        raise NotCompiled(f"body {terms.body.name!r} has a compiled form without its constraints")
    if not all(form.entries.values()):
        raise NotCompiled("nothing is compiled in this process (NUMBA_DISABLE_JIT)")
    return form


def _columns(terms: BodyTerms) -> tuple[int, tuple[int, int, int]]:
    """Size of the blocks of a body's matrices, 1 of bands; and columns of the bands of D, K and A, 0 of blocks."""
    if not (isinstance(terms.factor, BandFactorisation) or _is_constrained_band(terms)):
        return (terms.body.nv if isinstance(terms.matrix, Dense) else terms.mass.data.shape[-1]), (0, 0, 0)
    damping, stiffness, matrix = (
        1 if each is None or isinstance(each, Diagonal) else len(each.data)
        for each in (terms.damping, terms.stiffness, terms.matrix)
    )
    return 1, (damping, stiffness, matrix)


def _is_constrained_band(terms: BodyTerms) -> bool:
    """Whether a body has constraints and a band for its matrix."""
    return terms.rows is not None and isinstance(terms.matrix, (Diagonal, Banded))


def _new_rows(terms: BodyTerms) -> ConstraintRows:
    """Rows of a body's constraints as its model makes them."""
    assert terms.body.abilities.constraints is not None
    return terms.body.abilities.constraints.new_constraints()


def _held_place(terms: BodyTerms) -> Array:
    """Where coordinates stay that do not move."""
    place, rate = np.zeros((2, len(terms.prescribed)))
    if terms.body.abilities.prescribed is not None and len(place):
        terms.body.abilities.prescribed.compute_prescribed_motion(0.0, place, rate)
    return place


def _method(terms: BodyTerms) -> int:
    if isinstance(terms.factor, BlockFactorisation) or isinstance(terms.matrix, BlockDiagonal):
        return BY_BLOCKS
    if isinstance(terms.factor, BandFactorisation) or _is_constrained_band(terms):
        return BY_BAND
    return BY_CHOLESKY if terms.is_symmetric else BY_LU


def _reasons(simulation: Simulation) -> Iterator[str]:
    """Yield why the driver does not step a world, a sentence each."""
    system = simulation.system
    name = simulation.component_name(simulation.integrator)
    if "single-solve" not in abilities_of("integrators", name):
        yield f"the integrator {name!r} makes more than one solve a step"
    if any(name.startswith("sampling/") for name in simulation.internal_state()):
        yield "controllers read the world between steps"
    if not isinstance(system, WorldSystem):
        yield "another engine steps it"
        return
    for terms in system.terms.bodies:
        yield from _reasons_of_body(terms, unreduced=is_unreduced(system))
    if system.terms.joints is not None:
        yield "joints hold bodies to each other"
    yield from reasons_of_contact(simulation, system)


def _reasons_of_body(terms: BodyTerms, *, unreduced: bool) -> Iterator[str]:
    who, model = f"body {terms.body.name!r}", terms.body.model
    if terms.body.abilities.compiled_form is None:
        yield f"{who}: the model {type(model).__name__} has no compiled form"
    if terms.constraints is not None:
        if not unreduced:
            yield f"{who} has constraints, which the driver leaves to solvers of unreduced steps of one body alone"
        if not terms.constraints.is_steady:
            yield f"{who} has constraints whose rates change with time, or that others imply"
    by_lapack = isinstance(terms.matrix, Dense) and not isinstance(terms.factor, BlockFactorisation)
    if len(terms.prescribed) and (terms.body.description.prescribed_signals or by_lapack):
        yield f"{who} has prescribed motion"
    is_banded = isinstance(terms.factor, BandFactorisation) or _is_constrained_band(terms)
    is_banded = is_banded and isinstance(terms.mass, Diagonal)
    if not (isinstance(terms.matrix, (Dense, BlockDiagonal)) or is_banded):
        yield f"{who} has a step matrix that is neither dense nor block diagonal nor a narrow band"
