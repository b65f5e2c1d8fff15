"""A pytest plugin: `--rounding up` runs every test with results rounded up instead of to nearest; so `down`, `zero`.

Load it by `-p corekit_testing.directed_rounding`; `rounding_mode` says what the modes are for.
A test that hangs on the conversion of text, or on a library that fails in a mode, names its reason, and the modes
where it does not hold if these are not all three:

    @pytest.mark.to_nearest("np.loadtxt reads decimals")
    @pytest.mark.to_nearest("what overflows is the largest finite number", "down", "zero")
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from corekit_testing.rounding_mode import MODES, NEAREST, VARIABLE, enter, rounding_mode, set_rounding

__all__: list[str] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rounding", choices=sorted(MODES), help="round results of every test to one side")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "to_nearest(reason, *modes): the test is left out in directed rounding modes"
    )
    if config.option.rounding:
        config.pluginmanager.register(_Rounded(config.option.rounding), "corekit-rounded")


class _Rounded:
    """Sets the mode around each test and its fixtures: what pytest itself does in between is none of it."""

    def __init__(self, mode: str) -> None:
        self._mode, self._number = mode, MODES[mode]
        enter(mode)
        set_rounding(NEAREST)  # between tests; a process of pytest-xdist began in the mode

    def pytest_report_header(self) -> str:
        return f"rounding: {os.environ[VARIABLE]}"

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what only holds to nearest, and say why."""
        for item in items:
            if (mark := item.get_closest_marker("to_nearest")) is not None:
                reason, *modes = mark.args
                if self._mode in (modes or MODES):
                    item.add_marker(pytest.mark.skip(reason=f"not rounded {self._mode}: {reason}"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        with rounding_mode(self._number):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        with rounding_mode(self._number):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Iterator[None]:
        with rounding_mode(self._number):
            return (yield)
