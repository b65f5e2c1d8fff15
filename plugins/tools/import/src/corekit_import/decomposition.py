"""Convex pieces of a mesh by CoACD, kept in the user's cache by what they are made of: seconds become milliseconds.

Source: Wei, Liu, Ling, Su (2022), "Approximate convex decomposition for 3D meshes with collision-aware concavity and
tree search", ACM Transactions on Graphics 41(4).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
from importlib.metadata import version
from pathlib import Path

import numpy as np

from corekit.compiled.store import cache_folder
from corekit.data.array_file import read_arrays, write_arrays
from corekit.data.arrays import Array, IntArray
from corekit_import.mesh_source import ImportProblem

__all__ = ["decompose"]

_EFFORT = {"resolution": 1000, "mcts_iterations": 60, "seed": 0, "preprocess_mode": "off"}
"""Half the time of the defaults, with as many pieces; meshes are closed, and closing them again may take minutes."""


def decompose(vertices: Array, faces: IntArray, concavity: float) -> list[Array]:
    """Vertices of each piece [m].

    Raises:
        ImportProblem: CoACD is not installed.
    """
    if importlib.util.find_spec("coacd") is None:
        raise ImportProblem(
            "is not convex, and what would cut it into convex pieces is not installed",
            'pip install coacd, split it into convex bodies, or use its hull: convex = "hull"',
        )
    file = _cache_file(vertices, faces, concavity)
    with contextlib.suppress(OSError, ValueError, KeyError):
        kept = read_arrays(file)
        return np.split(kept["vertices"], kept["ends"][:-1])
    pieces = _cut(vertices, faces, concavity)
    with contextlib.suppress(OSError):  # made again next time
        file.parent.mkdir(parents=True, exist_ok=True)
        ends = np.cumsum([len(piece) for piece in pieces])
        write_arrays(file, {"vertices": np.concatenate(pieces), "ends": ends})
    return pieces


def _cache_file(vertices: Array, faces: IntArray, concavity: float) -> Path:
    made_of = f"{version('coacd')} {sorted(_EFFORT.items())} {concavity!r} {faces.shape}".encode()
    digest = hashlib.sha256(made_of)
    digest.update(np.ascontiguousarray(vertices, dtype=np.float64).tobytes())
    digest.update(np.ascontiguousarray(faces, dtype=np.int64).tobytes())
    return cache_folder() / "convex-pieces" / f"{digest.hexdigest()}.npz"


def _cut(vertices: Array, faces: IntArray, concavity: float) -> list[Array]:
    import coacd

    coacd.set_log_level("off")
    found = coacd.run_coacd(coacd.Mesh(vertices, faces), threshold=concavity, **_EFFORT)
    return [piece for piece, _ in found]
