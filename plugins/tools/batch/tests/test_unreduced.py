"""What a solver of unreduced steps gets of a body whose step matrix is of blocks, as no shipped one is."""

import numpy as np
import pytest

from corekit.linalg.matrices import BlockDiagonal
from corekit.scenario.load import load
from corekit_batch.layout import lay_out
from corekit_batch.surroundings import new_contact_work
from corekit_batch.tables import BLOCK, BODY_FIELDS, BY_BLOCKS, FIRST_MATRIX, METHOD, NV, STEP, STRIDE
from corekit_batch.unreduced_step import _write_band

pytest.importorskip("corekit_vine")
pytest.importorskip("corekit_qp")


@pytest.mark.parametrize("size", [1, 3, 6])
def test_blocks_are_written_as_the_lower_band_of_their_matrix(size):
    """A planar body of a stranger may have blocks: [j, d] of the band is A[j + d, j]."""
    simulation = load("vine/wall").compose()
    layout = lay_out(simulation)
    work, own = layout.new_work(), new_contact_work(simulation, 4, layout.around)
    row = layout.bodies.row.copy()
    assert len(row[0]) == len(BODY_FIELDS)
    row[0, METHOD], row[0, BLOCK] = BY_BLOCKS, size
    n, begin = int(row[0, NV]), int(row[0, FIRST_MATRIX] + STEP * row[0, STRIDE])
    matrix = BlockDiagonal(n // size, size)
    half = np.random.default_rng(1).normal(size=matrix.data.shape)
    matrix.data[:] = half + half.swapaxes(1, 2)
    work.matrix[begin : begin + n * size] = matrix.data.ravel()
    columns = _write_band(layout.bodies._replace(row=row), work, own)
    assert columns == size
    band, dense = own.band[: n * size].reshape(n, size), matrix.dense()
    for j in range(n):
        for d in range(size):
            assert band[j, d] == (dense[j + d, j] if j + d < n else 0.0)
