"""Inputs of all worlds of a batch: `batch.inputs["arm"]["tension"] = array` holds a value a world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit.errors import ControlError
from corekit.registry.resolve import did_you_mean
from corekit.roles.body import Body
from corekit.roles.body_inputs import no_body
from corekit.roles.model import Channel

__all__ = ["BodyChannels", "WrittenInputs"]


@final
class BodyChannels:
    """The channels of one body in all worlds.

    Args:
        body: whose.
        value: of its inputs in all worlds, (W, its inputs). is_written: which count, (its inputs,).
    """

    def __init__(self, body: Body, value: Array, is_written: BoolArray) -> None:
        self._name, self._value, self._is_written = body.name, value, is_written
        self._given = body.inputs.given
        self._channels: dict[str, tuple[Channel, slice]] = {}
        at = 0
        for channel in body.description.inputs:
            self._channels[channel.name] = channel, slice(at, at + channel.size)
            at += channel.size

    def __iter__(self) -> Iterator[str]:
        return iter(self._channels)

    def __getitem__(self, channel: str) -> Array:
        """A copy of what was written, shape (W, size of the channel)."""
        return self._value[:, self._find(channel)[1]].copy()

    def __setitem__(self, channel: str, value: Any) -> None:
        """Hold values from now on, in place of the signal: one for all, one an entry, or one an entry and world.

        Raises:
            ControlError: there is no such channel, or the values do not fit.
        """
        known, where = self._find(channel)
        worlds = len(self._value)
        allowed = ((), (known.size,), (worlds, known.size))
        numbers = np.asarray(value, dtype=object if isinstance(value, str) else None)
        if numbers.dtype.kind not in "iuf" or numbers.shape not in allowed or not np.isfinite(numbers).all():
            raise ControlError(
                f"bodies.{self._name}: channel {channel!r} of {worlds} worlds takes finite numbers [{known.unit}] of "
                f"the shape ({worlds}, {known.size}), ({known.size},) or one for all, not {value!r}"
            )
        if ((numbers < known.lower) | (numbers > known.upper)).any():
            raise ControlError(
                f"bodies.{self._name}: values for channel {channel!r} are outside its bounds [{known.lower:g}, "
                f"{known.upper:g}] {known.unit}: clip them"
            )
        self._value[:, where] = numbers
        self._is_written[where] = True
        for rate, of_rate in self._channels.values():
            # what is written rests until its rate is written too, unless that has a signal of its own
            if (
                rate.rate_of == channel
                and rate.name not in self._given
                and not self._is_written[of_rate].any()
            ):
                self._value[:, of_rate] = 0.0
                self._is_written[of_rate] = True

    def written(self, world: int) -> Iterator[tuple[str, Array]]:
        """The channels that were written, with their values in a world."""
        for name, (_, where) in self._channels.items():
            if self._is_written[where].any():
                yield name, self._value[world, where]

    def _find(self, channel: str) -> tuple[Channel, slice]:
        if channel not in self._channels:
            offered = ", ".join(self._channels) or "none"
            raise ControlError(
                f"bodies.{self._name}: there is no channel {channel!r}{did_you_mean(channel, self._channels)}; "
                f"there are {offered}"
            )
        return self._channels[channel]


@final
class WrittenInputs(Mapping[str, BodyChannels]):
    """The inputs by body.

    Args:
        bodies: of the world.
        value, is_written: of all inputs, (W, nu) and (nu,).
    """

    def __init__(self, bodies: Sequence[Body], value: Array, is_written: BoolArray) -> None:
        self._bodies: dict[str, BodyChannels] = {}
        at = 0
        for body in bodies:
            own = slice(at, at + body.description.input_size)
            self._bodies[body.name] = BodyChannels(body, value[:, own], is_written[own])
            at = own.stop

    def __getitem__(self, name: str) -> BodyChannels:
        if name not in self._bodies:
            raise no_body(name, self._bodies)
        return self._bodies[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._bodies)

    def __len__(self) -> int:
        return len(self._bodies)
