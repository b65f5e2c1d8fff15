"""The legend of a page: what its colours and its longest arrow mean."""

from __future__ import annotations

import html

from corekit.roles.viewer import Replay
from corekit_view.contacts import Arrows, count_contacts, longest_arrow
from corekit_view.palette import MODES, body_colour, hexadecimal

__all__ = ["legend_items"]


def legend_items(replay: Replay, arrows: Arrows) -> str:
    """Return the meaning of the colours and of the longest arrow, as lines of HTML."""
    modes = [(word, colour) for mode, word, colour, _ in MODES if count_contacts(replay, mode).any()]
    bodies = [(body.name, hexadecimal(body_colour(i))) for i, body in enumerate(replay.bodies)][:8]
    rows = bodies if len(bodies) > 1 else []
    rows += [(f"contact: {word}", colour) for word, colour in modes]
    items = "".join(
        f'<div><span style="display:inline-block;width:.7em;height:.7em;border-radius:50%;margin-right:.5em;'
        f'background:{colour}"></span>{html.escape(word)}</div>'
        for word, colour in rows
    )
    words = longest_arrow(replay, arrows)
    return items + (f"<div>{html.escape(words)}</div>" if words else "")
