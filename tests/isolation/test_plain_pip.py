"""The way without make: pip reads the requirements as the README says and finds every distribution of the checkout."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

pytestmark = pytest.mark.xdist_group("wheels")

ROOT = Path(__file__).resolve().parents[2]
# It asks every build backend, takes nothing from an index and installs nothing.
ALONE = ["--dry-run", "--ignore-installed", "--no-deps", "--no-build-isolation", "--quiet", "--report", "-"]


def test_the_command_of_the_readme_installs_every_distribution_of_the_checkout(distributions):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (words,) = re.findall(r"python (-m pip install -r \S+)", text)
    done = subprocess.run(
        [sys.executable, *words.split(), *ALONE], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    installed = json.loads(done.stdout)["install"]
    places = {each["metadata"]["name"]: unquote(each["download_info"]["url"]) for each in installed}
    assert set(places) == set(distributions)
    for name, distribution in distributions.items():
        assert places[name].rstrip("/") == unquote(distribution.folder.as_uri())
    assert all(each["download_info"]["dir_info"]["editable"] for each in installed)


def test_developers_get_what_users_get_and_the_tools():
    lines = (ROOT / "requirements" / "developers.txt").read_text(encoding="utf-8").splitlines()
    assert {"-r users.txt", "-r build.txt"} <= set(lines)
    for path in (ROOT / "requirements").glob("*.txt"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(("-r ", "-c ")):
                assert (path.parent / line[3:]).is_file(), (path.name, line)
