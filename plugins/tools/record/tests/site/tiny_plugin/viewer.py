"""A replay in words."""

from __future__ import annotations

from corekit.roles.viewer import Viewer


class TextViewer(Viewer):
    def __init__(self, config, context=None):
        pass

    @property
    def suffixes(self):
        return (".txt", ".png")

    def render(self, replay, path):
        lines = [replay.title, f"{len(replay.time)} frames", *(body.name for body in replay.bodies)]
        path.write_text("\n".join(lines) + "\n")
