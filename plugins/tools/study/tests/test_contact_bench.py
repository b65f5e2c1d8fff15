"""`corekit bench contact --files`: problems of FCLib as this test writes them, whose answer is known."""

import json
import os

import h5py
import numpy as np
import pytest
from scipy.sparse import coo_array

from corekit.cli import main
from corekit.errors import ConfigError
from corekit.registry.discover import discover
from corekit_study.contact_bench import measure_cone
from corekit_study.fclib import read_problem

MASS, MU = 2.0, 0.5
FREE = np.array([-1.0, 0.3, 0.0, -1.0, 3.0, 0.0])
"""Two point masses fall on a plane: one sticks, the other slides."""
ANSWER = MASS * np.array([1.0, -0.3, 0.0, 1.0, -MU, 0.0])


def write_matrix(group, matrix, kind):
    table = {-1: matrix.tocsc, -2: matrix.tocsr, 0: matrix.tocoo}[kind]()
    i, p = (table.row, table.col) if kind == 0 else (table.indices, table.indptr)
    nz = table.nnz if kind == 0 else kind
    for name, value in {"m": [matrix.shape[0]], "n": [matrix.shape[1]], "nz": [nz], "nzmax": [table.nnz],
                        "i": i, "p": p, "x": table.data}.items():  # fmt: skip
        group[name] = value


def write_local(path, kind=-1):
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = [3]
        write_matrix(group.create_group("W"), coo_array(np.eye(6) / MASS), kind)
        vectors = group.create_group("vectors")
        vectors["q"], vectors["mu"] = FREE, [MU, MU]


def write_global(path):
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_global")
        group["spacedim"] = [3]
        write_matrix(group.create_group("M"), coo_array(MASS * np.eye(6)), -1)
        write_matrix(group.create_group("H"), coo_array(np.eye(6)), 0)
        vectors = group.create_group("vectors")
        vectors["f"], vectors["w"], vectors["mu"] = MASS * FREE, np.zeros(6), [MU, MU]


@pytest.mark.parametrize("kind", [-1, -2, 0, None])
def test_a_problem_is_read_in_every_layout(tmp_path, kind):
    path = tmp_path / "two.hdf5"
    write_global(path) if kind is None else write_local(path, kind)
    problem = read_problem(path)
    np.testing.assert_allclose(problem.delassus(), np.eye(6) / MASS, rtol=1e-15)
    np.testing.assert_allclose(problem.free_velocity, FREE, rtol=1e-15)
    assert measure_cone(problem, ANSWER)[0] <= 1e-15
    # without impulses: (−1 + μ·0.3, 0.3) of the first mass lies in the cone, and its norm exceeds that of the other
    assert measure_cone(problem, np.zeros(6))[0] == pytest.approx(np.hypot(1.0 - 0.3 * MU, 0.3), rel=1e-14)


def test_every_installed_solver_is_judged_by_the_cone(tmp_path, capfd):
    write_local(tmp_path / "two.hdf5")
    assert main(["bench", "contact", "--files", str(tmp_path), "--json", str(tmp_path / "out.json")]) == 0
    found = {each["solver"]: each for each in json.loads((tmp_path / "out.json").read_text())}
    installed = {row.name for row in discover() if row.role == "contact_solvers" and row.usable}
    assert {"cone", "lcp", "qp"} & installed <= set(found)
    assert found["cone"]["outcome"] == "solved"
    assert all(each["outcome"] in ("solved", "declined", "other law") for each in found.values())
    (tmp_path / "broken.h5").write_bytes(b"no HDF5")
    assert main(["bench", "contact", "--files", str(tmp_path)]) != 0
    assert "broken.h5" in capfd.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_in_the_place_of_a_problem_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.hdf5")
    with pytest.raises(ConfigError, match="a pipe, which is not read"):
        read_problem(tmp_path / "pipe.hdf5")
