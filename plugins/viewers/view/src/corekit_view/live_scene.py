"""Instances of a scene at a server's address, which move from frame to frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.roles.viewer import Replay
from corekit_view.batches import Batch, batches
from corekit_view.contacts import Arrows
from corekit_view.scene import Bounds
from corekit_view.viser_scene import add_instances, move_instances

if TYPE_CHECKING:
    import viser

__all__ = ["LiveScene", "pad_instances"]


def pad_instances(batch: Batch, count: int) -> Batch:
    """Return the batch with `count` instances; additional ones have zero size."""
    more = count - batch.position.shape[1]
    if more <= 0:
        return batch

    def pad(values: Array, fill: float) -> Array:
        return np.pad(values, ((0, 0), (0, more), (0, 0)), constant_values=fill)

    quat = pad(batch.quat_wxyz, 0.0)
    quat[:, -more:, 0] = 1.0
    return evolve(batch, position=pad(batch.position, 0.0), quat_wxyz=quat, scale=pad(batch.scale, 0.0))


@final
class LiveScene:
    """Everything that is drawn, by name; what a frame does not have is hidden.

    Args:
        server: running server.
    """

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        self._handles: dict[str, tuple[Any, int]] = {}

    def draw(self, now: Replay, box: Bounds, arrows: Arrows) -> None:
        """Draw the only frame of a replay; call it in an atomic block of the server."""
        made = {batch.name: batch for batch in batches(now, box, arrows, 0.003 * box.extent)}
        for name, batch in made.items():
            self._update_instances(name, batch)
        for name in self._handles.keys() - made.keys():
            self._handles[name][0].visible = False

    def _update_instances(self, name: str, batch: Batch) -> None:
        handle, capacity = self._handles.get(name, (None, 0))
        count = batch.position.shape[1]
        if handle is None or count > capacity:
            if handle is not None:
                handle.remove()
            # spare instances, because the count of contacts varies and a new mesh is slow
            capacity = max(8, 2 * count) if name.startswith("/contacts") else count
            self._handles[name] = add_instances(self._server, pad_instances(batch, capacity)), capacity
            return
        move_instances(handle, pad_instances(batch, capacity), 0)
        handle.opacity = batch.opacity if batch.opacity < 1.0 else None
        handle.visible = True
