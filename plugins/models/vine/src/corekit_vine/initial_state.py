"""The state in which a robot begins: bent at its pins, of a given length, growing or turning."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_vine.chain import CURVATURE, LEAST_LENGTH, Chain, pin_spacing, stowed_lengths
from corekit_vine.config import VineConfig, VineInitial
from corekit_vine.growth import growing_link

__all__ = ["write_initial_state"]


def _check(config: VineConfig, initial: VineInitial, least: float, path: str) -> None:
    links = config.links
    length = config.length if initial.grown_length is None else initial.grown_length
    mistakes: list[Mistake] = []
    if config.longest is not None:
        low, high = links * config.stowed_length, config.longest
        if not low <= length <= high:
            allowed = f"must be from {low:.6g} to {high:.6g} m"
            mistakes.append(Mistake(f"{path}.initial.grown_length", length, allowed))
    elif not length / links > config.length / (2 * links) or length / links < least:
        mistakes.append(Mistake(f"{path}.initial.grown_length", length, f"must be > {links * least:.6g} m"))
    for name, values in (("bend", initial.bend), ("bend_rate", initial.bend_rate)):
        if values is not None and len(values) not in (1, links):
            found, allowed = f"{len(values)} entries", f"give 1, or {links}: one per pin"
            mistakes.append(Mistake(f"{path}.initial.{name}", found, allowed))
    if mistakes:
        raise ConfigError(mistakes, "the initial state")


def write_initial_state(
    config: VineConfig, chain: Chain, initial: VineInitial, path: str, lengths: Array, q: Array, v: Array
) -> None:
    """Write the robot's q and v, which satisfy every constraint, and the lengths of its links where they change.

    Args:
        path: of the robot, for messages.
        lengths: out, shape (N,), or nothing if they are those of the chain.

    Raises:
        ConfigError: wrong number of entries, or a length at which the bodies overlap entirely.
    """
    _check(config, initial, float(chain.scalars[LEAST_LENGTH]), path)
    links = config.links
    whole = config.length if initial.grown_length is None else initial.grown_length
    length, grows = np.full(links, whole / links), np.full(links, 1.0 / links)
    if config.form == "everting":
        length = stowed_lengths(config, whole)
        growing = growing_link(chain.scalars, length, links, initial.growth_rate)
        grows = np.where(np.arange(links) == growing, 1.0, 0.0)
    lengths[:] = length[: len(lengths)]
    of_bodies = length if len(lengths) else chain.lengths
    d, rate = 0.25 * of_bodies[:, None], np.array(initial.bend_rate)
    if initial.bend is None:
        bend = chain.pins[:, CURVATURE] * [pin_spacing(of_bodies, j) for j in range(links)]
    else:
        bend = np.array(initial.bend)
    angle = config.heading + np.cumsum(np.broadcast_to(bend, (links,)))
    spin = np.cumsum(np.broadcast_to(rate, (links,)))
    axis = np.column_stack([np.cos(angle), np.sin(angle)])
    turn = np.column_stack([-axis[:, 1], axis[:, 0]]) * spin[:, None]
    ends = np.cumsum(length[:, None] * axis, axis=0)
    speeds = np.cumsum(length[:, None] * turn + initial.growth_rate * grows[:, None] * axis, axis=0)
    places, velocities = q.reshape(links, 2, 3), v.reshape(links, 2, 3)
    start = np.vstack([np.zeros(2), ends[:-1]])
    places[:, 0, :2], places[:, 1, :2] = start + d * axis, ends - d * axis
    velocities[:, 0, :2] = np.vstack([np.zeros(2), speeds[:-1]]) + d * turn
    velocities[:, 1, :2] = speeds - d * turn
    places[:, :, 2], velocities[:, :, 2] = angle[:, None], spin[:, None]
