"""Write requirements/constraints.txt: one version of every package, for every Python and system that corekit runs on.

    python tools/constraints.py          the newest versions that fit together

uv resolves for all of them at once, and a version that holds for some alone gets an environment marker. The file
names versions only, no addresses and no digests, so that any index or mirror serves it, to pip and to uv alike.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

__all__ = ["main", "read_requirements", "resolved"]

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "requirements"
HEADER = """\
# Versions that the tests pass with, for pip and uv: written by `make constraints`, not by hand.
"""


def read_requirements() -> str:
    """What all files of requirements need, without the constraints of last time."""
    lines: list[str] = []
    for path in sorted(FOLDER.glob("*.txt")):
        if path.name != "constraints.txt":
            lines += path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith(("-c ", "-r ", "#"))) + "\n"


def resolved(python: str) -> list[str]:
    """`name==version ; marker` of every package that any of them brings, from the oldest Python on."""
    command = [
        sys.executable, "-P", "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", python,
        "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "-",
    ]  # fmt: skip
    done = subprocess.run(
        command,
        cwd=ROOT,
        input=read_requirements(),
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=True,
    )
    # the distributions of this checkout are not bound
    return [line for line in done.stdout.splitlines() if "==" in line]


def main() -> None:
    """Write the file and say how many versions it holds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = resolved(project["requires-python"].removeprefix(">="))
    text = HEADER + "\n".join(lines) + "\n"
    (FOLDER / "constraints.txt").write_text(text, encoding="utf-8", newline="\n")
    print(f"requirements/constraints.txt: {len(lines)} versions")


if __name__ == "__main__":
    main()
