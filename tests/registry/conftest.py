"""Fake plugins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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
