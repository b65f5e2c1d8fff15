"""Profiles of other processors change what computes; what cannot be run is said."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def portability() -> Any:
    spec: Any = importlib.util.spec_from_file_location("portability", ROOT / "tools" / "portability.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["portability"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_the_oldest_processor_computes_without_this_one_s_features(portability):
    profile = portability.processor_profiles()["oldest"]
    said = portability.probe(profile.python, profile.variables)
    assert said["numba"] == "generic"
    assert said["numpy"] == []
    assert said["blas"] != portability.probe(profile.python, {})["blas"] or not said["blas"]


def test_an_interpreter_that_is_not_there_is_said_to_be_missing(portability, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("PYTHONS", raising=False)
    found = portability.interpreters()
    own = f"python3.{sys.version_info.minor}"
    assert found[own] == Path(sys.executable)
    others = [each for name, each in found.items() if name != own]
    assert others
    assert all("not on PATH" in each for each in others)
    monkeypatch.setenv("PYTHONS", "/no/such/python")
    with pytest.raises(SystemExit, match="/no/such/python"):
        portability.interpreters()


def test_an_unknown_profile_is_refused_with_those_there_are(portability, capsys):
    with pytest.raises(SystemExit):
        portability.main(["olden"])
    assert "oldest" in capsys.readouterr().err
