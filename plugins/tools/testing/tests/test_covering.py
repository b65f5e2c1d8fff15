"""A covering choice of cells holds every pair of values, and is small."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from corekit_testing.covering import covering_cells

TABLES = {
    "full": list(product("ab", "cd", range(10), range(10))),
    "with holes": [each for each in product("abcde", "fgh", range(9)) if each[1] != "f" or each[2] % 3],
    "two factors": list(product("abc", range(4))),
    "one factor": [(value,) for value in "abc"],
    "one cell": [("a", "b", "c")],
    "none": [],
}


def pairs(cells):
    """Of one value and its factor, where there is one factor alone."""
    return {pair for cell in cells for pair in combinations(enumerate(cell), min(2, len(cell)))}


@pytest.mark.parametrize("cells", TABLES.values(), ids=TABLES)
def test_every_pair_that_any_cell_holds_is_in_a_chosen_one(cells):
    chosen = covering_cells(cells)
    assert pairs(cells[number] for number in chosen) == pairs(cells)
    assert chosen == sorted(set(chosen))


def test_the_choice_hangs_on_the_order_of_the_cells_alone():
    """Not on the values' hashes, which differ from one process to the next."""

    class Value(str):
        """Equal to itself alone, with a hash that differs from one object to the next."""

        __slots__ = ()
        __eq__, __hash__ = object.__eq__, object.__hash__

    def renamed(cells):
        values = {value: Value(value) for cell in cells for value in cell}
        return [tuple(values[value] for value in cell) for cell in cells]

    cells = list(product("ab", "cd", "efghij", "klmnop"))
    assert covering_cells(renamed(cells)) == covering_cells(cells)


def test_a_table_of_four_factors_takes_little_more_than_its_two_largest():
    """No fewer than 10·10 can do; greedy choice promises no more than a logarithm above."""
    assert 100 <= len(covering_cells(TABLES["full"])) < 150
