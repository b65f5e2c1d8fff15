"""Damaged and random files of every kind, read as a user's would be: the answer is a result or one clear error.

    python tools/fuzz_files.py                          every kind, one minute
    python tools/fuzz_files.py scenario --count 100000
    python tools/fuzz_files.py scenario --seed 4711 --count 1     what failed, once more

Each case has a seed; its file is a mutation of a sound one and depends on kind and seed alone. A case fails if it
raises anything but a `CorekitError`, or takes more processor time than `PATIENCE` (or stands still for ten times as
long): the seed is printed with the command that repeats it, and the file is kept in build/fuzz/files.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import resource
import secrets
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from fuzz_kinds import KINDS, Kind

from corekit.errors import CorekitError

__all__ = ["Hang", "failure_of", "main"]

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 60.0
"""Processor time [s] of a case, that of others does not count: a scenario that is accepted compiles kernels."""
STANDSTILL = 10.0
"""Wall time of a case, relative to its patience: what waits for ever takes no processor time."""
MEMORY = 6 << 30
"""Address space [bytes]: what wants more than a usual machine has fails here too."""


class Hang(BaseException):
    """A case that takes longer than the patience."""


def failure_of(kind: Kind, seed: int, folder: Path, patience: float = PATIENCE) -> tuple[str, bytes] | None:
    """The traceback of the case with a seed, and its file; None if it ends as it should."""
    chance = random.Random(f"{kind.name}-{seed}")
    data = kind.make(chance)
    file = folder / f"{kind.name}-{seed}{kind.suffix}"
    file.write_bytes(data)
    wall = STANDSTILL * patience
    faulthandler.dump_traceback_later(2.0 * wall, exit=True)  # a library that never returns

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise Hang

    usual = [signal.signal(each, give_up) for each in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, patience)
    signal.setitimer(signal.ITIMER_REAL, wall)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kind.read(file)
    except CorekitError as error:
        if not str(error).strip():
            return "an error without words", data
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - that is what is looked for
        return traceback.format_exc(), data
    finally:
        faulthandler.cancel_dump_traceback_later()
        file.unlink(missing_ok=True)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for each, handler in zip((signal.SIGPROF, signal.SIGALRM), usual, strict=True):
            signal.signal(each, handler)
    return None


def main(arguments: Sequence[str]) -> int:
    """Try cases until the count or the time is over; 1 if any failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help="kinds of files (default: all)")
    parser.add_argument("--count", type=int, help="cases of each kind (default: as the time allows)")
    parser.add_argument(
        "--minutes", type=float, default=1.0, help="for how long, without --count (default: 1)"
    )
    parser.add_argument(
        "--seed", type=int, help="of the first case; the next ones count on (default: random)"
    )
    chosen = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    kept = ROOT / "build" / "fuzz" / "files"
    kept.mkdir(parents=True, exist_ok=True)
    kinds = [KINDS[name] for name in chosen.kinds or KINDS]
    first = secrets.randbelow(2**32) if chosen.seed is None else chosen.seed
    end = time.monotonic() + 60.0 * chosen.minutes
    done, failed, known = 0, 0, set[str]()
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=kept, ignore_cleanup_errors=True) as name:
        folder = Path(name)  # a case that ends this process stays there, with its seed
        while done < chosen.count if chosen.count else time.monotonic() < end:
            seed = first + done
            done += 1
            for kind in kinds:
                found = failure_of(kind, seed, folder)
                if found is None:
                    continue
                failed += 1
                place = "\n".join(line for line in found[0].splitlines()[-9:] if line.startswith("  File"))
                file = kept / f"{kind.name}-{seed}{kind.suffix}"
                if place not in known:
                    known.add(place)
                    file.write_bytes(found[1])
                    print(f"failed: {kind.name} with seed {seed}, kept as {file}", flush=True)
                    print(f"  again: python tools/fuzz_files.py {kind.name} --seed {seed} --count 1")
                    print("    " + "\n    ".join(found[0].splitlines()[-5:]), flush=True)
            if done % 5000 == 0:
                print(f"{done} cases", flush=True)
    print(f"{done} cases of {len(kinds)} kinds from seed {first}: {failed} failed in {len(known)} places")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
