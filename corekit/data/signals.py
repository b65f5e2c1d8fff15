"""Signals: vectors as functions of time, with two derivatives and their breakpoints.

A scenario file names one by its `kind`, for example

    signal = { kind = "ramp", from = 1.0, to = 2.0, value = [0.0, 40.0] }

At a breakpoint `rate` and `acceleration` are those of the interval that ends there: a step that lands on a
breakpoint sees the motion it has just made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, final

import attrs
import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.data.sampled_signals import Csv, Table
from corekit.data.signal_base import (
    HeldSignal,
    Signal,
    Vector,
    as_vector,
    broadcast_vectors,
    field_metadata,
    finite,
    set_derived,
)

__all__ = ["SIGNALS", "Constant", "Csv", "Ramp", "Signal", "Sine", "Table", "Vector", "as_signal"]


@final
@frozen
class Constant(HeldSignal):
    """x(t) = value."""

    kind: ClassVar[str] = "constant"
    numbers: Vector = field(
        alias="value", converter=as_vector, validator=finite, metadata=field_metadata("what it always is")
    )
    _array: Array = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        (array,) = broadcast_vectors(value=self.numbers)
        set_derived(self, _array=array)

    @property
    def size(self) -> int:
        return self._array.size

    @property
    def constant(self) -> bool:
        return True

    def value(self, t: float, out: Array) -> None:
        out[:] = self._array


@final
@frozen(kw_only=True)
class Ramp(Signal):
    """A straight line between two instants, constant outside.

    x(t) = start                                              t ≤ from                 (1)
    x(t) = start + (value − start)·(t − from)/(to − from)     from < t < to            (2)
    x(t) = value                                              t ≥ to                   (3)
    """

    kind: ClassVar[str] = "ramp"
    begin: float = field(
        validator=finite, metadata=field_metadata("when it leaves `start`", unit="s", key="from")
    )
    end: float = field(
        validator=finite, metadata=field_metadata("when it arrives at `value`", unit="s", key="to")
    )
    target: Vector = field(
        alias="value", converter=as_vector, validator=finite, metadata=field_metadata("where it ends")
    )
    start: Vector = field(
        default=0.0, converter=as_vector, validator=finite, metadata=field_metadata("where it begins")
    )
    _start: Array = field(init=False, eq=False, repr=False)
    _target: Array = field(init=False, eq=False, repr=False)
    _slope: Array = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.end <= self.begin:
            raise ValueError(f"`to` must be later than `from`, but {self.end:g} ≤ {self.begin:g}")
        start, target = broadcast_vectors(start=self.start, value=self.target)
        slope = (target - start) / (self.end - self.begin)
        slope.setflags(write=False)
        set_derived(self, _start=start, _target=target, _slope=slope)

    @property
    def size(self) -> int:
        return self._target.size

    @property
    def constant(self) -> bool:
        return not self._slope.any()

    def value(self, t: float, out: Array) -> None:
        if t <= self.begin:
            out[:] = self._start
        elif t >= self.end:
            out[:] = self._target
        else:
            np.multiply(self._slope, t - self.begin, out)
            np.add(out, self._start, out)

    def rate(self, t: float, out: Array) -> None:
        if self.begin < t <= self.end:
            out[:] = self._slope
        else:
            out.fill(0.0)

    def acceleration(self, t: float, out: Array) -> None:
        out.fill(0.0)

    def breakpoints(self, t0: float, t1: float) -> list[float]:
        return [] if self.constant else [time for time in (self.begin, self.end) if t0 < time <= t1]


@final
@frozen(kw_only=True)
class Sine(Signal):
    """An oscillation, of all times or from one instant on.

    x(t) = offset + amplitude·sin(2π·frequency·τ + phase)                              (1)
    τ = t,   or τ = max(t − from, 0) if `from` is given: it rests at its first value until then   (2)
    """

    kind: ClassVar[str] = "sine"
    amplitude: Vector = field(
        converter=as_vector,
        validator=finite,
        metadata=field_metadata("half the distance from lowest to highest"),
    )
    frequency: Vector = field(
        converter=as_vector, validator=finite, metadata=field_metadata("oscillations a second", unit="Hz")
    )
    phase: Vector = field(
        default=0.0,
        converter=as_vector,
        validator=finite,
        metadata=field_metadata("angle at τ = 0", unit="rad"),
    )
    offset: Vector = field(
        default=0.0, converter=as_vector, validator=finite, metadata=field_metadata("the mean")
    )
    begin: float | None = field(
        default=None,
        validator=attrs.validators.optional(finite),
        metadata=field_metadata("when it starts to move", unit="s", key="from"),
    )
    _coefficients: tuple[Array, Array, Array] = field(init=False, eq=False, repr=False)
    _omega: Array = field(init=False, eq=False, repr=False)
    _phase: Array = field(init=False, eq=False, repr=False)
    _offset: Array = field(init=False, eq=False, repr=False)
    _uniform: tuple[float, float] | None = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        amplitude, frequency, phase, offset = broadcast_vectors(
            amplitude=self.amplitude, frequency=self.frequency, phase=self.phase, offset=self.offset
        )
        omega = 2.0 * math.pi * frequency
        in_step = bool((omega == omega[0]).all() and (phase == phase[0]).all())
        set_derived(
            self,
            # of x − offset, ẋ and ẍ, each the previous one times ω
            _coefficients=(amplitude, amplitude * omega, -amplitude * omega * omega),
            _omega=omega,
            _phase=phase,
            _offset=offset,
            # entries that swing together need one sine for all of them
            _uniform=(float(omega[0]), float(phase[0])) if in_step else None,
        )

    @property
    def size(self) -> int:
        return self._omega.size

    @property
    def constant(self) -> bool:
        return not self._coefficients[1].any()

    def value(self, t: float, out: Array) -> None:
        self._swing(t, 0, out)
        np.add(out, self._offset, out)

    def rate(self, t: float, out: Array) -> None:
        self._swing(t, 1, out)

    def acceleration(self, t: float, out: Array) -> None:
        self._swing(t, 2, out)

    def breakpoints(self, t0: float, t1: float) -> list[float]:
        moves_from = None if self.constant else self.begin
        return [moves_from] if moves_from is not None and t0 < moves_from <= t1 else []

    def _swing(self, t: float, derivative: int, out: Array) -> None:
        """Write the given derivative of x − offset."""
        resting = self.begin is not None and t <= self.begin
        if resting and derivative > 0:
            out.fill(0.0)
            return
        tau = 0.0 if resting else t - (self.begin or 0.0)
        coefficients = self._coefficients[derivative]
        if self._uniform is not None:
            angle = self._uniform[0] * tau + self._uniform[1]
            np.multiply(coefficients, math.cos(angle) if derivative == 1 else math.sin(angle), out)
            return
        np.multiply(self._omega, tau, out)
        np.add(out, self._phase, out)
        (np.cos if derivative == 1 else np.sin)(out, out)
        np.multiply(out, coefficients, out)


def as_signal(value: Signal | float | Sequence[float]) -> Signal:
    """The signal itself, or the constant that a number or a list of numbers stands for."""
    return value if isinstance(value, Signal) else Constant(value)


SIGNALS: Mapping[str, type[Signal]] = MappingProxyType(
    {each.kind: each for each in (Constant, Ramp, Sine, Table, Csv)}
)
"""Kind → class: the words that a scenario file may use."""
