"""Fake plugins, and what is spent on looking at them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from corekit.registry.discover import discover
from corekit_inspect import checkup
from corekit_testing.fake_site import FakeSite


@pytest.fixture
def site(tmp_path: Path, forked: Any) -> FakeSite:
    """Fake plugins for subprocesses only."""
    return FakeSite(tmp_path / "site", forked)


@pytest.fixture
def local_site(site: FakeSite) -> Iterator[FakeSite]:
    """Fake plugins that this process sees too."""
    with site.seen_here():
        yield site


@pytest.fixture
def processor_time() -> Callable[[Callable[[], object]], float]:
    """The least processor time [s] that an action's subprocesses take in five tries, whatever else runs."""
    from resource import RUSAGE_CHILDREN, getrusage

    def spent() -> float:
        usage = getrusage(RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def measure(action: Callable[[], object]) -> float:
        times = []
        for _ in range(5):
            before = spent()
            action()
            times.append(spent() - before)
        return min(times)

    return measure


@pytest.fixture
def only_fakes(local_site: FakeSite, forked: Any, monkeypatch: pytest.MonkeyPatch) -> FakeSite:
    """Fake plugins as `corekit doctor` sees them when nothing else is installed, and processes that start at once."""

    def run(command: list[str], *, timeout: float, **_: object) -> subprocess.CompletedProcess[str]:
        module, *arguments = command[command.index("-m") + 1 :]
        place, environment = local_site.folder, dict(os.environ)
        return forked.run(*arguments, module=module, folder=place, environment=environment, timeout=timeout)

    asked = SimpleNamespace(run=run, DEVNULL=subprocess.DEVNULL, TimeoutExpired=subprocess.TimeoutExpired)
    monkeypatch.setattr(checkup, "subprocess", asked)
    monkeypatch.setenv("PYTHONPATH", str(local_site.folder))
    rows = lambda: tuple(row for row in discover() if row.distribution.startswith("fake-"))  # noqa: E731
    monkeypatch.setattr(checkup, "discover", rows)
    # not that of the whole process, which finds hooks once and keeps them
    monkeypatch.setattr(checkup, "entry_points", lambda _: ())
    return local_site
