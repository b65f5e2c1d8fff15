"""Files and numbers that would hang or end in a traceback are answered by one clear mistake."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from corekit.cli import main
from corekit.errors import ConfigError
from corekit.scenario.load import from_document, load, loads

LONG = "a" * 5000
"""Longer than any system takes as a name."""


def test_a_link_to_nothing_is_told_to_be_one(tmp_path):
    link = tmp_path / "arm.toml"
    link.symlink_to("elsewhere.toml")
    with pytest.raises(
        ConfigError, match=r"no such file; .* it is a link to elsewhere.toml, which is not there"
    ):
        load(link)


def test_a_step_that_does_not_change_the_time_is_refused(text):
    with pytest.raises(ConfigError, match="added to the time, less does not change it"):
        from_document(tomllib.loads(text), ["time.step=1e-308"])
    with pytest.raises(ConfigError, match=r"time\.step"):
        from_document(tomllib.loads(text), ["time.step=1e-20"])
    with pytest.raises(ConfigError, match=r"time\.step.*less does not change it"):
        from_document(tomllib.loads(text), ["time.duration=1e300"])


def test_of_very_many_unknown_keys_the_first_are_told_and_the_others_counted(text):
    document = tomllib.loads(text)
    document["output"] |= {f"unknown{i}": 1 for i in range(5000)}
    with pytest.raises(ConfigError, match="4980 more keys; are unknown too") as told:
        from_document(document)
    assert len(told.value.mistakes) == 21


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")
def test_a_pipe_is_not_waited_for(tmp_path, text):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ConfigError, match="a pipe, which is not read"):
        load(pipe)
    document = tomllib.loads(text)
    document["bodies"][0]["inputs"] = [{"channel": "x", "signal": {"kind": "csv", "file": str(pipe)}}]
    with pytest.raises(ConfigError, match="must be a file: a folder, a pipe"):
        from_document(document)


@pytest.mark.parametrize("verb", ["check", "run"])
def test_a_name_that_is_too_long_is_told_to_name_nothing(verb, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main([verb, LONG]) == 2
    assert "Traceback" not in "".join(capsys.readouterr())
    assert not list(Path(tmp_path).iterdir())


@pytest.mark.to_nearest("half of the least number is that number", "up")
def test_an_edge_whose_half_is_no_number_above_zero_is_refused(text):
    edge = "world.obstacles=[{name='a', shape='box', size=[1.0, 5e-324, 1.0]}]"
    with pytest.raises(ConfigError, match="positive, for shape 'box'"):
        from_document(tomllib.loads(text), [edge])


def test_what_contradicts_between_two_tables_is_told_once(text):
    for override in ("time.step=1e3", "time.step=1e-20"):
        with pytest.raises(ConfigError) as told:
            from_document(tomllib.loads(text), [override])
        assert [each.path for each in told.value.mistakes] == ["time.step"]


@pytest.mark.parametrize("number", ["1e308", f"1{'0' * 400}", "1e300"])
def test_a_number_that_is_too_large_is_told_to_be_so(text, number):
    entry = "seed" if number == "1e300" else "world.gravity[2]"
    with pytest.raises(ConfigError, match=r"must be a (whole )?number.* — it is too large"):
        from_document(tomllib.loads(text), [f"{entry}={number}"])


def test_a_decimal_comma_is_told_from_other_slips():
    with pytest.raises(ConfigError, match=r"line 1, .*is not TOML — numbers have a decimal point"):
        loads("step = 0,4")
    with pytest.raises(ConfigError) as caught:
        loads("step = [0.1,4")
    assert "decimal point" not in str(caught.value)


@pytest.mark.parametrize("place", ["name", "use", "key"])
def test_a_message_does_not_repeat_a_name_of_any_length(place):
    long = "n" * 200_000
    tables = {"name": f'name = "{long} "', "use": f'integrator = {{ use = "{long}" }}', "key": f"{long} = 1"}
    with pytest.raises(ConfigError) as refused:
        loads(tables[place])
    assert len(str(refused.value)) < 4200 * len(refused.value.mistakes)
