"""All programs of a model, kept by what its equations say: to write them takes up to a second, to find them 10 ms.

The key is a digest of the energies, forces, frames and outlines that an author wrote, as CasADi serialises them, and
of the code that makes programs of them. Numbers of options are parameters of the equations: other ones have the same
programs.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import OrderedDict
from pathlib import Path
from typing import Any, Final, NamedTuple

import casadi as ca
import numpy as np

from corekit.compiled.store import code_folder, source_digest
from corekit.data.array_file import read_arrays, write_arrays
from corekit.errors import PluginError
from corekit_lagrangian.equations import Equations, derive
from corekit_lagrangian.system import System
from corekit_lagrangian.tape import Program, flat, write_program

__all__ = ["ModelPrograms", "programs_of"]

_MOST: Final = 64
_known: OrderedDict[str, ModelPrograms] = OrderedDict()
"""The programs that this process used last."""


class ModelPrograms(NamedTuple):
    """Programs by name, and the names of the terms of f."""

    terms: tuple[str, ...]
    programs: dict[str, Program]


def programs_of(system: System, parameters: Any) -> ModelPrograms:
    """The programs of a system, written or found.

    Args:
        system: as its author filled it.
        parameters: symbols of its options, and R₀ of a base that moves, a column.
    Raises:
        PluginError: equations that make no model.
    """
    key = _key(system, parameters)
    found = _known.pop(key, None) or _read(key)
    if found is None:
        found = _write(system, derive(system, parameters))
        _keep(key, found)
    _known[key] = found
    if len(_known) > _MOST:
        _known.popitem(last=False)
    return found


def _key(system: System, parameters: Any) -> str:
    """The digest of what an author wrote.

    Raises:
        PluginError: it holds symbols that the system did not give.
    """
    written = [
        system.kinetic, system.rayleigh, *system.potentials.values(), *system.forces.values(), system.origin,
        system.turn, *(part for frame in system.frames.values() for part in frame), *(line for line, _ in system.lines),
    ]  # fmt: skip
    arguments = [system.q, system.v, system.u, parameters]
    function = ca.Function("system", arguments, [ca.SX(each) for each in written], {"allow_free": True})
    if foreign := [str(each) for each in function.free_sx()] if function.has_free() else []:
        raise PluginError(
            f"{system.owner}: its equations hold symbols that the system did not give: {', '.join(foreign)}"
        )
    names = [*system.potentials, "|", *system.forces, "|", str(len(system.frames)), ca.__version__]
    digest = hashlib.sha256(source_digest(__name__).encode())
    digest.update("\0".join(names).encode())
    digest.update(function.serialize().encode())
    return digest.hexdigest()


def _write(system: System, equations: Equations) -> ModelPrograms:
    """Differentiate, and write all programs."""
    symbols, f, w, M = equations.symbols, equations.force, equations.w, equations.mass
    q, v, u = equations.q, equations.v, equations.u
    slopes = [
        ca.jacobian(part, q)
        for place, turn in zip(equations.positions, equations.rotations, strict=True)
        for part in (place, turn[:, 0], turn[:, 1], turn[:, 2])
    ]
    drawn = [
        (system.turn @ line + system.origin @ ca.DM.ones(1, line.shape[1])).T for line, _ in system.lines
    ]
    damping = -ca.jacobian(f, v)
    results = {
        "mass and force": (M, f),
        "tangent": (-ca.jacobian(f, q), damping),
        "residual": (f - M @ w, M),
        "residual's tangent": (-ca.jacobian(f - M @ w, q), damping),
        "input jacobian": (ca.jacobian(f, u),),
        "energies": (ca.vertcat(equations.kinetic, equations.potential),),
        "force terms": (ca.horzcat(*equations.terms.values()).T,),
        "frames": (
            ca.horzcat(ca.SX(3, 0), *equations.positions).T,
            ca.vertcat(ca.SX(0, 3), *equations.rotations),
        ),
        "point jacobians": (ca.vertcat(ca.SX(0, q.numel()), *slopes),),
        "outline": (ca.vertcat(ca.SX(0, 3), *drawn),),
    }
    programs = {
        name: write_program(f"{system.owner}: {name}", symbols, [flat(each) for each in given])
        for name, given in results.items()
    }
    return ModelPrograms(tuple(equations.terms), programs)


def _file(key: str) -> Path:
    return code_folder() / "lagrangian" / f"{key}.npz"


def _read(key: str) -> ModelPrograms | None:
    """The programs that some process kept; None where there are none, or no whole ones."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        kept = read_arrays(_file(key))
        names = kept["names"].tolist()
        parts = {
            name: Program(*(kept[f"{i}-{part}"] for part in Program._fields)) for i, name in enumerate(names)
        }
        return ModelPrograms(tuple(kept["terms"].tolist()), parts)
    return None


def _keep(key: str, made: ModelPrograms) -> None:
    arrays = {
        f"{i}-{part}": array
        for i, program in enumerate(made.programs.values())
        for part, array in program._asdict().items()
    }
    arrays |= {"names": np.array(list(made.programs)), "terms": np.array(made.terms)}
    file = _file(key)
    with contextlib.suppress(OSError):  # made again next time
        file.parent.mkdir(parents=True, exist_ok=True)
        write_arrays(file, arrays)
