"""A run as a cell of a notebook shows it: its table, and the last instant drawn by an installed viewer."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import TYPE_CHECKING

import attrs
import numpy as np

from corekit.errors import CorekitError
from corekit.roles.viewer import Replay
from corekit_record.cli.pictures import viewer_with

if TYPE_CHECKING:
    from corekit_record.results import Results

__all__ = ["as_html"]

_SIZE = (480, 360)


def as_html(results: Results) -> str:
    """Return a table in HTML, with a picture where frames were recorded and a viewer can draw into arrays."""
    reason = results.outcome.reason
    rows = {
        "status": results.status + (f": {reason}" if reason else ""),
        "time": f"{results.time[-1]:g} s, {len(results.time)} records",
        "bodies": ", ".join(results.bodies),
        "obstacles": ", ".join(results.obstacles) or "none",
        "folder": str(results.path),
    }
    cells = "".join(
        f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in rows.items()
    )
    return f"<div><b>{html.escape(results.title)}</b><table>{cells}</table>{_picture(results)}</div>"


def _picture(results: Results) -> str:
    try:
        canvas = viewer_with("pixels", "draws into arrays").viewer.canvas(*_SIZE)
        pixels = canvas.draw(_last(results.replay()))
    except CorekitError:  # no such viewer, or what it draws was not recorded: the table says all the same
        return ""
    data = base64.b64encode(_png(pixels)).decode("ascii")
    return f'<img alt="the last instant" width="{_SIZE[0]}" src="data:image/png;base64,{data}">'


def _last(replay: Replay) -> Replay:
    bodies = tuple(
        attrs.evolve(
            track, outline=track.outline[-1:], shape_position=track.shape_position[-1:],
            shape_rotation=track.shape_rotation[-1:],
        )
        for track in replay.bodies
    )  # fmt: skip
    obstacles = tuple(
        attrs.evolve(track, position=track.position[-1:], rotation=track.rotation[-1:])
        for track in replay.obstacles
    )
    return attrs.evolve(
        replay, time=replay.time[-1:], bodies=bodies, obstacles=obstacles, contacts=replay.contacts[-1:]
    )


def _png(pixels: np.ndarray) -> bytes:
    """Return a picture (height, width, 3) of bytes as PNG (ISO/IEC 15948): rows without filter, deflated."""
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
