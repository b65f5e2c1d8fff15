"""Contact problems in the HDF5 layout of FCLib, the collections of Siconos.

    local    w = W·r + q                                      groups `fclib_local/W`, `vectors/q`, `vectors/mu`
    global   M·v = H·r + f,  w = Hᵀ·v + w₀                    groups `fclib_global/M`, `H`, `vectors/f`, `w`, `mu`

so that W = Hᵀ·M⁻¹·H and q = Hᵀ·M⁻¹·f + w₀. Each contact has its normal first, then its tangents. A matrix is kept by
triplets (nz ≥ 0; `i` rows, `p` columns), by columns (nz = −1) or by rows (nz = −2).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.errors import ConfigError, Mistake
from corekit.files import check_regular
from corekit.roles.contact import StepProblem

__all__ = ["FileProblem", "read_problem"]

_MOST_ROWS = 6000
"""Rows of W that are still made dense: 288 MB."""


class FileProblem(StepProblem):
    """A `corekit.roles.contact.StepProblem` with a dense W and Coulomb's friction, without bounded rows."""

    def __init__(self, delassus: Array, free_velocity: Array, friction: Array, rows_per_contact: int) -> None:
        count = len(friction)
        self._delassus, self.free_velocity, self.friction = delassus, free_velocity, friction
        self.contact_count, self.bounded_count, self.rows_per_contact = count, 0, rows_per_contact
        self.id: IntArray = np.arange(count)
        self.friction_record, self.gap = np.zeros((count, 0)), np.zeros(count)
        self.lower, self.upper = np.zeros((2, 0))
        self.start_impulse = np.zeros(count * rows_per_contact)
        self.step = 1.0

    def delassus(self) -> Array:
        """W."""
        return self._delassus


def _numbers(group: Any, name: str) -> Any:
    """A data set of a group; KeyError where it is missing or its numbers lie in another file."""
    data = group[name]
    if data.external or data.is_virtual:
        raise ValueError(f"{data.name} keeps its numbers in another file, which is not followed")
    return np.asarray(data[()])


def _matrix(group: Any) -> Any:
    """A sparse matrix."""
    from scipy.sparse import coo_array, csc_array, csr_array

    rows, columns, kind = (int(_numbers(group, name).reshape(-1)[0]) for name in ("m", "n", "nz"))
    i, p, x = (_numbers(group, name) for name in ("i", "p", "x"))
    x = x.astype(float)
    if kind == -1:
        return csc_array((x[: p[-1]], i[: p[-1]], p), shape=(rows, columns))
    if kind == -2:
        return csr_array((x[: p[-1]], i[: p[-1]], p), shape=(rows, columns))
    return coo_array((x[:kind], (i[:kind], p[:kind])), shape=(rows, columns)).tocsc()


def _read(file: Any) -> FileProblem:
    if "fclib_local" in file:
        group = file["fclib_local"]
        if "V" in group or "R" in group:
            raise ValueError("it has equality rows (V and R), which are not supported")
        delassus, free = _matrix(group["W"]), _numbers(group["vectors"], "q").astype(float)
        if delassus.shape[0] > _MOST_ROWS:
            raise ValueError(f"it has {delassus.shape[0]} rows, more than {_MOST_ROWS}")
        delassus = delassus.toarray()
    elif "fclib_global" in file:
        from scipy.sparse.linalg import splu

        group = file["fclib_global"]
        if "G" in group:
            raise ValueError("it has equality rows (G), which are not supported")
        M, H = _matrix(group["M"]).tocsc(), _matrix(group["H"]).tocsc()
        if H.shape[1] > _MOST_ROWS:
            raise ValueError(f"it has {H.shape[1]} rows, more than {_MOST_ROWS}")
        inverse = splu(M)
        delassus = H.T @ inverse.solve(H.toarray())
        force = _numbers(group["vectors"], "f").astype(float)
        free = H.T @ inverse.solve(force) + _numbers(group["vectors"], "w")
    else:
        raise ValueError("it has neither a group fclib_local nor fclib_global")
    width = int(_numbers(group, "spacedim").reshape(-1)[0])
    friction = _numbers(group["vectors"], "mu").astype(float)
    if width not in (2, 3) or delassus.shape != (len(free),) * 2 or len(free) != width * len(friction):
        raise ValueError(
            f"its sizes contradict: spacedim {width}, W {delassus.shape}, q {free.shape}, mu {friction.shape}"
        )
    if not (np.isfinite(delassus).all() and np.isfinite(free).all() and (friction >= 0.0).all()):
        raise ValueError("it has numbers that are not finite, or negative friction")
    return FileProblem(np.ascontiguousarray(0.5 * (delassus + delassus.T)), free, friction, width)


def read_problem(path: Path) -> FileProblem:
    """Read one problem.

    Raises:
        ConfigError: the file is no such problem, or one with equality rows.
    """
    import h5py

    try:
        check_regular(path)
        with h5py.File(path, "r") as file:
            return _read(file)
    except (OSError, KeyError, ValueError, IndexError, TypeError, AttributeError, RuntimeError) as error:
        text = f"cannot be read as a contact problem of FCLib: {error}"
        raise ConfigError([Mistake(path.name, "", text)], "contact problem") from error
