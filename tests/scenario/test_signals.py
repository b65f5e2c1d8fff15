"""Signals against their formulas, finite differences and each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corekit.data.signals import SIGNALS, Constant, Ramp, Signal, Sine, as_signal
from corekit_testing.rounding import rounding


def at(signal: Signal, t: float, what: str = "value") -> np.ndarray:
    out = np.full(signal.size, np.nan)
    getattr(signal, what)(t, out)
    return out


numbers = st.floats(-50.0, 50.0)
vectors = st.lists(numbers, min_size=3, max_size=3).map(tuple)
ramps = st.builds(
    lambda begin, length, target, start: Ramp(begin=begin, end=begin + length, value=target, start=start),
    st.floats(-5, 5), st.floats(0.1, 5), vectors, st.one_of(numbers, vectors),
)  # fmt: skip
sines = st.builds(
    Sine,
    amplitude=vectors,
    frequency=st.one_of(st.floats(0, 2), st.lists(st.floats(0, 2), min_size=3, max_size=3)),
    phase=st.floats(-4, 4),
    offset=numbers,
    begin=st.one_of(st.none(), st.floats(-2, 2)),
)
signals = st.one_of(vectors.map(Constant), ramps, sines)


def test_ramp_is_linear_between_and_constant_outside():
    ramp = Ramp(begin=1.0, end=3.0, value=(4.0, -2.0), start=(0.0, 2.0))
    for t, expected in [(0.0, (0, 2)), (1.0, (0, 2)), (1.5, (1, 1)), (3.0, (4, -2)), (9.0, (4, -2))]:
        np.testing.assert_allclose(at(ramp, t), expected, atol=rounding(8, 4.0))
    np.testing.assert_allclose(at(ramp, 2.0, "rate"), (2.0, -2.0))
    assert not at(ramp, 0.5, "rate").any()
    assert not at(ramp, 3.5, "rate").any()
    assert not at(ramp, 2.0, "acceleration").any()


def test_ramp_arrives_at_its_value_exactly():
    ramp = Ramp(begin=0.1, end=0.7, value=(0.3, 1e9), start=0.1)
    assert at(ramp, 0.7).tolist() == [0.3, 1e9]
    assert at(ramp, 0.1).tolist() == [0.1, 0.1]


def test_a_step_that_ends_at_a_breakpoint_sees_the_rate_before_it():
    ramp = Ramp(begin=1.0, end=2.0, value=3.0)
    assert at(ramp, 1.0, "rate") == 0.0
    assert at(ramp, 2.0, "rate") == 3.0
    sine = Sine(amplitude=1.0, frequency=1.0, begin=1.0)
    assert at(sine, 1.0, "rate") == 0.0


def test_sine_matches_its_formula():
    sine = Sine(amplitude=(2.0, 3.0), frequency=(0.5, 1.5), phase=(0.1, -0.4), offset=(1.0, 0.0))
    t = 0.37
    for i, (a, f, p, o) in enumerate([(2.0, 0.5, 0.1, 1.0), (3.0, 1.5, -0.4, 0.0)]):
        w = 2 * math.pi * f
        rounded = rounding(8, a * (1.0 + abs(w * t + p)))  # the phase is rounded as a number of its size
        assert at(sine, t)[i] == pytest.approx(o + a * math.sin(w * t + p), abs=rounded + rounding(1, o))
        assert at(sine, t, "rate")[i] == pytest.approx(a * w * math.cos(w * t + p), abs=rounded * w)
        expected = -a * w * w * math.sin(w * t + p)
        assert at(sine, t, "acceleration")[i] == pytest.approx(expected, abs=rounded * w * w)


def test_sine_with_from_rests_and_then_starts_its_clock():
    late = Sine(amplitude=2.0, frequency=0.7, phase=0.3, offset=1.0, begin=1.5)
    always = Sine(amplitude=2.0, frequency=0.7, phase=0.3, offset=1.0)
    assert at(late, 0.2) == pytest.approx(1.0 + 2.0 * math.sin(0.3))
    assert at(late, 0.2, "acceleration") == 0.0
    assert at(late, 2.0) == pytest.approx(at(always, 0.5))


@given(sines)
def test_entries_that_swing_together_equal_entries_computed_apart(sine):
    pieces = [
        Sine(
            amplitude=amplitude,
            frequency=sine.frequency[i] if isinstance(sine.frequency, tuple) else sine.frequency,
            phase=sine.phase,
            offset=sine.offset,
            begin=sine.begin,
        )
        for i, amplitude in enumerate(sine.amplitude)
    ]
    for what in ("value", "rate", "acceleration"):
        whole = at(sine, 0.8, what)
        np.testing.assert_allclose(
            whole, [at(piece, 0.8, what)[0] for piece in pieces], rtol=1e-11, atol=1e-9
        )


@given(signals, st.floats(-6.0, 6.0))
def test_derivatives_match_central_differences_away_from_breakpoints(signal, t):
    h = 1e-5
    if signal.breakpoints(t - 3 * h, t + 3 * h):
        return
    first = (at(signal, t + h) - at(signal, t - h)) / (2 * h)
    second = (at(signal, t + h, "rate") - at(signal, t - h, "rate")) / (2 * h)
    np.testing.assert_allclose(at(signal, t, "rate"), first, rtol=1e-6, atol=2e-5)
    np.testing.assert_allclose(at(signal, t, "acceleration"), second, rtol=1e-6, atol=1e-3)


@given(signals, st.floats(-6.0, 6.0))
def test_values_are_continuous(signal, t):
    np.testing.assert_allclose(at(signal, t - 1e-9), at(signal, t + 1e-9), atol=1e-5)


@given(signals, st.floats(-6.0, 6.0), st.floats(0.0, 6.0), st.floats(0.0, 6.0))
def test_breakpoints_of_two_intervals_are_those_of_their_union(signal, t0, first, second):
    t1, t2 = t0 + first, t0 + first + second
    assert signal.breakpoints(t0, t1) + signal.breakpoints(t1, t2) == signal.breakpoints(t0, t2)


def test_breakpoints_leave_out_the_start_and_keep_the_end():
    ramp = Ramp(begin=1.0, end=2.0, value=1.0)
    assert ramp.breakpoints(0.0, 5.0) == [1.0, 2.0]
    assert ramp.breakpoints(1.0, 2.0) == [2.0]
    assert ramp.breakpoints(2.0, 3.0) == []
    assert Sine(amplitude=1.0, frequency=1.0, begin=0.5).breakpoints(0.0, 0.5) == [0.5]
    assert Sine(amplitude=1.0, frequency=1.0).breakpoints(-9.0, 9.0) == []
    assert Constant(1.0).breakpoints(-9.0, 9.0) == []


@pytest.mark.parametrize(
    "still",
    [
        Constant((1.0, 2.0)),
        Ramp(begin=0.0, end=1.0, value=(1.0, 2.0), start=(1.0, 2.0)),
        Sine(amplitude=0.0, frequency=3.0, begin=0.5),
        Sine(amplitude=2.0, frequency=0.0, phase=1.0, begin=0.5),
    ],
)
def test_a_signal_that_never_moves_is_constant_and_has_no_breakpoints(still):
    assert still.constant
    assert still.breakpoints(-10.0, 10.0) == []
    assert not at(still, 0.7, "rate").any()
    assert at(still, 0.7).tolist() == at(still, -5.0).tolist()


def test_a_number_and_a_list_stand_for_constants():
    assert as_signal([1, 2, 3]) == Constant((1.0, 2.0, 3.0))
    assert as_signal(np.array([1.0, 2.0])) == Constant((1.0, 2.0))  # pyrefly: ignore[bad-argument-type]
    ramp = Ramp(begin=0.0, end=1.0, value=1.0)
    assert as_signal(ramp) is ramp
    assert as_signal(2.0).size == 1


def test_signals_are_values():
    assert Ramp(begin=0, end=1, value=[1, 2]) == Ramp(begin=0, end=1, value=(1.0, 2.0))
    assert hash(Constant([1.0])) == hash(Constant((1.0,)))
    assert Constant(1.0) != Constant(2.0)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Ramp(begin=1.0, end=1.0, value=2.0), "later than `from`"),
        (lambda: Ramp(begin=0.0, end=1.0, value=(1.0, 2.0), start=(0.0, 0.0, 0.0)), "one length"),
        (lambda: Ramp(begin=0.0, end=1.0, value=(1.0, 2.0), start=(0.0,)), "one length"),
        (lambda: Constant(()), "at least one number"),
        (lambda: Constant((1.0, math.nan)), "finite"),
        (lambda: Sine(amplitude=1.0, frequency=math.inf), "finite"),
        (lambda: Sine(amplitude=1.0, frequency=1.0, begin=math.nan), "finite"),
    ],
)
def test_impossible_signals_are_refused(make, says):
    with pytest.raises(ValueError, match=says):
        make()


def test_every_kind_is_registered_under_its_own_word():
    assert set(SIGNALS) == {"constant", "ramp", "sine", "table", "csv"}
    assert all(SIGNALS[word].kind == word for word in SIGNALS)
