"""Clusters by their words: folders come back, what a worker lacks or a wrong address is said in one sentence."""

from __future__ import annotations

import json
import os
import re
import socket
import stat
import subprocess
import sys

import dask
import pytest

import corekit
from corekit.cli import MISUSE, main
from corekit.errors import ExtraNotInstalled, PluginError
from corekit_dask.clusters import open_slurm
from corekit_study.compare import compare
from corekit_study.journal import OUTCOMES
from corekit_study.sweep import resume, sweep


def test_folders_of_runs_come_back_from_a_scheduler_that_runs_already(address, tmp_path, scenario_file):
    vary = ["time.duration=0.04,0.08,-1"]
    with pytest.raises(Exception, match="duration"):
        sweep(scenario_file, vary, (), tmp_path / "wrong", scheduler=address)
    vary = ["time.duration=0.04,0.08"]
    far = sweep(scenario_file, vary, (), tmp_path / "far", scheduler=address)
    near = sweep(scenario_file, vary, (), tmp_path / "near", workers=0)
    for mine, other in zip(far.points, near.points, strict=True):
        assert mine.forces == other.forces
        assert corekit.Results(mine.folder).q.tolist() == corekit.Results(other.folder).q.tolist()
        assert {path.name for path in mine.folder.iterdir()} == {path.name for path in other.folder.iterdir()}


def test_a_sweep_goes_on_over_a_cluster_and_makes_what_is_missing_alone(address, tmp_path, scenario_file):
    folder = sweep(
        scenario_file, ["time.duration=0.04,0.08"], (), tmp_path / "s", workers=0, keep="table"
    ).folder
    first, _ = (folder / OUTCOMES).read_text().splitlines()
    (folder / OUTCOMES).write_text(json.dumps({**json.loads(first), "wall_s": -1.0}) + "\n")
    again = resume(folder, scheduler=address)
    assert again.points[0].metrics["wall_s"] == -1.0
    assert again.points[1].metrics["steps"] == 40


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        ({"corekit-kernel": "0.9.0"}, r"has corekit-kernel 0\.2\.0, not 0\.9\.0: install there"),
        ({"corekit-pcc2": "0.2.0"}, "has no corekit-pcc2: install there"),
    ],
)
def test_a_worker_of_another_version_or_without_a_plugin_ends_the_command_in_a_sentence(
    needs, said, address, tmp_path, scenario_file, monkeypatch
):
    monkeypatch.setattr("corekit_study.batch.needs_of", lambda _scenario=None: needs)
    with pytest.raises(PluginError, match=rf"the worker on \S+ {said}") as caught:
        sweep(scenario_file, ["time.duration=0.04,0.08"], (), tmp_path / "s", scheduler=address)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "s" / OUTCOMES).exists()


def test_a_plugin_that_is_needed_is_one_of_the_scenario(tmp_path, scenario_file):
    from corekit.scenario.load import load
    from corekit_study.needs import needs_of

    needs = needs_of(load(scenario_file))
    assert {"corekit-kernel", "corekit-study", "corekit-run", "corekit-record", "corekit-testing"} <= set(
        needs
    )
    assert "corekit-pcc" not in needs


def test_a_comparison_over_a_cluster_is_that_of_one_after_the_other(address, tmp_path, scenario_file):
    """Folders of the runs come back; a combination that cannot work keeps its row."""
    vary = ["time.step=2e-3,1e-3,-1.0"]
    far = compare(scenario_file, vary, (), tmp_path / "far", scheduler=address)
    near = compare(scenario_file, vary, (), tmp_path / "near")
    assert [row.status for row in far.rows] == ["finished", "finished", "refused"]
    for mine, other in zip(far.rows[:2], near.rows[:2], strict=True):
        assert mine.metrics is not None
        assert other.metrics is not None
        assert mine.metrics.contact_impulse == other.metrics.contact_impulse
        assert mine.metrics.tip_difference == other.metrics.tip_difference
        assert mine.folder is not None
        assert other.folder is not None
        assert mine.folder == tmp_path / "far" / other.folder.name
        assert (mine.folder / "results.nc").is_file()
    assert far.rows[2].reason == near.rows[2].reason


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (
            "tcp://127.0.0.1:{port}",
            r"no scheduler of Dask answers at tcp://127\.0\.0\.1:\d+ .*: start one there by",
        ),
        ("tcp://127.0.0.1", r"--scheduler: found 'tcp://127\.0\.0\.1'; must be tcp://HOST:PORT"),
        ("tcp://:8786", "must be tcp://HOST:PORT"),
        ("tcp://127.0.0.1:port", "must be tcp://HOST:PORT"),
        ("udp://127.0.0.1:8786", "must be processes or local or tcp://HOST:PORT or"),
    ],
)
def test_a_wrong_address_is_misuse_in_a_sentence(word, said, tmp_path, scenario_file, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("corekit_dask.clusters._CONNECT", 2.0)
    words = [
        "sweep",
        str(scenario_file),
        "--vary",
        "time.duration=0.02,0.04",
        "--out",
        "s",
        "--quiet",
        "--scheduler",
    ]
    assert main([*words, word.format(port=free_port())]) == MISUSE
    err = capsys.readouterr().err
    assert re.search(said, err), err
    assert "Traceback" not in err


def test_the_workers_of_an_address_are_not_counted_here(
    address, tmp_path, scenario_file, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    words = ["sweep", str(scenario_file), "--vary", "time.duration=0.02,0.04", "--out", "s", "--quiet"]
    assert main([*words, "--scheduler", address, "--jobs", "3"]) == MISUSE
    assert "has as many workers as were started for it, leave --jobs out" in capsys.readouterr().err


SBATCH = """#!{python}
import os, subprocess, sys
subprocess.Popen(["sh", sys.argv[-1]], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print("Submitted batch job 1")
"""


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands for SLURM")
def test_jobs_of_slurm_make_the_runs(tmp_path, scenario_file, monkeypatch):
    """In the place of SLURM stands a program that begins a job at once."""
    for name, text in (("sbatch", SBATCH), ("scancel", "#!{python}\n")):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.format(python=sys.executable))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(Exception, match="--jobs"), open_slurm("slurm", None):
        pass  # the package is imported: this fills the configuration in, which must last longer than the block below
    slurm = {
        "cores": 1,
        "memory": "2GB",
        "processes": 1,
        "death-timeout": 600,  # on a busy machine a job begins late
        "local-directory": str(tmp_path),
    }
    slurm |= {"interface": "lo", "log-directory": str(tmp_path)}
    with dask.config.set({f"jobqueue.slurm.{name}": value for name, value in slurm.items()}):
        found = sweep(
            scenario_file,
            ["time.duration=0.02,0.04,0.06"],
            (),
            tmp_path / "s",
            workers=1,
            scheduler="slurm",
            keep="table",
        )
    assert [point.metrics["steps"] for point in found.points] == [10, 20, 30]


def test_ctrl_c_stays_with_the_command_that_asks_for_slurm():
    """In a process of its own, which imports the package first."""
    text = """
import signal
from corekit.errors import ConfigError
from corekit_dask.clusters import open_slurm
try:
    with open_slurm("slurm", None):
        pass
except ConfigError:
    print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""
    child = subprocess.run(
        [sys.executable, "-c", "import signal; signal.signal(2, signal.default_int_handler)" + text],
        capture_output=True,
        text=True,
        check=True,
    )
    assert child.stdout.split() == ["True"]


def test_slurm_without_a_size_of_jobs_or_their_number_says_what_to_set(monkeypatch):
    with (
        pytest.raises(PluginError, match=r"set cores, memory .* under jobqueue\.slurm"),
        open_slurm("slurm", 2),
    ):
        pass
    with pytest.raises(Exception, match=r"--jobs: .*so many jobs are handed in"), open_slurm("slurm", None):
        pass
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    with (
        pytest.raises(ExtraNotInstalled, match=r"pip install 'corekit-dask\[slurm\]'"),
        open_slurm("slurm", 2),
    ):
        pass
