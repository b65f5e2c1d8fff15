"""`corekit new` writes distributions that install, pass their own tests, lint and type-check as they are."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from corekit.cli import DONE, FAILED, INTERRUPTED, MISUSE, main
from corekit_testing.cli.new import LONGEST_NAME, Role, distribution_files

ROLES = get_args(Role)
COMPONENTS = [role for role in ROLES if role not in {"friction-law", "observer", "verb"}]
RUNS = [role for role in ROLES if role not in {"planner", "estimator", "verb"}]
"""What has an example for `corekit run`."""


def _light(role):
    """The module that every listing or start imports."""
    return "hooks" if role in {"observer", "verb"} else "_spec"


def run(*command, cwd, site=None, **more):
    environment = {**os.environ, "PYTHONPATH": str(site) if site else "", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True,
        check=False, **more,
    )  # fmt: skip


def write(role, name, folder):
    for path, text in distribution_files(role, name).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def forking(forked):
    """What `run` does, without importing the kernel anew."""

    def started(module, *arguments, cwd, site=None):
        environment = {**os.environ, "PYTHONPATH": str(site) if site else "", "NO_COLOR": "1"}
        return forked.run(*map(str, arguments), module=module, folder=cwd, environment=environment)

    return started


@pytest.fixture(scope="module")
def generated(tmp_path_factory, forking):
    """One new distribution a role, written by the command line, and where they are installed together."""
    folder = tmp_path_factory.mktemp("authors")
    done = forking("corekit.cli", "new", ROLES[0], f"first-{ROLES[0]}", cwd=folder)
    assert done.returncode == DONE, done.stderr
    assert f"cd first-{ROLES[0]}" in done.stdout
    for role in ROLES[1:]:
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as said:
            patch.chdir(folder)
            assert main(["new", role, f"first-{role}"]) == DONE
        assert f"cd first-{role}" in said.getvalue()
    site = folder / "site"
    sources = [folder / f"first-{role}" for role in ROLES]
    installed = run(
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        site,
        *sources,
        cwd=folder,
    )
    assert installed.returncode == 0, installed.stderr
    return folder, site


@pytest.fixture(scope="module")
def tested(generated, forking):
    """What the tests of all came to, run by one process with the settings that every distribution has; what it said."""
    folder, site = generated
    projects = [tomllib.loads((folder / f"first-{role}/pyproject.toml").read_text()) for role in ROLES]
    assert all(each["tool"]["pytest"] == projects[0]["tool"]["pytest"] for each in projects)
    settings = ["-c", f"first-{ROLES[0]}/pyproject.toml", "--rootdir", folder, "--junitxml", "all.xml"]
    tests = [f"first-{role}/tests" for role in ROLES]
    done = forking("pytest", "-q", "-p", "no:cacheprovider", *settings, *tests, cwd=folder, site=site)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return list(ET.parse(folder / "all.xml").iter("testcase")), done.stdout


@pytest.mark.parametrize("role", ROLES)
def test_its_own_tests_pass(generated, tested, role):
    cases, said = tested
    own = [case for case in cases if case.get("classname", "").startswith(f"first-{role}.")]
    assert own
    assert not [each for case in own for each in case if each.tag in {"failure", "error"}], said


def test_all_of_them_are_listed_as_usable_and_have_a_light_spec(generated):
    folder, site = generated
    listing = json.loads(run("corekit.cli", "list", "--json", cwd=folder, site=site).stdout)
    status = {row["name"]: row["status"] for row in listing["components"]}
    assert {status[f"first-{role}"] for role in COMPONENTS} == {"ok"}
    specs = ", ".join(f"first_{role}.{_light(role)}".replace("-", "_") for role in ROLES)
    code = f"import sys, {specs}; print([m for m in ('numpy', 'numba') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("role", RUNS)
def test_its_example_runs(generated, forking, role):
    folder, site = generated
    example = folder / f"first-{role}/examples/first-{role}.toml"
    short = ("--set", "time.duration=0.05")
    done = forking("corekit.cli", "run", example, *short, "--json", cwd=folder, site=site)
    assert done.returncode == DONE, done.stdout + done.stderr


def test_the_estimator_s_example_finds_the_pull(generated, forking):
    """The pull that holds a mass on a spring where it was seen, k·(l − L)·x/l against its weight."""
    folder, site = generated
    example = folder / "first-estimator/examples/first-estimator-fit.toml"
    done = forking("corekit.cli", "fit", example, "--json", "--out", folder / "fit", cwd=folder, site=site)
    assert done.returncode == DONE, done.stdout + done.stderr
    line = (folder / "fit/schedule-pull.csv").read_text().splitlines()[1]
    place, weight = np.array([0.05, 0.0, -0.36]), np.array([0.0, 0.0, 0.2 * 9.81])
    length = np.linalg.norm(place)
    wanted = 50.0 * (length - 0.3) * place / length + weight
    # the search ends within 1e-6 m of the place, on a spring of 50 N/m
    assert np.array(line.split(",")[1:], float) == pytest.approx(wanted, abs=1e-4)


def test_the_verb_is_called(generated, forking):
    folder, site = generated
    example = folder / "first-verb/examples/first-verb.toml"
    done = forking("corekit.cli", "first-verb", example, cwd=folder, site=site)
    assert (done.returncode, done.stdout) == (DONE, "pair: 4\n"), done.stderr


def test_the_planner_s_example_is_certified(generated, forking):
    folder, site = generated
    example = folder / "first-planner/examples/first-planner-plan.toml"
    done = forking("corekit.cli", "plan", example, "--json", "--no-pictures", cwd=folder, site=site)
    assert done.returncode == DONE, done.stdout + done.stderr
    assert json.loads(done.stdout)["verdict"]["certified"] is True


def test_they_type_check(generated):
    folder, site = generated
    sources = [f"first-{role}/src" for role in ROLES]
    paths = [f"--search-path={path}" for path in (*sources, site, os.getcwd())]
    done = run(
        "pyrefly", "check", *sources, *paths, f"--python-interpreter-path={sys.executable}", cwd=folder
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["ab", "middle-sized", "a" * LONGEST_NAME])
def test_names_of_any_length_lint_and_are_formatted(tmp_path, name):
    for role in ROLES:
        write(role, name, tmp_path / role)
    for command in (["check"], ["format", "--check"]):
        done = run("ruff", *command, "--no-cache", ".", cwd=tmp_path)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("role", ROLES)
def test_every_file_is_complete(role):
    texts = distribution_files(role, "green-arm")
    assert {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        f"src/green_arm/{_light(role)}.py",
        "src/green_arm/py.typed",
        "examples/green-arm.toml",
    } <= set(texts)
    assert not [path for path, text in texts.items() if "{{" in text or path.endswith(".in")]
    project = tomllib.loads(texts["pyproject.toml"])["project"]
    assert project["name"] == "green-arm"
    group, entries = list(project["entry-points"].items())[-1]
    if role in COMPONENTS:
        assert entries == {"green-arm": "green_arm._spec:spec"}
        assert f'role="{group.removeprefix("corekit.")}"' in texts["src/green_arm/_spec.py"]
    elif role == "friction-law":
        assert (group, entries) == ("corekit.friction_laws", {"green-arm:box": "green_arm._spec:law"})
    else:
        assert (group, entries) == ("corekit.hooks", {"green-arm": "green_arm.hooks"})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Green Arm", "try 'green-arm'"),
        ("greenArm", "try 'green-arm'"),
        ("3d", "try 'd'"),
        ("green--arm", "try 'green-arm'"),
        ("x" * (LONGEST_NAME + 1), f"at most {LONGEST_NAME}"),
        ("", "lower-case words"),
        ("../escape", "try 'escape'"),
        ("pcc", "corekit-pcc brings a model of this name"),
        ("reference-pendulum", "corekit-testing brings a model of this name"),
        ("json", "a Python package 'json' exists"),
        ("class", "a Python package 'class' exists"),
        ("numpy", "a Python package 'numpy' exists"),
        ("state", "must not make a class State"),
    ],
)
def test_a_bad_or_taken_name_is_refused_and_nothing_written(tmp_path, monkeypatch, capsys, name, words):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "model", "--", name]) == MISUSE
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_name_taken_in_another_role_is_free_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "detector", "lemke"]) == DONE
    assert (tmp_path / "lemke" / "pyproject.toml").exists()


def test_an_existing_folder_is_left_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "green-arm").mkdir()
    assert main(["new", "model", "green-arm"]) == MISUSE
    assert "must not exist yet" in capsys.readouterr().err
    assert not list((tmp_path / "green-arm").iterdir())
    assert main(["new", "model", "green-arm", "--folder", "elsewhere"]) == DONE
    assert Path("elsewhere/src/green_arm/model.py").exists()


@pytest.mark.parametrize(
    ("trouble", "code", "said"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device"),
            FAILED,
            "write green-arm: No space left on device",
        ),
        (KeyboardInterrupt(), INTERRUPTED, "stopped"),
    ],
    ids=["a full disk", "ctrl-c"],
)
def test_what_cannot_be_written_whole_leaves_no_folder(trouble, code, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written, write_text = [], Path.write_text

    def fail(path, text, **options):
        if len(written) == 5:
            raise trouble
        written.append(path)
        return write_text(path, text, **options)

    monkeypatch.setattr(Path, "write_text", fail)
    assert main(["new", "model", "green-arm"]) == code
    assert said in capsys.readouterr().err
    assert len(written) == 5
    assert not list(tmp_path.iterdir())


def test_an_unknown_role_is_refused_with_those_there_are(capsys):
    assert main(["new", "thing", "green-arm"]) == MISUSE
    printed = capsys.readouterr()
    assert "contact-solver" in printed.err + printed.out
