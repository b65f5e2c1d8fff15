"""The runs of a sweep: their values, names and tasks, made one by one as they are asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
from attrs import asdict, evolve, frozen

from corekit.errors import ConfigError
from corekit.files import read_regular
from corekit.scenario.load import unreadable
from corekit.scenario.scenario import Scenario
from corekit_study.points_file import variants_of
from corekit_study.run_task import Recipe, RunTask, load_task
from corekit_study.sampling import draw
from corekit_study.sweep_table import METRICS, STATICS
from corekit_study.variants import Variant, spread, variants

__all__ = ["Asked", "SweepRuns"]

_MOST_CHECKED = 500
"""Runs whose scenarios are loaded before the first one is made."""


@frozen(kw_only=True)
class Asked:
    """What a sweep is of, as its folder stores it; arguments of `corekit_study.sweep.sweep`.

    Args:
        points: lines of a file of points, the paths first; empty: `vary` says what is varied.
    """

    file: str
    vary: tuple[str, ...] = ()
    points: tuple[tuple[str, ...], ...] = ()
    set: tuple[str, ...] = ()
    samples: int | None = None
    seed: int = 0
    sampling: str = "latin"
    keep: str = "all"
    statics: bool = False
    at: float | None = None

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Asked:
        """Restore what `asdict` gave, from JSON.

        Raises:
            ValueError, KeyError, TypeError: it is something else.
        """
        samples, at = said["samples"], said["at"]
        return cls(
            file=str(said["file"]), vary=tuple(map(str, said["vary"])),
            points=tuple(tuple(map(str, row)) for row in said["points"]), set=tuple(map(str, said["set"])),
            samples=None if samples is None else int(samples), seed=int(said["seed"]),
            sampling=str(said["sampling"]), keep=str(said["keep"]), statics=bool(said["statics"]),
            at=None if at is None else float(at),
        )  # fmt: skip

    def text(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"

    @property
    def metrics(self) -> Sequence[str]:
        """Columns of the table after the values."""
        return STATICS if self.statics else METRICS

    def variants(self) -> list[Variant]:
        """Return every run's values, in order."""
        if self.points:
            return variants_of(self.points)
        if self.samples is None:
            return variants([spread(text) for text in self.vary])
        return draw(self.vary, self.samples, self.seed, self.sampling)


@final
class SweepRuns:
    """The runs of a sweep.

    Args:
        asked: what is swept. scenario: loaded without what is varied. allow_code: as for `corekit.load`.

    Attributes:
        variants, names: of every run, in order.
    Raises:
        ConfigError: what is varied cannot be read.
    """

    def __init__(self, asked: Asked, scenario: Scenario, *, allow_code: bool) -> None:
        self.variants = asked.variants()
        digits = len(str(len(self.variants)))
        self.names = [f"{k:0{digits}d}-{each.slug}" for k, each in enumerate(self.variants, start=1)]
        self._set = asked.set
        # as the file says it, so that a variant may change a template or what a file includes
        text = scenario.given_text() if scenario.source is None else _text_of(scenario.source)
        self._recipe = Recipe(
            text=text, source="" if scenario.source is None else str(scenario.source),
            allow_code=allow_code, keep=asked.keep, statics=asked.statics, at=asked.at,
        )  # fmt: skip
        # what files hold that the scenario names is in its resolved text; how its outcome is kept decides nothing of it
        decides = scenario.resolved_text(), evolve(self._recipe, source="", allow_code=False)
        self._base = hashlib.sha256(repr(decides).encode())

    def __len__(self) -> int:
        return len(self.names)

    def task(self, k: int) -> RunTask:
        """Return a run as a task."""
        return RunTask(
            name=self.names[k],
            recipe=self._recipe,
            overrides=(*self._set, *self.variants[k].overrides),
            digest=self.digest(k),
        )

    def digest(self, k: int) -> str:
        """Return the digest of what decides a run."""
        found = self._base.copy()
        found.update(repr(self.variants[k].overrides).encode())
        return found.hexdigest()[:16]

    def check(self) -> None:
        """Load the scenarios of the runs, of very many those that have a value that no other one has.

        Raises:
            ConfigError: one cannot be loaded.
        """
        for k in self._checked():
            load_task(self.task(k))

    def _checked(self) -> Iterator[int]:
        count = len(self)
        if count <= _MOST_CHECKED:
            yield from range(count)
            return
        share = max(2, _MOST_CHECKED // len(self.variants[0].values))
        chosen: set[int] = set()
        for axis in range(len(self.variants[0].values)):
            first: dict[str, int] = {}
            for k, variant in enumerate(self.variants):
                first.setdefault(variant.values[axis][1], k)
            found = sorted(first.values(), key=lambda k: _key(self.variants[k].values[axis][1]))
            places = np.linspace(0, len(found) - 1, min(share, len(found))).round().astype(int)
            chosen.update(found[place] for place in places.tolist())
        yield from sorted(chosen)


def _text_of(source: Path) -> str:
    try:
        return read_regular(source).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([unreadable(source, error, "scenario file")], "scenario file") from error


def _key(text: str) -> tuple[float, str]:
    """Return what values are sorted by: numbers by their size, so that the ends of a range are among those chosen."""
    try:
        return float(text), ""
    except ValueError:
        return float("inf"), text
