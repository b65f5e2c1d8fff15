"""Files and ranges that would hang or end in a traceback are answered by one clear mistake."""

from __future__ import annotations

import os
import random
import zipfile

import numpy as np
import pytest

from corekit.data.array_file import write_arrays
from corekit.errors import ConfigError, ResultsError
from corekit.roles.planner import Plan
from corekit_study.fit_file import load_fit
from corekit_study.new_folder import new_folder
from corekit_study.plan_file import load_plan_file
from corekit_study.plan_folder import read_warm_start, write_plan
from corekit_study.variants import spread, variants

LOADERS = [load_fit, load_plan_file]


@pytest.mark.parametrize("load_file", LOADERS)
def test_lists_nested_too_deeply_are_refused(load_file, tmp_path):
    file = tmp_path / "deep.toml"
    file.write_text("x = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(ConfigError, match="nested too deeply"):
        load_file(file)


@pytest.mark.parametrize("load_file", LOADERS)
def test_a_file_that_cannot_be_read_is_told_as_a_scenario_is(load_file, tmp_path):
    (tmp_path / "swing.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"swng.toml: found no such file; .*did you mean '.*swing.toml'"):
        load_file(tmp_path / "swng.toml")
    with pytest.raises(ConfigError, match=r"found a folder; must be a .* — it holds swing.toml"):
        load_file(tmp_path)
    with pytest.raises(ConfigError, match="found other bytes; must be a text file in UTF-8"):
        load_file(tmp_path / "swing.toml")
    (tmp_path / "swing.toml").write_text("a = 1\nb = \n")
    with pytest.raises(ConfigError, match=r"line 2, column \d+: found 'b ='; is not TOML"):
        load_file(tmp_path / "swing.toml")


@pytest.mark.parametrize("load_file", LOADERS)
def test_a_scenario_s_name_that_is_too_long_names_none(load_file, tmp_path):
    file = tmp_path / "long.toml"
    file.write_text(f'scenario = "{"a" * 5000}"')
    with pytest.raises(ConfigError, match="File name too long"):
        load_file(file)


@pytest.mark.parametrize("load_file", LOADERS)
@pytest.mark.parametrize("name", ["../elsewhere", "a/b", "", "a b", ".hidden"])
def test_a_name_that_cannot_be_part_of_a_folder_s_is_refused(load_file, name, tmp_path):
    file = tmp_path / "file.toml"
    file.write_text(f'name = "{name}"')
    with pytest.raises(ConfigError, match=r"name: found .*it names the run's folder"):
        load_file(file)


PLAN = Plan(
    time=np.linspace(0.0, 1.0, 5), bodies={}, warm_start={"x": np.ones((4, 3)), "names": np.array(["l", "v"])}
)


def test_what_a_plan_begins_from_is_read_back_and_nothing_else(tmp_path):
    write_plan(PLAN, tmp_path, "turn")
    found = read_warm_start(tmp_path)
    assert found.time.tolist() == PLAN.time.tolist()
    assert {name: array.tolist() for name, array in found.warm_start.items()} == {
        name: array.tolist() for name, array in PLAN.warm_start.items()
    }
    chance, file = random.Random(1), tmp_path / "memory.npz"
    whole, refused = file.read_bytes(), 0
    for _ in range(100):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        file.write_bytes(data[: chance.randrange(len(data))] if chance.random() < 0.2 else data)
        try:
            read_warm_start(tmp_path)
        except ResultsError as error:
            said = str(error)
            refused += "no plan to begin from: memory.npz cannot be read" in said and "pickle" not in said
    assert refused > 70


@pytest.mark.parametrize("time", [np.array(["a"]), np.zeros((2, 2)), np.zeros(0), np.array([np.nan]), None])
def test_a_plan_without_times_is_none_to_begin_from(time, tmp_path):
    write_arrays(tmp_path / "memory.npz", {"memory/x": np.ones(3)} | ({} if time is None else {"time": time}))
    with pytest.raises(ResultsError, match="it has no times"):
        read_warm_start(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_in_the_place_of_a_plan_is_not_waited_for(tmp_path):
    with pytest.raises(ResultsError, match=r"it has no memory\.npz"):
        read_warm_start(tmp_path)
    os.mkfifo(tmp_path / "memory.npz")
    with pytest.raises(ResultsError, match=r"memory\.npz cannot be read \(a pipe, which is not read\)"):
        read_warm_start(tmp_path)


def test_a_small_file_asks_for_no_more_memory_than_it_is_long(tmp_path):
    """Before it is looked at: this one would ask for 7.5 GB."""
    np.savez_compressed(tmp_path / "memory.npz", time=np.zeros(1))
    with zipfile.ZipFile(tmp_path / "memory.npz", "a") as archive, archive.open("x.npy", "w") as member:
        said = {"descr": "<f8", "fortran_order": False, "shape": (10**9,)}
        np.lib.format.write_array_header_1_0(member, said)
        member.write(bytes(80))
    with pytest.raises(ResultsError, match="its arrays are packed"):
        read_warm_start(tmp_path)


def test_a_file_in_the_place_of_a_folder_is_refused_and_gets_no_neighbour(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ResultsError, match="it is a file"):
        new_folder("study", tmp_path, tmp_path / "file")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_more_runs_than_folders_can_hold_are_refused_before_they_are_listed():
    with pytest.raises(ConfigError, match="at most 100000 values"):
        spread("time.step=1:2:1000000000")
    axis = ",".join(map(str, range(1000)))
    with pytest.raises(ConfigError, match="at most 100000 combinations"):
        variants([f"a={axis}", f"b={axis}", f"c={axis}"])


@pytest.mark.parametrize("load_file", LOADERS)
def test_another_file_of_ours_is_one_mistake(load_file, tmp_path):
    file = tmp_path / "arm.toml"
    file.write_text('format = "corekit-scenario/1"\n[time]\nduration = 1.0\n[integrator]\nuse = "rk23"\n')
    with pytest.raises(
        ConfigError, match=r"format: found 'corekit-scenario/1'; must be .*this is no (fit|plan) file"
    ) as caught:
        load_file(file)
    assert len(caught.value.mistakes) == 1
