"""Files of arrays that are damaged are told from whole ones."""

import zipfile

import numpy as np
import pytest

from corekit_run.array_file import NOT_READABLE, read_arrays


def test_a_flipped_bit_that_asks_for_a_password_is_damage(tmp_path):
    path = tmp_path / "arrays.npz"
    np.savez(path, q=np.arange(3.0))
    assert read_arrays(path)["q"].tolist() == [0.0, 1.0, 2.0]
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1  # the flags of the first entry of the directory
    path.write_bytes(data)
    assert zipfile.ZipFile(path).infolist()[0].flag_bits & 1
    with pytest.raises(NOT_READABLE, match="encrypted"):
        read_arrays(path)
