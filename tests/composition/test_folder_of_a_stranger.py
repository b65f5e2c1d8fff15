"""Nothing that lies beside a scenario, or in the folder where a command is called, is imported.

In both there is a module of every name that Python could look for, of the standard library and of all that is
installed, and a distribution that offers hooks. Each module writes a line when it is imported; none may. Interpreters
write down how they were started, by a `sitecustomize` on PYTHONPATH, so that the tests know that there were helpers.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.metadata import packages_distributions
from multiprocessing import get_context
from pathlib import Path

import pytest

from corekit.cli import _verbs
from corekit.interpreters import python_command, safe_children

WORLD = """
format = "corekit-scenario/1"
name = "fall"
time = { duration = 0.01, step = 1e-3 }
output = { every = 0.005 }
integrator = { use = "semi-implicit-euler" }

[[bodies]]
name = "ball"
use = "rigid"
base = { position = [0.0, 0.0, 0.3] }
options = { size = [0.05], mass = 0.1 }
"""
PLAN = """
format = "corekit-plan/1"
name = "short-turn"
scenario = "turn.toml"
use = "ipopt-mpcc"

[options]
object = "ball"
friction = 0.6
directions = 4
target = { rotation = { axis = [0.0, 1.0, 0.0], angle = 0.15 } }
contacts = [{ body = "arm", frame = "section-1-tip" }]
horizon = { duration = 1.0, steps = 12 }
search = { batched = "never", stages = "kinematic" }

[replay]
start = { arm = "elongation" }
stiffness = 2000.0
damping = 100.0
"""
TURN = """
format = "corekit-scenario/1"
name = "short-arm-and-ball"
world = { gravity = [0.0, 0.0, 9.81] }
time = { duration = 1.0, step = 1e-3 }
output = { every = 0.05 }
integrator = { use = "semi-implicit-euler", options = { form = "linearly-implicit" } }

[[bodies]]
name = "arm"
use = "pcc"
options = { sections = 1, mass = 0.3, disks = 0, disk_radius = 0.05, base_disk = false }

[[bodies]]
name = "ball"
use = "rigid"
base = { position = [0.0, 0.0, 0.225] }
options = { size = [0.05], mass = 0.1, inertia = [1e-4, 1e-4, 1e-4], angular_damping = 1e-3, fixed_centre = true }

[contact]
detector = { use = "sdf" }
solver = { use = "lcp" }
friction = 0.6
"""
PLANTED = """import os
descriptor = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
os.write(descriptor, (__file__ + "\\n").encode())
"""
WATCHED = """import os, sys
if sys.argv != ["-c"] or True:
    descriptor = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    def tell(word):
        os.write(descriptor, (word + " " + " ".join(sys.orig_argv[1:]).replace("\\n", " ") + "\\n").encode())
    def note(event, arguments):
        if event == "import" and arguments[0] == "numba":
            tell("ready")
    tell("started")
    sys.addaudithook(note)
"""
VERBS = {
    # verb → words; `world.toml` lies beside the planted modules, `run` is what the first of them makes
    "run": ["world.toml", "--out", "run", "--picture"],
    "check": ["world.toml"],
    "info": ["run"],
    "list": [],
    "cite": ["run"],
    "render": ["nowhere", "-o", "again.png"],
    "export": ["nowhere", "-o", "again.vtkhdf"],
    "sweep": ["world.toml", "--vary", "world.gravity=[0,0,-1],[0,0,-2]", "--jobs", "2", "--out", "sweep"],
    "compare": ["world.toml", "--vary", "time.step=1e-3,5e-4", "--out", "compare"],
    "statics": ["cusp/inclined-box", "--set", "time.duration=never"],
    "modes": ["cusp/inclined-box", "--set", "time.duration=never"],
    "reproduce": [],
    "fit": ["world.toml"],
    "plan": ["plan.toml", "--set", "options.target=never"],
    "bench": ["--list"],
    "train": ["nowhere"],
    "optimise": ["nowhere"],
    "conform": ["models.rigid"],
    "new": ["model", "something", "--folder", "new"],
    "view": ["nowhere"],
    "doctor": [],
}
REFUSED = {"render", "export", "statics", "modes", "fit", "plan", "train", "optimise", "view"}
"""Verbs that here only read and refuse, with all that they import for it."""
ALL_OF_THEM = """import json, sys
from corekit.cli import main
if __name__ == "__main__":
    for words in json.loads(sys.argv[1]):
        print("answer", words[0], main(words), flush=True)
"""


class Trap:
    """A folder to call commands in, with modules of all names, and what was started and imported meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.here, self.beside = folder / "here", folder / "beside"
        self.imported, self._started = folder / "imported.log", folder / "started.log"
        names = {*sys.stdlib_module_names, *packages_distributions(), "hooks_of_a_stranger"}
        for place in (self.here, self.beside):
            place.mkdir()
            for name in names:
                if name.isidentifier():
                    (place / f"{name}.py").write_text(PLANTED.format(log=str(self.imported)))
            offer = place / "stranger-1.0.dist-info"
            offer.mkdir()
            (offer / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
            (offer / "entry_points.txt").write_text("[corekit.hooks]\nstranger = hooks_of_a_stranger\n")
            for name, text in (("world.toml", WORLD), ("plan.toml", PLAN), ("turn.toml", TURN)):
                (place / name).write_text(text, encoding="utf-8")
        watch = folder / "watch"
        watch.mkdir()
        (watch / "sitecustomize.py").write_text(WATCHED.format(log=str(self._started)))
        self.environment = {
            **os.environ, "PYTHONPATH": str(watch), "COREKIT_PROCESSES": "2", "NO_COLOR": "1", "COLUMNS": "200",
        }  # fmt: skip
        self.environment.pop("PYTHONSAFEPATH", None)

    def told(self, word: str, command: str) -> int:
        """How many interpreters with these words among their arguments were started, or are ready."""
        lines = self._started.read_text().splitlines() if self._started.exists() else []
        return sum(line.startswith(word) and command in line for line in lines)

    def expect_untouched(self) -> None:
        found = self.imported.read_text().splitlines() if self.imported.exists() else []
        assert not found, f"{len(found)} modules of a stranger were imported: {found[:3]}"


@pytest.fixture
def trap(tmp_path):
    return Trap(tmp_path)


def corekit() -> str:
    """The command as it is installed: its own folder, and not the working one, is the first that it searches."""
    return str(Path(sys.executable).with_name("corekit"))


def test_every_verb_is_called_below():
    assert set(VERBS) == set(_verbs()[0])


def test_no_verb_imports_what_lies_in_the_working_folder(trap, tmp_path):
    program = tmp_path / "programs" / "all_of_them.py"  # as `corekit` is: a file in a folder of programs
    program.parent.mkdir()
    program.write_text(ALL_OF_THEM)
    words = json.dumps([[verb, *more] for verb, more in VERBS.items()])
    done = subprocess.run(
        [sys.executable, str(program), words], cwd=trap.here, env=trap.environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    trap.expect_untouched()
    answers = {
        line.split()[1]: int(line.split()[2])
        for line in done.stdout.splitlines()
        if line.startswith("answer ")
    }
    assert answers == {verb: 2 if verb in REFUSED else 0 for verb in VERBS}, done.stderr
    assert trap.told("started", "corekit_inspect.checkup") >= 1
    assert trap.told("started", "multiprocessing.spawn") >= 1  # who draws
    if sys.platform == "linux":
        assert trap.told("started", "multiprocessing.forkserver") >= 1  # from whom the sweep forks
    assert trap.told("started", "multiprocessing.resource_tracker") >= 1
    assert trap.told("started", "importlib.import_module") >= 1  # the light spec, of `conform`


@pytest.mark.skipif(os.name != "posix", reason="ends a process by SIGTERM")
@pytest.mark.parametrize(("verb", "file"), [("run", "world.toml"), ("plan", "plan.toml")])
def test_who_helps_to_compile_imports_nothing_of_a_stranger(trap, tmp_path, verb, file):
    if verb == "plan":
        pytest.importorskip("casadi", reason="planning needs casadi")
    environment = {**trap.environment, "COREKIT_CACHE": str(tmp_path / "cold")}
    with subprocess.Popen([corekit(), verb, f"../beside/{file}"], cwd=trap.here, env=environment) as running:
        deadline = time.monotonic() + 120.0
        # what it needs of the standard library is imported before numba
        while not trap.told("ready", "corekit_run.warm_up") and time.monotonic() < deadline:
            assert running.poll() is None, "it ended before anybody helped"
            time.sleep(0.05)
        running.send_signal(signal.SIGTERM)
    assert trap.told("ready", "corekit_run.warm_up") == 1
    trap.expect_untouched()


def test_a_child_begins_without_the_working_folder_and_leaves_the_environment(trap, monkeypatch):
    monkeypatch.chdir(trap.here)
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    with safe_children(), safe_children():
        process = get_context("spawn").Process(target=os._exit, args=(7,))
        process.start()
    process.join(60.0)
    assert process.exitcode == 7
    assert os.environ["PYTHONSAFEPATH"] == ""
    trap.expect_untouched()


def test_an_interpreter_hands_on_that_it_searches_no_working_folder(trap):
    code = "import sys, subprocess; from corekit.interpreters import python_command\n"
    code += "print(subprocess.check_output(python_command('-c', 'import json, sys; print(sys.path[0])'), text=True))"
    done = subprocess.run(
        python_command("-c", code),
        cwd=trap.here,
        env=trap.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    # PYTHONPATH stays first
    assert done.stdout.strip() == trap.environment["PYTHONPATH"]
    trap.expect_untouched()


def test_a_program_finds_what_lies_beside_it(trap, tmp_path):
    (tmp_path / "program.py").write_text("import neighbour\n")
    (tmp_path / "neighbour.py").write_text("print('found')\n")
    done = subprocess.run(
        python_command(str(tmp_path / "program.py")),
        cwd=trap.here,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "found\n"
    trap.expect_untouched()
