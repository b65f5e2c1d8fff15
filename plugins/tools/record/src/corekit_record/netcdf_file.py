"""An empty NetCDF-4 file: dimensions, variables and attributes, made by h5netcdf.

Entries of growing dimensions are appended by h5py (`store`), to which NetCDF-4 is HDF5: h5netcdf reads the
lengths of all dimensions at every access, 95 ms for a block of 59 variables instead of 8 ms.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
from attrs import field, frozen

from corekit_record.unfailing_file import UnfailingFile

__all__ = ["CHUNK", "Variable", "create_netcdf"]

CHUNK = 64
"""Entries of an unlimited dimension that are stored together."""
LARGEST_CHUNK = 1 << 20
"""Bytes of a chunk, of which whole ones are read and written."""
FORMS = 32
"""Forms of files that a process keeps, each of some 50 kB."""
_FORMS: dict[str, bytes] = {}


@frozen(eq=False)
class Variable:
    """One variable of a file.

    Args:
        name: in the file.
        dimensions: names; an unlimited one may stand first.
        dtype: NumPy's code, or `str`.
        unit: SI unit, empty if it has none.
        meaning: a phrase.
        values: of a variable that does not grow.
        attributes: further ones.
    """

    name: str
    dimensions: tuple[str, ...]
    dtype: str = "f8"
    unit: str = ""
    meaning: str = ""
    values: Any = field(default=None, repr=False)
    attributes: Mapping[str, Any] = field(factory=dict)


def create_netcdf(
    file: BinaryIO | UnfailingFile,
    dimensions: Mapping[str, int | None],
    variables: Sequence[Variable],
    attributes: Mapping[str, Any],
) -> None:
    """Write a file that has everything but the entries of growing dimensions.

    Args:
        dimensions: size of each dimension, None for those that grow.
        attributes: of the file.
    """
    import h5py

    # h5netcdf takes 3 ms a variable: files of one form, as of a sweep's variants, are made by it once
    about = [
        (each.name, each.dimensions, each.dtype, _texts(each), _plain(each.attributes)) for each in variables
    ]
    form = repr((dict(dimensions), about))
    if form not in _FORMS:
        if len(_FORMS) == FORMS:
            _FORMS.clear()
        _FORMS[form] = _form(dimensions, variables)
    file.write(_FORMS[form])
    with h5py.File(file, "r+") as root:
        for variable in variables:
            if variable.values is not None:
                root[variable.name][...] = variable.values
        for key, value in attributes.items():
            root.attrs[key] = value if isinstance(value, str) else np.atleast_1d(value)


def _texts(variable: Variable) -> dict[str, str]:
    texts = {"units": variable.unit, "long_name": variable.meaning}
    return {key: text for key, text in texts.items() if text}


def _plain(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as texts that differ where they do."""
    arrays = {key: np.asarray(value) for key, value in attributes.items()}
    return {key: (array.dtype.str, array.tolist()) for key, array in arrays.items()}


def _form(dimensions: Mapping[str, int | None], variables: Sequence[Variable]) -> bytes:
    """Return a file without the values of variables and the attributes of the file."""
    import h5netcdf
    import h5py

    file = io.BytesIO()
    with h5netcdf.File(file, "w") as root:
        root.dimensions = dict(dimensions)
        for variable in variables:
            sizes = [dimensions[name] for name in variable.dimensions]
            made = root.create_variable(
                variable.name,
                variable.dimensions,
                h5py.string_dtype() if variable.dtype == "str" else variable.dtype,
                chunks=_chunks(sizes, variable.dtype) if sizes[:1] == [None] else None,
            )
            for key, value in (_texts(variable) | {**variable.attributes}).items():
                if not (isinstance(value, str) and not value):
                    made.attrs[key] = value
    return file.getvalue()


def _chunks(sizes: Sequence[int | None], dtype: str) -> tuple[int, ...]:
    """Return entries that are stored together: `CHUNK`, or as many as `LARGEST_CHUNK` holds, one at least."""
    inner = tuple(size or 1 for size in sizes[1:])
    entry = np.dtype(dtype).itemsize * math.prod(inner)
    return max(1, min(CHUNK, LARGEST_CHUNK // entry)), *inner
