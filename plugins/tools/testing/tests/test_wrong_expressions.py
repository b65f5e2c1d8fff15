"""Each wrong expression of a model breaks one promise, and exactly the checks of that promise fail."""

import pytest

from .defects import chain, failing, pendulum
from .expressions import PARAMETERS, ROWS, SYMBOLIC


@pytest.mark.parametrize(("expressions", "caught"), SYMBOLIC)
def test_expressions_are_held_against_the_numbers(expressions, caught):
    provides = pendulum().spec.provides | {"symbolic"}
    subject = pendulum(spec={"provides": provides}, symbolic=lambda _none, self: expressions(self))
    assert failing(subject) == set(caught)


@pytest.mark.parametrize(("expressions", "caught"), PARAMETERS)
def test_options_as_symbols_are_held_against_the_numbers(expressions, caught):
    provides = pendulum().spec.provides | {"symbolic", "symbolic-parameters"}
    subject = pendulum(spec={"provides": provides}, symbolic=lambda _none, self: expressions(self))
    assert failing(subject) == set(caught)


@pytest.mark.parametrize(("expressions", "caught"), ROWS)
def test_rows_as_expressions_are_held_against_the_numbers(expressions, caught):
    provides = chain().spec.provides | {"symbolic-constraints"}
    subject = chain(spec={"provides": provides}, symbolic=lambda _none, self: expressions(self))
    assert failing(subject) == set(caught)
