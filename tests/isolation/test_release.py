"""What `make release` refuses: an sdist that gives another wheel, a demo that the checkout or nobody runs."""

from __future__ import annotations

import runpy
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("wheels")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def release():
    return runpy.run_path(str(ROOT / "tools" / "release.py"))


def test_the_sdist_of_every_distribution_gives_the_wheel_of_the_checkout(release, distributions, tmp_path):
    release["build"]([each.folder for each in distributions.values()], tmp_path / "dist")
    assert len(list((tmp_path / "dist").glob("*.whl"))) == len(distributions)
    assert len(list((tmp_path / "dist").glob("*.tar.gz"))) == len(distributions)


def test_an_sdist_that_lacks_a_file_of_the_wheel_is_refused_by_name(release, tmp_path):
    source = shutil.copytree(ROOT / "plugins" / "contact" / "lcp", tmp_path / "lcp")
    with (source / "pyproject.toml").open("a") as file:
        file.write('\n[tool.hatch.build.targets.sdist]\nexclude = ["src/corekit_lcp/scale.py"]\n')
    with pytest.raises(
        release["ReleaseError"], match=r"corekit_lcp-0.*tar\.gz gives another wheel.*scale\.py"
    ):
        release["build"]([source], tmp_path / "dist")


def test_wheels_that_differ_in_one_file_are_told_apart(release, tmp_path):
    for folder, text in (("a", "1"), ("b", "2")):
        (tmp_path / folder).mkdir()
        with zipfile.ZipFile(tmp_path / folder / "x.whl", "w") as archive:
            archive.writestr("x/same.py", "0")
            archive.writestr("x/other.py", text)
    assert list(release["differences"](tmp_path / "a" / "x.whl", tmp_path / "b" / "x.whl")) == [
        "x/other.py differs"
    ]
    assert list(release["differences"](tmp_path / "a" / "x.whl", tmp_path / "a" / "x.whl")) == []


def test_what_the_wheels_need_is_all_that_comes_from_elsewhere(release, wheels, distributions):
    ours, others = release["needs"](wheels.glob("*.whl"))
    assert {line.partition("==")[0] for line in ours} == set(distributions)
    assert not [line for line in others if line.startswith("corekit")]
    assert {"osqp", "pytest"}.isdisjoint(line.partition(">")[0] for line in others)  # of extras
    assert any(line.startswith("numpy") for line in others)


def test_a_demo_of_the_checkout_is_no_demo_of_the_wheels(release, tmp_path):
    programs = Path(sys.executable).parent
    with pytest.raises(release["ReleaseError"], match="not what was installed is used"):
        release["run_demo"](programs, tmp_path / "demo")
