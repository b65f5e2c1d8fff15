"""Contact forces of the last step of every world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit.data.contacts import ContactRecord
from corekit_batch.contact_tables import ContactMemory

__all__ = ["sum_of_forces"]


def sum_of_forces(
    memory: ContactMemory, records: Mapping[int, ContactRecord], owners: Sequence[str], step: float, body: str,
    against: str | None,
) -> Array:  # fmt: skip
    """Return the sum of the mean contact forces on a body over the last step, world axes [N], shape (W, 3).

    Args:
        memory: contacts of the last step. records: of worlds whose last step the kernel made, in place of it.
        owners: name of the body or obstacle of every shape. step: h [s].
        against: name of the other one; None: all.
    """
    names, room = np.array(owners), memory.id.shape[1]
    normal, tangent = memory.normal, memory.tangent
    along = memory.impulse.reshape(len(memory.count), room, -1)
    impulse = along[..., :1] * normal + along[..., 1:2] * tangent
    if along.shape[2] > 2:  # not in a plane
        impulse += along[..., 2:] * np.cross(normal, tangent)
    counts = np.arange(room) < memory.count[:, None]
    sign = _signs(names[memory.shape], body, against) * counts if len(names) else np.zeros(counts.shape)
    out = np.einsum("wc,wci->wi", sign, impulse) / step
    for w, record in records.items():
        own = _signs(names[record.shape], body, against) if record.count else np.zeros(0)
        out[w] = own @ record.force
    return np.asarray(out)


def _signs(pairs: np.ndarray, body: str, against: str | None) -> Array:
    """1 where a body is the first of two, −1 where it is the second, else 0; of names (…, 2)."""
    is_other: BoolArray = np.ones(pairs.shape, dtype=np.bool_) if against is None else pairs == against
    first, second = pairs[..., 0] == body, pairs[..., 1] == body
    return (first & is_other[..., 1]).astype(float) - (second & is_other[..., 0])
