"""An active run in one process, a viewer in another, and a client of the viewer."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from .viser_client import Client

SCENARIO = """
format = "corekit-scenario/1"
name = "falling"
time = { duration = 1e6, step = 1e-4 }
world = { gravity = [0.0, 0.0, -0.01], obstacles = [{ name = "floor", shape = "half-space", friction = 0.5 }] }
output = { every = 0.01 }

[[bodies]]
name = "ball"
use = "reference-point-chain"
options = { masses = [1.0], positions = [[0.0, 0.0, 100.0]], shape = "sphere", radius = 0.1 }

[contact]
detector = "reference-detector"
solver = "reference-gauss-seidel"

[integrator]
use = "reference-semi-implicit-euler"
"""


@pytest.fixture
def start(tmp_path):
    """Start `corekit ...` with Ctrl-C enabled also for background tests; kill it at the end."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    (tmp_path / "falling.toml").write_text(SCENARIO)
    started = []

    def begin(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "corekit.cli", *arguments], cwd=tmp_path, text=True,
            env={**os.environ, "NO_COLOR": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        started.append(process)
        return process

    yield begin
    signal.signal(signal.SIGINT, usual)
    for process in started:
        process.kill()
        process.communicate()


def test_an_active_run_is_visible_until_its_end(start, tmp_path):
    run = start("run", "falling.toml", "--out", "here", "--quiet")
    folder = Path(tmp_path, "here")
    while not (folder / "STATUS").is_file():
        assert run.poll() is None, run.stdout.read()
        time.sleep(5e-3)
    view = start("view", "here", "--port", "0")
    said = view.stdout.readline()
    found = re.search(r"falling, running: (http://127\.0\.0\.1:\d+) ", said)
    assert found, said
    with Client(found.group(1)) as client:

        def height():
            raw = client.nodes["/bodies/0/sphere"]["batched_positions"]
            return float(np.frombuffer(raw, dtype=np.float32)[2])

        def shown():
            """Return the shown time and the time of the newest record [s]."""
            return [float(t) for t in re.findall(r"t = (\S+) s\*\* of (\S+) s", client.text())[0]]

        def agrees():
            # free fall at the instant of the panel, which has four digits
            t = shown()[0]
            return abs(height() - (100.0 - 0.5 * 0.01 * t**2)) < 0.01 * t * (1e-3 * t + 1e-4) + 1e-4

        assert client.wait(lambda: shown()[0] > 0.0, 300)
        first = shown()[1]
        assert client.wait(lambda: shown()[0] > first + 0.05, 300)
        assert client.wait(agrees)
        run.send_signal(signal.SIGINT)
        run.wait(300)
        assert client.wait(lambda: "interrupted" in client.text(), 300)
        assert client.wait(lambda: shown()[0] == shown()[1])
        assert client.wait(agrees)
    view.send_signal(signal.SIGINT)
    assert view.wait(300) == 0
    assert "Traceback" not in view.stdout.read()
