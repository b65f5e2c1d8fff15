"""Formats by the ending of a file, and the library that each needs."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from attrs import frozen

from corekit.errors import ConfigError, ExtraNotInstalled, Mistake
from corekit.files import write_whole
from corekit_export.gltf import write_glb
from corekit_export.mjcf import write_mjcf
from corekit_export.scene import Scene, scene_of
from corekit_export.usd import write_usd
from corekit_export.vtkhdf import write_vtkhdf
from corekit_record.results import Results

__all__ = ["FORMATS", "Format", "export_run", "format_of"]


@frozen
class Format:
    """One format.

    Args:
        extra: of `corekit-export`, that brings its library. module: of the library.
        write: (scene, path), of formats that hold a motion; None of MJCF, which is made of the scenario.
    """

    extra: str
    module: str
    write: Callable[[Scene, Path], None] | None


_VTKHDF, _GLB = Format("", "h5py", write_vtkhdf), Format("glb", "pygltflib", write_glb)
_USD, _MJCF = Format("usd", "pxr", write_usd), Format("mjcf", "mujoco", None)
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        ".vtkhdf": _VTKHDF, ".glb": _GLB, ".usd": _USD, ".usda": _USD, ".usdc": _USD, ".mjcf": _MJCF, ".xml": _MJCF,
    }
)  # fmt: skip
"""Ending → format."""


def format_of(path: Path) -> Format:
    """Return the format of a file by its ending.

    Raises:
        ConfigError: no format has it.
        ExtraNotInstalled: its library is not installed.
    """
    chosen = FORMATS.get(path.suffix.lower())
    if chosen is None:
        allowed = (
            f"must end with one of {', '.join(FORMATS)}; `corekit render` draws pictures, videos and pages"
        )
        raise ConfigError([Mistake("--output", str(path), allowed)], "the export")
    if importlib.util.find_spec(chosen.module) is None:
        raise ExtraNotInstalled(
            f'{path.suffix} files need {chosen.module}: pip install "corekit-export[{chosen.extra}]"'
        )
    return chosen


def export_run(folder: Path, path: Path, chosen: Format | None = None) -> list[str]:
    """Write the run of a folder; return sentences on what the file does not hold.

    Raises:
        CorekitError: there are no records, or nothing of them fits the format.
    """
    chosen = chosen or format_of(path)
    if chosen.write is None:
        return write_mjcf(folder, path)
    scene = scene_of(Results(folder).replay())
    write = chosen.write
    write_whole(path, lambda partial: write(scene, partial))
    return []
