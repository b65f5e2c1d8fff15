"""An empty NetCDF-4 file: dimensions, variables and attributes as HDF5 holds them.

NetCDF-4 is HDF5 with conventions: a dimension is a dimension scale, its coordinate variable where there is one, else an
empty stand-in; a variable is a dataset to which its dimensions' scales are attached; numbers in attributes are arrays.
Written by HDF5's own means, because a library for NetCDF asks for every dimension's length again and again: a fifth of
its time.

Source: NetCDF User's Guide, appendix "File Format Specifications".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
from attrs import field, frozen

__all__ = ["CHUNK", "Variable", "create_netcdf"]

CHUNK = 64
"""Entries of an unlimited dimension that are stored together."""
_STAND_IN = "This is a netCDF dimension but not a netCDF variable.{:10d}"
_STAND_IN_CHUNK = 1024


@frozen(eq=False)
class Variable:
    """One variable of a file.

    Args:
        name: with its groups, for example `bodies/arm/outline`.
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
    file: BinaryIO,
    dimensions: Mapping[str, int | None],
    variables: Sequence[Variable],
    attributes: Mapping[str, Mapping[str, Any]],
) -> None:
    """Write a file that has everything but the entries of growing dimensions.

    Args:
        dimensions: size of each dimension, None for those that grow; a name with groups belongs to that group.
        attributes: of groups, by the group's name (empty: the whole file).
    """
    import h5py

    by_name = {variable.name: variable for variable in variables}
    with h5py.File(file, "w") as root:
        root.attrs["_NCProperties"] = f"version=2,h5py={h5py.__version__},hdf5={h5py.version.hdf5_version}"
        scales: dict[str, Any] = {}
        for number, (name, size) in enumerate(dimensions.items()):
            own = by_name.get(name)
            if own is not None:
                scale, told = _dataset(root, own, dimensions), name
            else:
                scale, told = _stand_in(root, name, size), _STAND_IN.format(size or 0)
            h5py.h5ds.set_scale(scale.id, told.encode())
            scale.attrs["_Netcdf4Dimid"] = np.int32(number)
            scales[name] = scale
        for variable in variables:
            made = scales.get(variable.name)
            if made is None:
                made = _dataset(root, variable, dimensions)
                for axis, name in enumerate(variable.dimensions):
                    scale = scales[_inside(variable, name, dimensions)]
                    h5py.h5ds.attach_scale(made.id, scale.id, axis)
            about = {"units": variable.unit, "long_name": variable.meaning, **variable.attributes}
            _describe(made, {key: value for key, value in about.items() if not _is_empty(value)})
        for name, entries in attributes.items():
            _describe(root.require_group(name) if name else root, entries)


def _inside(variable: Variable, dimension: str, dimensions: Mapping[str, int | None]) -> str:
    """The full name of a variable's dimension: its group's own, or the file's."""
    own = f"{variable.name.rpartition('/')[0]}/{dimension}"
    return own if own in dimensions else dimension


def _dataset(root: Any, variable: Variable, dimensions: Mapping[str, int | None]) -> Any:
    import h5py

    sizes = [dimensions[_inside(variable, name, dimensions)] for name in variable.dimensions]
    grows = bool(sizes) and sizes[0] is None
    return root.create_dataset(
        variable.name,
        shape=tuple(size or 0 for size in sizes),
        dtype=h5py.string_dtype() if variable.dtype == "str" else variable.dtype,
        data=variable.values,
        maxshape=tuple(sizes) if grows else None,
        chunks=(CHUNK, *(max(1, size or 1) for size in sizes[1:])) if grows else None,
    )


def _stand_in(root: Any, name: str, size: int | None) -> Any:
    grows = size is None
    return root.create_dataset(
        name,
        shape=(size or 0,),
        dtype=">f4",
        maxshape=(None,) if grows else None,
        chunks=(_STAND_IN_CHUNK,) if grows else None,
    )


def _is_empty(value: Any) -> bool:
    return isinstance(value, str) and not value


def _describe(place: Any, attributes: Mapping[str, Any]) -> None:
    for key, value in attributes.items():
        place.attrs[key] = value if isinstance(value, str) else np.atleast_1d(value)
