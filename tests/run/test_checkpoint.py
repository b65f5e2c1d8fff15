"""A killed run goes on to the same end, bit for bit, and says so where it cannot."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import h5py
import numpy as np
import pytest

from corekit.errors import PluginError, ResultsError
from corekit.run.checkpoint import Checkpoint, newest_checkpoint, read_checkpoint
from corekit.run.execute import execute, replay, resume
from corekit.run.folder import read_status
from corekit.run.results import Results
from corekit.run.runnable import Runnable
from corekit.run.simulation import Simulation
from corekit.scenario.load import load, loads

STEPS = 120
SETTING = ("time.duration=0.12", "bodies.ball.initial.velocity=[1.0, 0.5, -4.0]", "output.every=0.002")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch, tiny):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def often(monkeypatch):
    """Checkpoints after every step, however slow they are."""
    write_often(monkeypatch, 0.0)


@pytest.fixture
def now_and_then(monkeypatch):
    """Checkpoints every few steps."""
    write_often(monkeypatch, 15e-3)


def write_often(patch: pytest.MonkeyPatch, every: float) -> None:
    patch.setattr("corekit.run.checkpoint._EVERY", every)
    patch.setattr("corekit.run.checkpoint._SHARE", 1e9)


def arrays(folder: Path) -> dict[str, Any]:
    """Every array of a results file and of its end state."""
    found: dict[str, Any] = {}

    def take(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and not name.endswith("_REFERENCE_LIST"):
            found[name] = item[()]

    with h5py.File(folder / "results.nc") as file:
        file.visititems(take)
        found["statistics"] = file.attrs["statistics"]
    (last,) = folder.glob("checkpoint-*.npz")
    end = read_checkpoint(last)
    return {**found, **{f"end/{name}": array for name, array in {**end.memory, **end.run}.items()}}


def bits(value: Any) -> object:
    """Equal for equal arrays, nan included, and unequal for −0 and 0."""
    array = np.asarray(value)
    return array.tolist() if array.dtype.hasobject else (array.dtype.str, array.shape, array.tobytes())


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert bits(value) == bits(other[name]), name


@pytest.fixture(scope="module")
def made(tmp_path_factory, tiny_site) -> Iterator[Path]:
    """A folder with a run that nothing interrupted, without checkpoints inside it, and one that was killed."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        site, text = tiny_site
        patch.syspath_prepend(str(site))
        patch.chdir(folder)
        Path("tiny.toml").write_text(text)
        load("tiny.toml", SETTING).run(directory="whole")
        write_often(patch, 5e-3)
        cut_short(load("tiny.toml", (*SETTING, "integrator.options.nap=0.001")))
        yield folder


@pytest.fixture
def whole(made, scenario_file) -> tuple[Any, dict[str, Any]]:
    """The scenario, and what it gives when nothing interrupts it."""
    return load(scenario_file, SETTING), arrays(made / "whole")


def started(scenario: Any, folder: str) -> int:
    """The scenario in a process of its own."""
    child = os.fork()
    if child == 0:
        try:
            scenario.run(directory=folder)
        finally:
            os._exit(0)
    return child


def reached(folder: Path) -> int:
    """The step of the newest checkpoint, −1 before the first."""
    return max((int(path.stem.partition("-")[2]) for path in folder.glob("checkpoint-*.npz")), default=-1)


def killed(child: int) -> bool:
    """Kill -9; whether it was still running."""
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def wait_for(what: Callable[[], bool]) -> None:
    begun = time.perf_counter()
    while not what():
        assert time.perf_counter() - begun < 60.0
        time.sleep(5e-4)


@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
@pytest.mark.parametrize("seed", range(4))
def test_runs_killed_at_random_instants_resume_to_the_same_end(whole, scenario_file, now_and_then, seed):
    """Five a seed: one while it starts, four under way, in steps, publications and checkpoints alike."""
    _, expected = whole
    slow = load(scenario_file, (*SETTING, "integrator.options.nap=0.0005"))
    draw = random.Random(seed)
    were_killed = went_on = 0
    for k in range(5):
        folder = Path(f"run-{k}")
        child = started(slow, str(folder))
        wait_for((folder / "resolved.toml").exists)
        if k:
            instant = draw.uniform(0, 0.8 * STEPS)
            wait_for(lambda folder=folder, instant=instant: reached(folder) >= instant)
        time.sleep(draw.uniform(0.0, 0.02))
        were_killed += killed(child)
        found, _ = newest_checkpoint(folder)
        before = np.zeros(0) if found is None else Results(folder).time
        if found is not None:
            went_on += 0 < found.step < STEPS
            assert len(before) >= found.run["recorder/time_length"]
        if read_status(folder).word == "finished":
            continue
        results = resume(folder)
        assert results.status == "finished"
        assert np.array_equal(results.time[: len(before)], before)
        assert_same(arrays(folder), expected)
        assert not list(folder.glob(".*"))
    assert were_killed >= 4
    assert went_on >= 3


def test_where_checkpoints_fall_changes_nothing(whole, often):
    scenario, expected = whole
    results = scenario.run(directory="often")
    assert_same(arrays(results.path), expected)


def test_a_run_that_was_stopped_goes_on_from_the_very_step(whole, ctrl_c):
    scenario, expected = whole
    stopped: list[int] = []

    class Stopped:
        """The scenario, its user pressing Ctrl-C at step 57."""

        def __getattr__(self, name):
            return getattr(scenario, name)

        def compose(self):
            simulation = scenario.compose()

            def press(simulation, _report):
                if simulation.step_index == 57 and not stopped:
                    stopped.append(57)
                    ctrl_c()

            simulation.observe(press)
            return simulation

    with pytest.raises(KeyboardInterrupt) as caught:
        execute(cast("Runnable", Stopped()), directory="stopped")
    assert caught.value.__notes__[-1] == "To go on: corekit run --resume stopped"
    found, _ = newest_checkpoint(Path("stopped"))
    assert found is not None
    assert found.step == 58
    results = resume("stopped")
    assert_same(arrays(results.path), expected)
    assert [event["event"] for event in results.events] == ["composed", "interrupted", "resumed", "finished"]


def test_two_checkpoints_are_kept_while_running_and_the_end_state_after(whole, often):
    scenario, _ = whole
    seen: list[int] = []

    class Watched:
        def __getattr__(self, name):
            return getattr(scenario, name)

        def compose(self):
            simulation = scenario.compose()
            simulation.observe(lambda *_: seen.append(len(list(Path("watched").glob("checkpoint-*.npz")))))
            return simulation

    results = execute(cast("Runnable", Watched()), directory="watched")
    assert set(seen) == {1, 2}
    (last,) = results.path.glob("checkpoint-*.npz")
    assert last.name == "checkpoint-000000000120.npz"
    assert read_checkpoint(last).time == pytest.approx(0.12)


@pytest.mark.parametrize("integrator", ["reference-semi-implicit-euler", "reference-implicit-euler"])
@pytest.mark.parametrize("solver", ["reference-gauss-seidel", "reference-penalty"])
def test_taking_over_ones_own_memory_after_every_step_changes_nothing(integrator, solver):
    """A chain of springs and rods that falls on a floor, with an input that has kinks between steps."""
    text = f"""
    format = "corekit-scenario/1"
    name = "chain"
    time = {{ duration = 0.1, step = 2e-3 }}
    output = {{ every = 0.02 }}
    contact = {{ detector = "reference-detector", solver = "{solver}", friction = 0.4 }}
    integrator = {{ use = "{integrator}" }}
    [[world.obstacles]]
    name = "floor"
    shape = "half-space"
    position = {{ kind = "sine", amplitude = [0.0, 0.0, 0.01], frequency = 3.0 }}
    [[bodies]]
    name = "chain"
    use = "reference-point-chain"
    [bodies.options]
    masses = [1.0, 0.5, 0.7]
    positions = [[0.0, 0.0, 0.3], [0.3, 0.0, 0.2], [0.6, 0.05, 0.11]]
    velocities = [[0.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.4, 0.6, -0.5]]
    links = ["none", "spring", "rod"]
    shape = "sphere"
    [[bodies.inputs]]
    channel = "pull"
    signal = {{ kind = "ramp", from = 0.0512, to = 0.0733, value = [1.0, -2.0, 0.5] }}
    """
    scenario = loads(text)
    ends: list[list[bytes]] = []
    for again in (False, True):
        simulation: Simulation = scenario.compose()
        states: list[bytes] = []
        while simulation.step_index < 40:
            simulation.step()
            states.append(simulation.contacts().normal_impulse.tobytes() + simulation.state.q.tobytes())
            if again:
                simulation.remember(simulation.memory())
        ends.append(states)
    assert simulation.report.solve.status.solved
    assert ends[0] == ends[1]


# — what cannot be resumed —


def cut_short(scenario: Any) -> None:
    """A run into `cut` that is killed at its first checkpoint beyond step 50."""
    child = started(scenario, "cut")
    wait_for(lambda: reached(Path("cut")) > 50)
    assert killed(child)


@pytest.fixture
def cut(made) -> Path:
    """A copy of the killed run."""
    return Path(shutil.copytree(made / "cut", "cut"))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_finished_run_says_so(made):
    before = contents(made / "whole")
    with pytest.raises(ResultsError, match="whole has finished: there is nothing to go on with"):
        resume(made / "whole")
    assert contents(made / "whole") == before


def test_a_run_that_still_runs_is_left_alone(cut):
    (cut / "STATUS").write_text(f"running\nprocess {os.getppid()} on {os.uname().nodename}\n")
    with pytest.raises(ResultsError, match=r"still running: process \d+ on .*remove .*STATUS"):
        resume(cut)


def test_a_damaged_newest_checkpoint_is_passed_over_and_logged(cut, whole):
    newest, older = sorted(cut.glob("checkpoint-*.npz"), reverse=True)
    newest.write_bytes(newest.read_bytes()[:3000])
    results = resume(cut)
    (event,) = [event for event in results.events if event["event"] == "resumed"]
    assert event["step"] == int(older.stem.partition("-")[2])
    assert "is not a whole checkpoint" in event["passed_over"][0]
    assert_same(arrays(cut), whole[1])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not a whole checkpoint"),
        (b"time,q\n0,1\n", "is not a whole checkpoint"),
        (None, "is not a whole checkpoint"),
        ({"q": np.zeros(3)}, "has the format 'none'.*something else wrote it"),
        ({"format": np.array("corekit-checkpoint/9")}, "another version of corekit wrote it"),
        ({"format": np.array("corekit-checkpoint/1")}, "it lacks 'scenario'"),
        ({"format": np.array([{}], dtype=object)}, "is not a whole checkpoint"),
    ],
)
def test_checkpoints_that_are_not_whole_or_not_ours_are_one_error_and_nothing_is_lost(cut, content, words):
    for path in cut.glob("checkpoint-*.npz"):
        if isinstance(content, dict):
            np.savez(path, **content)
        else:
            path.write_bytes(path.read_bytes()[:-100] if content is None else content)
    before = contents(cut)
    with pytest.raises(ResultsError, match=rf"(?s)no checkpoint can be read:.*{words}"):
        resume(cut)
    assert contents(cut) == before


def test_a_flipped_bit_is_noticed(cut):
    path = max(cut.glob("checkpoint-*.npz"))
    data = bytearray(path.read_bytes())
    place = data.index(b"memory/v.npy") + 150
    data[place] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ResultsError, match="is not a whole checkpoint"):
        read_checkpoint(path)


def test_another_scenario_is_refused_with_the_paths_that_differ(cut, scenario_file):
    before = contents(cut)
    other = load(scenario_file, (*SETTING, "bodies.ball.options.mass=3.0", "time.step=5e-4"))
    with pytest.raises(ResultsError) as caught:
        resume(cut, other)
    assert str(caught.value).splitlines()[1:-1] == [
        "  bodies[0].options.mass: was 2.0, is 3.0",
        "  integrator.options.nap: was 0.001, is 0.0",
        "  time.step: was 0.001, is 0.0005",
    ]
    assert contents(cut) == before


def test_an_edited_resolved_file_is_refused_the_same_way(cut):
    text = (cut / "resolved.toml").read_text()
    (cut / "resolved.toml").write_text(text.replace("duration = 0.12", "duration = 0.4"))
    with pytest.raises(ResultsError, match=r"time\.duration: was 0\.12, is 0\.4"):
        resume(cut)


def test_other_versions_of_plugins_are_refused_by_name(cut, monkeypatch):
    found = {"corekit": "0.1.0", "plugins": {"tiny-plugin": "2.0"}}
    monkeypatch.setattr("corekit.run.runnable.versions_of", lambda _components: found)
    with pytest.raises(ResultsError, match=r"tiny-plugin: was 1\.0, is 2\.0"):
        resume(cut)


def test_results_of_another_version_of_the_format_are_refused(cut):
    with h5py.File(cut / "results.nc", "r+") as file:
        del file.attrs["format"]
        file.attrs["format"] = "corekit-results/9"
    before = contents(cut)
    with pytest.raises(ResultsError, match="another version of corekit wrote it"):
        resume(cut)
    assert contents(cut) == before


def test_results_that_hold_too_little_are_refused(cut, whole):
    other = load(cut / "resolved.toml", ["time.duration=0.002"]).run(directory="short")
    (cut / "results.nc").write_bytes(other.file.read_bytes())
    with pytest.raises(ResultsError, match=r"holds 2 records, the checkpoint belongs to \d+"):
        resume(cut)


def test_results_without_their_checkpoints_are_not_begun_anew(cut):
    for path in cut.glob("checkpoint-*.npz"):
        path.unlink()
    with pytest.raises(ResultsError, match=r"no checkpoint-\*\.npz to go on from"):
        resume(cut)


def test_a_folder_that_is_no_run_is_said_to_be_so(tmp_path):
    with pytest.raises(ResultsError, match="the folder is not there"):
        resume("nowhere")
    with pytest.raises(ResultsError, match=r"holds no resolved\.toml, so it is no run's folder"):
        resume(tmp_path)


# — disks —


def refuse(number: int, words: str) -> Any:
    def raise_it(*_arguments, **_options):
        raise OSError(number, words)

    return raise_it


def test_a_full_disk_at_a_checkpoint_is_one_error_and_the_run_goes_on_later(whole, often, monkeypatch):
    scenario, expected = whole
    real, calls = np.savez, []

    def fill(file, **named):
        calls.append(1)
        if len(calls) > 5:
            file.write(b"half of it")
            raise OSError(errno.ENOSPC, "No space left on device")
        real(file, **named)

    with monkeypatch.context() as patch:
        patch.setattr("corekit.run.checkpoint.np.savez", fill)
        with pytest.raises(
            ResultsError, match=r"cannot write .*checkpoint-.*No space left on device.*Make room"
        ):
            scenario.run(directory="full")
    assert Results("full").status == "failed"
    assert len(Results("full").time) >= 2
    assert len(list(Path("full").glob("*.npz"))) == 2
    assert not list(Path("full").glob(".*"))
    assert_same(arrays(resume("full").path), expected)


def test_a_full_disk_at_a_publication_is_one_error_and_the_run_goes_on_later(whole, often):
    scenario, expected = whole
    with pytest.MonkeyPatch.context() as patch:

        class Filled:
            def __getattr__(self, name):
                return getattr(scenario, name)

            def compose(self):
                simulation = scenario.compose()

                def fill(simulation, _report):
                    if simulation.step_index == 70:
                        what = refuse(errno.ENOSPC, "No space left on device")
                        patch.setattr("corekit.run.store.shutil.copyfileobj", what)

                simulation.observe(fill)
                return simulation

        with pytest.raises(ResultsError, match=r"cannot write full/results\.nc: No space left on device"):
            execute(cast("Runnable", Filled()), directory="full")
    assert reached(Path("full")) > 0
    assert not list(Path("full").glob(".*"))
    assert_same(arrays(resume("full").path), expected)


def test_a_read_only_run_folder_is_one_error_and_nothing_is_lost(cut, whole):
    before, usual = contents(cut), Path.open

    def only_read(path, mode="r", *arguments, **options):
        if "r" not in mode:
            raise OSError(errno.EROFS, "Read-only file system")
        return usual(path, mode, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", only_read)
        with pytest.raises(ResultsError, match=r"cannot write cut/STATUS: Read-only file system"):
            resume(cut)
    assert contents(cut) == before
    assert_same(arrays(resume(cut).path), whole[1])


def test_a_memory_that_is_not_made_of_arrays_is_refused_by_name(tmp_path):
    memory = {"step_index": np.array(1), "solver/history": np.array([{}], dtype=object)}
    made = Checkpoint("name = 'x'", {}, memory, {})
    with pytest.raises(PluginError, match=r"'solver/history' is remembered as object"):
        made.write(tmp_path / "checkpoint-1.npz")
    assert not list(tmp_path.glob("*.npz"))


# — the command line —


def test_the_command_line_resumes_a_killed_run(cut, shell, whole):
    told = shell.corekit("run", "--resume", str(cut))
    assert told.returncode == 0, told.stderr
    assert "120, 61 records" in told.stdout
    assert_same(arrays(cut), whole[1])
    told = shell.corekit("run", "--resume", str(cut))
    assert told.returncode == 2
    assert "has finished: there is nothing to go on with" in told.stderr
    assert "Traceback" not in told.stderr
    told = shell.corekit("run", "--resume", str(cut), "--out", "elsewhere")
    assert told.returncode == 2
    assert "--out does not go with --resume" in told.stderr


def test_any_checkpoint_can_be_stepped_from(cut):
    report = replay(max(cut.glob("checkpoint-*.npz")))
    assert report.accepted
