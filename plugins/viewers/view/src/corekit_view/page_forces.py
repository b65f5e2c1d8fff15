"""Contact forces of a page as numbers: over time in the corner, and beside the arrow where the pointer is.

`forces.js` reads what is written here.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np

from corekit.roles.viewer import Replay
from corekit_view.contacts import Arrows, compute_total_force
from corekit_view.palette import INK, MODES

__all__ = ["force_numbers", "force_script"]

WIDTH, HEIGHT = 240, 48
"""Size of the chart [px]."""
_CHART = f"""<div style="font-size:12px;margin-top:.6em"><div>Σ‖contact force‖</div>
<svg id="corekit-strip" width="{WIDTH}" height="{HEIGHT}"
style="pointer-events:auto;cursor:crosshair;background:#ffffffb0">
<polyline points="@points" fill="none" stroke="{INK}"/>
<line id="corekit-now" y1="0" y2="{HEIGHT}" stroke="#D55E00"/></svg>
<div id="corekit-force" style="min-width:26em"></div><div id="corekit-missing" style="display:none;max-width:26em">
No numbers beside arrows: the player of this page does not tell where its camera is.</div></div>
<div id="corekit-tip" style="display:none;position:fixed;z-index:51;pointer-events:none;padding:.1em .5em;
border-radius:4px;background:#fffffff0;box-shadow:0 0 4px #0006;color:{INK};font:12px system-ui,sans-serif"></div>
<script type="application/json" id="corekit-forces">@data</script>"""


def force_numbers(replay: Replay, arrows: Arrows, speed: float) -> str:
    """Return the chart with its data as HTML, nothing where no force acts or there is one frame alone.

    Forces are those of a whole step, as the arrows show them. Sums have four digits, single forces those of a float32.

    Args:
        replay: with finite positions.
        arrows: lengths of force arrows.
        speed: seconds of the run per second of the replay.
    """
    total = compute_total_force(replay)
    if len(replay.time) < 2 or not total.max() > 0.0:
        return ""
    drawn = [
        np.isfinite(each.point).all(axis=1)
        & np.isfinite(each.force).all(axis=1)
        & np.isin(each.mode, [int(mode) for mode, *_ in MODES])
        for each in replay.contacts
    ]
    values = np.concatenate(
        [np.hstack([each.point, each.force])[own] for each, own in zip(replay.contacts, drawn, strict=True)]
    )
    modes = np.concatenate([each.mode[own] for each, own in zip(replay.contacts, drawn, strict=True)])
    size = [np.linalg.norm(each.force[own], axis=1) for each, own in zip(replay.contacts, drawn, strict=True)]
    data = {
        "time": [float(f"{each:.9g}") for each in replay.time],
        "total": [float(f"{each:.4g}") for each in total],
        "largest": [float(f"{np.max(each, initial=0.0):.4g}") for each in size],
        "begin": np.cumsum([0, *map(len, size)]).tolist(),
        "mode": modes.tolist(),
        "words": {int(mode): word for mode, word, *_ in MODES},
        "values": base64.b64encode(values.astype("<f4").tobytes()).decode(),
        "scale": arrows.scale,
        "longest": min(arrows.longest, 1e9),
        "speed": speed,
        "width": WIDTH,
    }
    across = (replay.time - replay.time[0]) / (replay.time[-1] - replay.time[0]) * WIDTH
    up = HEIGHT - 1 - total / total.max() * (HEIGHT - 2)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, up, strict=True))
    return _CHART.replace("@points", points).replace("@data", json.dumps(data, allow_nan=False))


def force_script() -> str:
    """Return the script that lists them, as HTML for the head of a page, before all other scripts."""
    return f"<script>{Path(__file__).with_name('forces.js').read_text(encoding='utf-8')}</script>"
