"""A scenario that goes on in the browser while sliders drive its inputs."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from corekit.errors import ConfigError, ControlError, Mistake, StepFailed
from corekit.roles.viewer import InteractiveSession, Requests, Slider
from corekit.simulation.loop import Simulation
from corekit_record.snapshot import Snapshot

__all__ = ["DrivenSimulation", "sliders_of"]

TICK = 1.0 / 30.0
"""Wall time from picture to picture [s]."""
SAMPLES = 65
"""Instants at which the signals of a scenario are looked at for the range of their sliders."""


def sliders_of(
    simulation: Simulation, duration: float, ranges: Mapping[str, tuple[float, float]]
) -> tuple[list[Slider], list[str]]:
    """Return a slider for every number of every input channel, and the channels whose range is not known.

    A range that is not given is that of the channel's bounds; where these are open, twice the largest value of the
    scenario's signal in its duration [s], and 1 where there is none.

    Args:
        simulation: at its start.
        duration: of the scenario [s].
        ranges: `body.channel` → range.
    Raises:
        ConfigError: a range is of no channel, or empty, or exceeds its bounds.
    """
    sliders: list[Slider] = []
    names: list[str] = []
    guessed: list[str] = []
    for body in simulation.bodies:
        start = simulation.start_time
        instants = np.linspace(start, start + duration, SAMPLES)
        largest = np.max([np.abs(body.inputs.value_at(float(t))) for t in instants], axis=0, initial=0.0)
        offset = 0
        for channel in body.description.inputs:
            name = f"{body.name}.{channel.name}"
            names.append(name)
            peak = float(largest[offset : offset + channel.size].max(initial=0.0))
            reach = 2.0 * peak if peak > 0.0 else 1.0
            lower = channel.lower if math.isfinite(channel.lower) else -reach
            upper = channel.upper if math.isfinite(channel.upper) else max(reach, lower + reach)
            if name in ranges:
                lower, upper = ranges[name]
                if not channel.lower <= lower < upper <= channel.upper:
                    bounds = f"[{channel.lower:g}, {channel.upper:g}] {channel.unit}"
                    raise ConfigError(
                        [Mistake("--range", f"{name}={lower:g}:{upper:g}", f"must rise, within {bounds}")]
                    )
            elif not (peak > 0.0 or math.isfinite(channel.upper)):
                guessed.append(name)
            sliders += [
                Slider(
                    body=body.name,
                    channel=channel.name,
                    entry=i,
                    label=channel.name + (f"[{i}]" if channel.size > 1 else ""),
                    unit=channel.unit,
                    lower=lower,
                    upper=upper,
                )
                for i in range(channel.size)
            ]
            offset += channel.size
        body.inputs.value_at(start)
    unknown = sorted(ranges.keys() - set(names))
    if unknown:
        raise ConfigError([Mistake("--range", unknown[0], f"must be one of {', '.join(names) or 'none'}")])
    return sliders, guessed


@final
class DrivenSimulation:
    """A simulation that keeps pace with the wall clock while a session drives it.

    Args:
        simulation: at its start. title: of the scenario.
        sliders: as `sliders_of` returned them.
    """

    def __init__(self, simulation: Simulation, title: str, sliders: Sequence[Slider]) -> None:
        self._simulation, self._sliders = simulation, tuple(sliders)
        self.snapshot = Snapshot(simulation, title)
        self._owed = 0.0
        self._pace = math.nan
        self._trouble: dict[str, str] = {}

    def follow(self, session: InteractiveSession) -> None:
        """Step and show until a keyboard interrupt."""
        before = clock.perf_counter()
        while True:
            began = clock.perf_counter()
            self.advance(session.pop_requests(), began - before)
            before = began
            session.show(self.snapshot.replay(), self.values(), self.words())
            clock.sleep(max(0.0, TICK - (clock.perf_counter() - began)))

    def advance(self, asked: Requests, passed: float) -> None:
        """Do what a person wanted, then step as far as the wall time that passed [s] owes, for at most two ticks."""
        simulation = self._simulation
        if asked.reset:
            simulation.reset()
            self._owed, self._pace = 0.0, math.nan
            self._trouble.clear()
        self._move(asked.moved)
        if not asked.running:
            self._owed = 0.0
            return
        self._owed += asked.speed * passed
        wanted, before = self._owed, simulation.time
        end = clock.perf_counter() + 2.0 * TICK
        try:
            while self._owed >= simulation.step_length:
                simulation.step()
                self._owed -= simulation.step_length
                if clock.perf_counter() > end:
                    self._owed = 0.0
            self._trouble.pop("step", None)
        except StepFailed as error:
            self._trouble["step"] = f"{error} (Reset, or move an input)"
            self._owed = 0.0
        if wanted >= simulation.step_length:
            share = (simulation.time - before) / wanted * asked.speed
            self._pace = share if math.isnan(self._pace) else 0.9 * self._pace + 0.1 * share

    def values(self) -> list[float]:
        """Return the inputs now, a number a slider."""
        bodies = {body.name: body.inputs for body in self._simulation.bodies}
        for inputs in bodies.values():
            inputs.value_at(self._simulation.time)
        return [float(bodies[s.body][s.channel][s.entry]) for s in self._sliders]

    def words(self) -> str:
        """Return how fast it goes, and what is wrong."""
        pace = "" if math.isnan(self._pace) else f"{self._pace:.2g} × real time"
        return "  \n".join([pace, *(f"**{sentence}**" for sentence in self._trouble.values())])

    def _move(self, moved: Mapping[int, float]) -> None:
        if not moved:
            return
        inputs = self._simulation.inputs
        for i, value in moved.items():
            slider = self._sliders[i]
            now: np.ndarray[Any, Any] = inputs[slider.body][slider.channel]
            now[slider.entry] = value
            try:
                inputs[slider.body][slider.channel] = now
            except ControlError as error:
                self._trouble[f"{slider.body}.{slider.channel}"] = str(error)
