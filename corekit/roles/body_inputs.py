"""The inputs u(t) of a body: each channel follows its signal, or holds what Python or a controller wrote last."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn, Protocol, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.signals import Signal
from corekit.errors import CompositionError, ControlError
from corekit.registry.resolve import did_you_mean
from corekit.roles.model import Channel, ModelDescription

__all__ = ["BodyInputs", "InputsByBody", "no_body"]


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=2)


class _Source(Protocol):
    """What a channel reads: a signal, or one with a shift."""

    def value(self, t: float, out: Array) -> None: ...


@final
class _Shifted:
    """A signal and a constant vector."""

    def __init__(self, signal: _Source, shift: Array) -> None:
        self._signal, self._shift = signal, shift

    def value(self, t: float, out: Array) -> None:
        self._signal.value(t, out)
        out += self._shift


@final
class _Rate:
    """The rate of a signal."""

    def __init__(self, signal: Signal) -> None:
        self._signal = signal

    def value(self, t: float, out: Array) -> None:
        self._signal.rate(t, out)


@final
class BodyInputs:
    """The stacked input vector u(t) of one body.

    A channel has one source: its signal in the scenario, a controller, or Python. `inputs["tension"] = u` replaces the
    signal until the simulation is reset; the value is held until it is written again. A channel that a controller
    drives cannot be written, and a controller cannot drive a channel that has a signal.

    A channel that is the rate of another one follows that one's signal. Where that one is written it is 0 until it is
    written too.

    Attributes:
        signals: those that were given, of the channels `given`. constant: whether no signal changes u.
        buffer: u as `value_at` returned it last, shape (nu,).
        written: whether channels may be written, so that u may jump between any two steps.
        warn: called once per channel with a sentence when a value is clipped to the channel's bounds.
    """

    def __init__(self, description: ModelDescription, signals: Mapping[str, Signal], where: str) -> None:
        self.buffer = np.zeros(description.input_size)
        self._where = where
        self._channels = {channel.name: channel for channel in description.inputs}
        self._views: dict[str, Array] = {}
        self._given = dict(signals)
        self.given = frozenset(signals)
        self._rates = {each.rate_of: each.name for each in description.inputs if each.rate_of}
        for name, signal in signals.items():
            if name not in self._channels:
                hint, offered = did_you_mean(name, self._channels), ", ".join(self._channels) or "none"
                raise CompositionError(
                    f"{where}: there is no input channel {name!r}{hint}; this model has {offered}"
                )
            channel = self._channels[name]
            if signal.size not in (1, channel.size):
                raise CompositionError(
                    f"{where}: channel {name!r} takes {channel.size} numbers [{channel.unit}] or one for all, "
                    f"the signal gives {signal.size}"
                )
            if channel.rate_of in signals:
                raise CompositionError(
                    f"{where}: channel {name!r} is the rate of {channel.rate_of!r}, which has a signal: remove the one "
                    "of the rate, it follows"
                )
        offset = 0
        for channel in description.inputs:
            self._views[channel.name] = self.buffer[offset : offset + channel.size]
            offset += channel.size
        self.signals = tuple(signals.values())
        self.constant = all(signal.constant for signal in self.signals)
        self._sources: dict[str, str] = {}
        self._warned: set[str] = set()
        self.warn: Callable[[str], object] = _warn
        self.written = False
        self.release()

    def value_at(self, time: float) -> Array:
        """u(t), shape (nu,); the same buffer at every call."""
        for signal, view in self._varying:
            signal.value(time, view)
        return self.buffer

    def signals_at(self, times: Array) -> Array:
        """What the signals give at instants (n,) [s], shape (n, nu); zero for channels without one."""
        out = np.zeros((len(times), len(self.buffer)))
        for name, signal in self._followed().items():
            begin = int(self._views[name].ctypes.data - self.buffer.ctypes.data) // self.buffer.itemsize
            own = out[:, begin : begin + self._channels[name].size]
            held = name in self._given and self._given[name].constant
            for i in range(1 if held else len(times)):
                signal.value(float(times[i]), own[i])
            if held:
                own[1:] = own[:1]
        return out

    def _followed(self) -> dict[str, _Source]:
        """What channels follow, by name: signals and their rates."""
        rates = {self._rates[name]: _Rate(each) for name, each in self._given.items() if name in self._rates}
        return {**self._given, **rates}

    def breakpoints(self, t0: float, t1: float) -> list[float]:
        """Kinks of the signals in (t0, t1] [s]."""
        return [t for signal in self.signals for t in signal.breakpoints(t0, t1)]

    # — written from outside —

    def __getitem__(self, channel: str) -> Array:
        """A copy of what a channel was last, shape (its size,)."""
        return self._views[self._find_channel(channel).name].copy()

    def __setitem__(self, channel: str, value: Any) -> None:
        """Hold a value from now on, one number for all entries or one for each.

        Raises:
            ControlError: there is no such channel, a controller drives it, or the value does not fit.
        """
        driver = self._sources.get(self._find_channel(channel).name, "")
        if driver:
            raise ControlError(
                f"{self._where}: {driver} drives channel {channel!r} and would overwrite what is written here: remove "
                "the controller, or let it compute this value"
            )
        self.set_channel(channel, value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._channels)

    def __len__(self) -> int:
        return len(self._channels)

    def set_channel(self, channel: str, value: Any, driver: str = "") -> None:
        """Hold a value of a channel, which a controller computed if `driver` names one."""
        known = self._find_channel(channel)
        self.written = True
        if driver:
            self._check_source(channel, driver)
        try:
            numbers = np.asarray(value)
        except (TypeError, ValueError):
            raise self._misfit(known, value) from None
        # neither truths nor texts, which NumPy would turn into numbers
        fits = numbers.dtype.kind in "iuf" and numbers.shape in ((), (1,), (known.size,))
        if not (fits and np.isfinite(numbers).all()):
            raise self._misfit(known, value)
        if channel in self._rates:
            self._hold_rate(channel, numbers)
        if channel not in self._sources or self._sources[channel] != driver:
            self._sources[channel] = driver
            self._unfollow(channel)
        np.clip(numbers, known.lower, known.upper, out=self._views[channel])
        if channel not in self._warned and (self._views[channel] != numbers).any():
            self._warned.add(channel)
            self.warn(
                f"{self._where}: {numbers.tolist()} for channel {channel!r} is outside its bounds "
                f"[{known.lower:g}, {known.upper:g}] {known.unit}: clipped, here and from now on"
            )

    def _unfollow(self, channel: str) -> None:
        self._varying = [each for each in self._varying if each[1] is not self._views[channel]]

    def _hold_rate(self, channel: str, numbers: Any) -> None:
        """Hold the rate of a channel that is written at 0, and say so once it moves, unless the rate is written too."""
        rate = self._rates[channel]
        if rate in self._sources or rate in self._given:
            return
        self._unfollow(rate)
        self._views[rate].fill(0.0)
        if channel in self._sources and rate not in self._warned and (self._views[channel] != numbers).any():
            self._warned.add(rate)
            self.warn(
                f"{self._where}: channel {channel!r} is written and moves, and its rate counts as 0: write {rate!r} too"
            )

    def release(self) -> None:
        """Make every channel follow its signal again; zero without one."""
        self._sources.clear()
        self.buffer.fill(0.0)
        self._varying: list[tuple[_Source, Array]] = []
        for name, source in self._followed().items():
            source.value(0.0, self._views[name])
            if not (name in self._given and self._given[name].constant):
                self._varying.append((source, self._views[name]))

    def _check_source(self, channel: str, driver: str) -> None:
        other = self._sources.get(channel)
        if other == driver:
            return
        if other:
            raise ControlError(f"{self._where}: both {other} and {driver} drive channel {channel!r}")
        if channel in self._given and other is None:
            raise ControlError(
                f"{self._where}: channel {channel!r} has a signal in the scenario, and {driver} drives it too: remove "
                "one of them"
            )

    def _find_channel(self, channel: str) -> Channel:
        if not isinstance(channel, str) or channel not in self._channels:
            meant = f"{channel!r}{did_you_mean(channel, self._channels)}"
            offered = ", ".join(self._channels) or "none"
            raise ControlError(f"{self._where}: there is no channel {meant}; this body has {offered}")
        return self._channels[channel]

    def _misfit(self, channel: Channel, value: Any) -> ControlError:
        return ControlError(
            f"{self._where}: channel {channel.name!r} takes {channel.size} finite numbers [{channel.unit}] or one for "
            f"all, not {value!r}"
        )

    def check_bounds(self, duration: float) -> None:
        """Refuse signals that leave the bounds of their channels, at breakpoints and 257 instants of a duration [s].

        Raises:
            CompositionError: one does.
        """
        for name, signal in self._given.items():
            channel, out = self._channels[name], np.zeros(signal.size)
            if channel.lower == -math.inf and channel.upper == math.inf:
                continue
            instants = [*np.linspace(0.0, duration, 257), *signal.breakpoints(0.0, duration)]
            slack = 0.0
            for time in instants[:1] if signal.constant else instants:
                signal.value(time, out)
                slack = max(
                    slack, 1e-9 * float(np.max(np.abs(out)))
                )  # a sine that touches 0 may round below it
                if (out < channel.lower - slack).any() or (out > channel.upper + slack).any():
                    raise CompositionError(
                        f"{self._where}: the signal of channel {name!r} is {out.tolist()} {channel.unit} at t = "
                        f"{time:.6g} s, outside its bounds [{channel.lower:g}, {channel.upper:g}]"
                        + (f": {channel.sign}" if channel.sign else "")
                    )

    @contextmanager
    def shifted(self, shift: Array) -> Iterator[None]:
        """Have every input larger by a constant, shape (nu,), for so long; what was written stays what it was."""
        varying, kept = self._varying, self.buffer.copy()
        if varying:
            ends = np.cumsum([view.size for view in self._views.values()])[:-1]
            parts = zip(self._views.values(), np.split(shift, ends), strict=True)
            own = {id(view): part for view, part in parts}
            self._varying = [(_Shifted(signal, own[id(view)]), view) for signal, view in varying]
        self.buffer += shift
        try:
            yield
        finally:
            self._varying = varying
            self.buffer[:] = kept

    # — internal state —

    def internal_state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the held values by channel; none where every channel follows its signal."""
        return {name: self._views[name].copy() for name in self._sources}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore what `internal_state` returned; the controller of a channel shows when it writes again."""
        drivers = dict(self._sources)
        self.release()
        for name, value in internal_state.items():
            self.set_channel(name, value)
            self._sources[name] = drivers.get(name, "")


def no_body(name: str, names: Collection[str]) -> ControlError:
    """Return the error of a name that no body has."""
    return ControlError(f"there is no body {name!r}{did_you_mean(name, names)}; there are {', '.join(names)}")


@final
class InputsByBody(dict[str, BodyInputs]):
    """The inputs of bodies by name; an unknown one is refused in a sentence."""

    def __getitem__(self, name: str) -> BodyInputs:
        if not isinstance(name, str) or name not in self:
            raise no_body(name, self)
        return super().__getitem__(name)

    def __setitem__(self, name: str, value: object) -> NoReturn:
        raise ControlError(f"write a channel of {name!r}, as in inputs[{name!r}][CHANNEL] = {value!r}")
