"""Contact forces over time in the corner of a page: their numbers appear where the pointer is."""

from __future__ import annotations

import json

import numpy as np

from corekit.roles.viewer import Replay
from corekit_view.contacts import compute_total_force
from corekit_view.palette import INK

__all__ = ["force_strip"]

WIDTH, HEIGHT = 240, 48
"""Size of the chart [px]."""
_PAGE = """<div style="font-size:12px;margin-top:.6em"><div id="corekit-force">Σ‖contact force‖, at most {most} N:
point at a time</div><svg id="corekit-strip" width="{width}" height="{height}"
style="pointer-events:auto;cursor:crosshair;background:#ffffffb0">
<polyline points="{points}" fill="none" stroke="{ink}"/>
<line id="corekit-now" y1="0" y2="{height}" stroke="#D55E00" visibility="hidden"/></svg></div><script>(() => {{
const d = {data}, strip = document.getElementById("corekit-strip"), now = document.getElementById("corekit-now");
const words = document.getElementById("corekit-force"), usual = words.textContent, last = d.time.length - 1;
strip.addEventListener("pointermove", (event) => {{
  const box = strip.getBoundingClientRect();
  const at = d.time[0] + (event.clientX - box.left) / box.width * (d.time[last] - d.time[0]);
  let k = 0;
  while (k < last && Math.abs(d.time[k + 1] - at) <= Math.abs(d.time[k] - at)) k++;
  const x = (d.time[k] - d.time[0]) / (d.time[last] - d.time[0]) * {width};
  now.setAttribute("x1", x); now.setAttribute("x2", x); now.setAttribute("visibility", "visible");
  words.textContent =
    `${{d.time[k]}} s: ${{d.total[k]}} N by ${{d.count[k]}} contacts, the largest ${{d.largest[k]}} N`;
}});
strip.addEventListener("pointerleave", () => {{
  now.setAttribute("visibility", "hidden"); words.textContent = usual;
}});
}})()</script>"""


def force_strip(replay: Replay) -> str:
    """Return the chart as HTML, nothing where no force acts or there is one frame alone.

    Forces are those of a whole step, as the arrows show them. Numbers have four digits.
    """
    total = compute_total_force(replay)
    if len(replay.time) < 2 or not total.max() > 0.0:
        return ""
    size = [np.linalg.norm(contact.force, axis=1) for contact in replay.contacts]
    data = {
        "time": [float(f"{each:.6g}") for each in replay.time],
        "total": [float(f"{each:.4g}") for each in total],
        "largest": [float(f"{np.nanmax(each, initial=0.0):.4g}") for each in size],
        "count": [int(np.isfinite(each).sum()) for each in size],
    }
    across = (replay.time - replay.time[0]) / (replay.time[-1] - replay.time[0]) * WIDTH
    up = HEIGHT - 1 - total / total.max() * (HEIGHT - 2)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, up, strict=True))
    most = f"{total.max():.4g}"
    return _PAGE.format(
        most=most, width=WIDTH, height=HEIGHT, points=points, ink=INK, data=json.dumps(data, allow_nan=False)
    )
