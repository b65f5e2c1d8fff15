"""Property tests on examples drawn at random, for as long as wanted.

    python tools/fuzz.py                               five minutes, every test that draws examples
    python tools/fuzz.py --minutes 60 plugins/contact/sdf

`make test` draws the same examples in every run. Here each round has a seed of its own; what fails is printed at once
with its seed and the command that repeats it, stands with its example in build/fuzz/SEED.log, and is left out of later
rounds.
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["drawing_tests", "main", "one_round"]

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("plugins", "scenarios/tests", "tests")
_NONE_LEFT = 5
"""pytest's code where no test was left to run."""
_WITHOUT = "COREKIT_FUZZ_WITHOUT"
"""The environment variable with the tests to leave out, a line each."""
_FAILED = re.compile(r"(?:^|\s)(\S+\.py::.+?) FAILED|FAILED (\S+\.py::.+?)\s*$")


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave out tests by their whole names: pytest's own --deselect takes those that begin so, too."""
    without = set(os.environ.get(_WITHOUT, "").splitlines())
    config.hook.pytest_deselected(items=[each for each in items if each.nodeid in without])
    items[:] = [each for each in items if each.nodeid not in without]


def drawing_tests(places: Sequence[str]) -> list[str]:
    """Test files under the places that draw examples."""
    found: list[Path] = []
    for place in map(Path, places):
        # a test of a file is named by file::test
        file = Path(str(place).partition("::")[0])
        files = sorted(file.rglob("test_*.py")) if file.is_dir() else [file]
        found += [
            place if file == each else each for each in files if "hypothesis" in each.read_text("utf-8")
        ]
    return [str(path) for path in found]


def one_round(
    tests: Sequence[str], without: Sequence[str], seed: int, seconds: float, log: Path
) -> tuple[list[str], int]:
    """Run tests that draw with one seed until the time is over; which failed, and the code pytest ended with."""
    options = ["--verbose", "--tb=short", "--hypothesis-profile=random", f"--hypothesis-seed={seed}"]
    options += ["-m", "hypothesis", "-p", "no:cacheprovider", "--color=no"]
    options += ["-p", "fuzz"]  # this file, for `pytest_collection_modifyitems`
    path = os.pathsep.join(filter(None, (str(Path(__file__).parent), os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "pytest", *options, *tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": path, _WITHOUT: "\n".join(without)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
    )  # fmt: skip
    # an interrupted pytest still says what failed and why
    stop = signal.SIGINT if os.name == "posix" else signal.SIGTERM
    clock = threading.Timer(max(seconds, 0.0), process.send_signal, (stop,))
    clock.start()
    failed: list[str] = []
    assert process.stdout is not None
    with log.open("w", encoding="utf-8") as file:
        for line in process.stdout:
            file.write(line)
            # verbose lines come first, the summary repeats them
            if (match := _FAILED.search(line)) and (name := match[1] or match[2]).partition(" - ")[
                0
            ] not in failed:
                failed.append(name.partition(" - ")[0])
                print(f"failed with seed {seed}: {failed[-1]}", flush=True)
                print(f"  again: {again(failed[-1], seed)}", flush=True)
    code = process.wait()
    finished = clock.is_alive()
    clock.cancel()
    # 0: all passed, 1: some failed, 2: interrupted, 5: none left
    if code not in ((0, 1, _NONE_LEFT) if finished else (0, 1, 2, -signal.SIGINT, -signal.SIGTERM)):
        raise SystemExit(f"pytest ended with code {code}; {log} says why")
    return failed, code if finished else 2


def again(name: str, seed: int) -> str:
    """The command that repeats a failure."""
    python = (
        os.path.relpath(sys.executable, ROOT) if Path(sys.executable).is_relative_to(ROOT) else sys.executable
    )
    return f"{python} -m pytest '{name}' --hypothesis-profile=random --hypothesis-seed={seed}"


def main(arguments: Sequence[str]) -> int:
    """Draw until the time is over; 1 if any test failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="for how long (default: 5)")
    parser.add_argument(
        "--seed", type=int, help="of the first round; the next ones count on (default: random)"
    )
    parser.add_argument("places", nargs="*", help="files or folders of tests (default: all)")
    chosen = parser.parse_args(arguments)
    if not chosen.minutes > 0:
        parser.error("--minutes must be above 0")
    places = chosen.places or [str(ROOT / place) for place in TESTS]
    if missing := [place for place in places if not Path(place.partition("::")[0]).exists()]:
        parser.error(f"there is no {', '.join(missing)}")
    tests = drawing_tests(places)
    if not tests:
        parser.error("none of these tests draws examples")
    folder = ROOT / "build" / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60.0 * chosen.minutes
    seed = secrets.randbelow(2**32) if chosen.seed is None else chosen.seed
    rounds = 0
    failures: list[str] = []
    while (left := end - time.monotonic()) > 0:
        print(f"round {rounds + 1}, seed {seed}", flush=True)
        failed, code = one_round(tests, failures, seed, left, folder / f"{seed}.log")
        failures += failed
        if failed:
            print(f"  examples: {folder / f'{seed}.log'}", flush=True)
        else:
            (folder / f"{seed}.log").unlink()
        if code == _NONE_LEFT:
            print("every test has failed")
            break
        rounds += code != 2
        seed += 1
    print(
        f"{rounds} whole rounds over {len(tests)} files in {chosen.minutes:g} min, {len(failures)} tests failed"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
