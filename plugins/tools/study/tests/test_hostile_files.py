"""Files and ranges that would hang or end in a traceback are answered by one clear mistake."""

from __future__ import annotations

import pytest

from corekit.errors import ConfigError
from corekit_study.fit_file import load_fit
from corekit_study.plan_file import load_plan_file
from corekit_study.sweep import spread
from corekit_study.variants import variants

LOADERS = [load_fit, load_plan_file]


@pytest.mark.parametrize("load_file", LOADERS)
def test_lists_nested_too_deeply_are_refused(load_file, tmp_path):
    file = tmp_path / "deep.toml"
    file.write_text("x = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(ConfigError, match="nested too deeply"):
        load_file(file)


@pytest.mark.parametrize("load_file", LOADERS)
def test_a_scenario_s_name_that_is_too_long_names_none(load_file, tmp_path):
    file = tmp_path / "long.toml"
    file.write_text(f'scenario = "{"a" * 5000}"')
    with pytest.raises(ConfigError, match="File name too long"):
        load_file(file)


def test_more_runs_than_folders_can_hold_are_refused_before_they_are_listed():
    with pytest.raises(ConfigError, match="at most 100000 values"):
        spread("time.step=1:2:1000000000")
    axis = ",".join(map(str, range(1000)))
    with pytest.raises(ConfigError, match="at most 100000 combinations"):
        variants([f"a={axis}", f"b={axis}", f"c={axis}"])
