"""`corekit export`: a run as a file for another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from corekit_export.formats import FORMATS, export_run, format_of
from corekit_run.output_file import check_output

__all__ = ["FORMATS", "export"]


def export(
    folder: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    quiet: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Write a run, finished or still running, for another program.

    Parameters
    ----------
    folder
        The run's folder.
    output
        The file to write; its ending is the format: `x.vtkhdf` for ParaView, with contact forces; `x.glb` (glTF) for
        Blender and browsers and `x.usd`, `.usda`, `.usdc` hold the motion; `x.mjcf` or `x.xml` is a model of MuJoCo, of
        rigid bodies, and of rods by chains of links, which approximate them.
    quiet
        Show nothing but errors.
    """
    chosen = format_of(output)
    check_output(output, "--output")
    notes = export_run(folder, output, chosen)
    if not quiet:
        for note in notes:
            print(note)
        print(output)
