"""Elastic laws that users type: the strain energy W of a section per length, and by SymPy its stress and tangent.

With e = ξ − ξ* of a place X, in place of Hooke's W = ½·eᵀ·Σ·e,

    elastic energy Σ w·W(e, X),   f = −Σ w·B_qᵀ·∂W/∂e,   K = Σ w·(B_qᵀ·(∂²W/∂e²)·B_q + (∂W/∂e)·b_qq)         (1)

Stress stands in ACTIONS, where chambers have theirs; the last part of K, of dependent bases, is that of any stress in
`tangent`. Both derivatives are SymPy's, so the tangent is exact and symmetric.

ξ* is where a section is at rest: at e = 0 the stress has to vanish and the tangent must not be negative, in the strains
that the division's bases move. With e and ∂W/∂e in the units of coordinates (bending times L), stress there may be
1e-9 of the largest tangent: a rest state that rounding moved.

A formula may hold the six strains e, X, and the six diagonal entries of Hooke's Σ at X, by which a law goes with the
section and its material: `EIy*c**2*(sqrt(1 + (bend_y/c)**2) - 1)` is Hooke's for small curvatures and can bear the
moment EIy·c at most.

Source: Mathew et al., section 2.3, after Boyer, Renda (2017), "Poincaré's equations for Cosserat media: application to
shells", Journal of Nonlinear Science 27: any elastic potential of the rod may stand for Hooke's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn, final

import numpy as np
import sympy

from corekit.data.arrays import Array, IntArray
from corekit.errors import ConfigError, Mistake
from corekit_gvs.basis import MODES
from corekit_gvs.formula import evaluator, expression, formula_of, translated
from corekit_gvs.python_functions import function_of, is_function
from corekit_gvs.tree import Part

__all__ = ["ElasticLaw"]

STRAINS = tuple(mode.replace("-", "_") for mode in MODES)
RIGIDITIES = ("GJ", "EIy", "EIz", "EA", "GAy", "GAz")
_NAMES = (*STRAINS, "X", *RIGIDITIES)
_AT_REST = 1e-9


class _Derived(NamedTuple):
    """W as a formula, the rows of strains that it holds, and what gives W and its slopes by these, and the upper
    triangle of its second derivatives, of (strains, X, rigidities).
    """

    formula: Any
    held: list[int]
    first: Callable[..., Array]
    second: Callable[..., Array]


def _formula(entry: Any, path: str) -> Any:
    """W as typed, or as a Python function makes it of symbols: of (strains, X, rigidities), six, one and six."""
    if not callable(entry):
        return expression(entry, _NAMES, path)
    symbols = [sympy.Symbol(name, real=True) for name in _NAMES]
    return formula_of(entry, (tuple(symbols[:6]), symbols[6], tuple(symbols[7:])), _NAMES, path)


@lru_cache(maxsize=64)
def _derive(entry: Any, path: str) -> _Derived:
    formula = _formula(entry, path)
    symbols = [sympy.Symbol(name, real=True) for name in STRAINS]
    held = [r for r, symbol in enumerate(symbols) if symbol in formula.free_symbols]
    diff: Any = sympy.diff
    slopes = [diff(formula, symbols[r]) for r in held]
    bends = [diff(slope, symbols[c]) for i, slope in enumerate(slopes) for c in held[i:]]
    return _Derived(formula, held, evaluator([formula, *slopes], _NAMES), evaluator(bends, _NAMES))


@final
class ElasticLaw:
    """The elastic law of one division.

    Args:
        part: the division as built, with an energy.
        sections: rows of SECTIONS of its quadrature points, (p, 19).
        points: their indices among POINTS, (p,).
        places: where their b_q stand in BASES, (p,).
        first: velocity index of the division's first coordinate.
        rows: where their stresses stand in ACTIONS, (p,); renumbered when these are sorted.

    Raises:
        ConfigError: what is not a formula; a law that is not at rest at ξ*, or does not resist a strain of its bases.
    """

    def __init__(
        self, part: Part, sections: Array, points: IntArray, places: IntArray, first: int, rows: IntArray
    ) -> None:
        division = part.division
        self.division, self.path = part.path, f"{part.path}.strain_energy"
        self._entry = division.strain_energy
        # before `_derive` looks for what it keeps, so that every robot checks whether its name may be imported
        made = function_of(self._entry, self.path) if is_function(self._entry) else self._entry
        self._derived = _derive(made, self.path)
        held = self._derived.held
        self._upper = np.array([(r, c) for i, r in enumerate(held) for c in held[i:]]).reshape(-1, 2).T
        self.rows, self.where = rows, np.array(part.quadrature, dtype=np.int64)
        self._X, self._points, own = np.array(part.quadrature_place), points, division.size
        self._first, self._places = first, places[:, None] + np.arange(6 * own)
        self._weight, self._rigidity = sections[:, 0], sections[:, 1:7].T.copy()
        self._plain = sections[:, 13:19].copy()
        self._away, self._B = np.zeros((len(rows), 6)), np.zeros((len(rows), 6, own))
        self._check(sorted(MODES[mode] for basis in division.strain for mode in basis.modes), division.length)

    @property
    def holds_rigidity(self) -> bool:
        """Whether Young's modulus matters to it."""
        return any(symbol.name in RIGIDITIES for symbol in self._derived.formula.free_symbols)

    def _values(self, of: Callable[..., Array]) -> Array:
        return of(*self._away.T, self._X, *self._rigidity)

    def _stress(self) -> Array:
        """∂W/∂e, (p, 6), and W beside it; where W has no value it has no slope, whatever the formula of that says."""
        out = np.zeros((len(self._X), 6))
        self._energy, *slopes = self._values(self._derived.first)
        out[:, self._derived.held] = np.transpose(slopes)
        out[~np.isfinite(self._energy)] = np.nan
        return out

    def _tangent(self) -> Array:
        out = np.zeros((len(self._X), 6, 6))
        r, c = self._upper.astype(int)
        out[:, r, c] = out[:, c, r] = self._values(self._derived.second).T
        return out

    def _check(self, moved: list[int], length: float) -> None:
        """Look at e = 0, in the strains that move."""
        idle = [list(MODES)[r] for r in moved if r not in self._derived.held]
        if idle:
            self._refuse(f"must resist every strain of the division's bases, {', '.join(idle)} is not in it")
        stress, tangent = self._stress(), self._tangent()
        finite = np.isfinite(stress).all(1) & np.isfinite(tangent).all((1, 2))
        if not finite.all():
            where = self._X[~finite][0]
            self._refuse(f"has no finite value, stress or tangent at X = {where:.6g} in the reference strain")
        if not moved:  # a rigid division
            return
        scale = np.array([1.0 / length] * 3 + [1.0] * 3)[moved]
        stress, tangent = stress[:, moved] * scale, tangent[:, moved][:, :, moved] * np.outer(scale, scale)
        allowed = _AT_REST * np.abs(tangent).max(axis=(1, 2))
        if (pulls := np.abs(stress) > allowed[:, None]).any():
            i, r = np.argwhere(pulls)[0]
            mode, force = list(MODES)[moved[r]], stress[i, r] / scale[r]
            said = f"{mode} pulls with {force:.3g} at X = {self._X[i]:.3g}: state where it is at rest by `reference`"
            self._refuse(f"must be free of stress in the reference strain; {said}")
        if (unstable := np.linalg.eigvalsh(tangent)[:, 0] < -allowed).any():
            said = f"it falls from there at X = {self._X[unstable][0]:.3g}"
            self._refuse(f"must have its minimum in the reference strain, {said}")

    def _refuse(self, said: str) -> NoReturn:
        raise ConfigError([Mistake(self.path, self._entry, said)], "the elastic law")

    def update(self, q: Array, strains: Array, bases: Array, actions: Array) -> None:
        """Write the stresses at q, from STRAINS and b_q of BASES, into ACTIONS."""
        np.take(bases, self._places, out=self._B.reshape(self._places.shape))
        own = q[self._first : self._first + self._B.shape[2]]
        self._away[:] = strains[self._points, :6] + self._B @ own - self._plain
        actions[self.rows, :6] = self._stress()

    def energy(self) -> float:
        """Elastic energy of the division at the last update [J]."""
        return float(self._weight @ self._energy)

    def add_stiffness(self, out: Array) -> None:
        """Add Σ w·B_qᵀ·(∂²W/∂e²)·B_q at the last update."""
        own = slice(self._first, self._first + self._B.shape[2])
        bent = self._tangent() * self._weight[:, None, None]
        out[own, own] += (self._B.transpose(0, 2, 1) @ bent @ self._B).sum(axis=0)

    def energy_of(
        self, k: int, away: list[Any], rigidity: list[Any], functions: Mapping[str, Callable[..., Any]]
    ) -> Any:
        """W at the k-th quadrature point of the division in another library's expressions.

        Args:
            k: of the law's own points.
            away: six strains e.
            rigidity: six entries of Σ.
            functions: functions of formulas by their SymPy names.
        """
        made = translated([self._derived.formula], _NAMES, functions)
        return made(*away, float(self._X[k]), *rigidity)[0]
