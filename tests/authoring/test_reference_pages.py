"""The reference pages hold every option of every plugin and every key of a scenario file, each explained."""

from __future__ import annotations

import runpy
from pathlib import Path

import attrs
import pytest

from corekit.registry.discover import discover
from corekit.registry.resolve import load_target, read_spec
from corekit.roles.options import option
from corekit.scenario.scenario import Scenario
from corekit_inspect.option_table import describe_options

ROOT = Path(__file__).resolve().parents[2]
OURS = [row for row in discover() if row.usable and not row.reference]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    module = runpy.run_path(str(ROOT / "docs" / "generate.py"))
    (folder / "plugins").mkdir()
    (folder / "plugins" / "models.gone.md").write_text("a plugin that is no longer installed")
    module["generate"](folder)
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.md")
    }


@pytest.mark.parametrize("row", OURS, ids=lambda row: f"{row.role}.{row.name}")
def test_every_option_of_a_plugin_is_on_its_page_and_explained(pages, row):
    spec, page = read_spec(row), pages[f"plugins/{row.role}.{row.name}.md"]
    assert spec.summary in page
    for target in filter(None, (spec.config, spec.initial)):
        for each in describe_options(load_target(target)):
            assert each.help, f"{each.name} has no meaning in words"
            # options and initial state may both have one of that name
            lines = [line for line in page.splitlines() if line.startswith(f"| `{each.name}` |")]
            mine = [line for line in lines if each.help.replace("|", r"\|") in line]
            assert len(mine) == 1, lines
            assert f"| {each.unit} |" in mine[0]
    assert f"plugins/{row.role}.{row.name}.md" in pages["plugins.md"]


def test_every_key_of_a_scenario_file_is_listed_and_explained(pages):
    hidden = {each.name for each in attrs.fields(Scenario) if each.metadata.get("hidden")}
    for each in describe_options(Scenario):
        if each.name in hidden:
            assert f"`{each.name}`" not in pages["scenario.md"]
        else:
            assert (
                f"| `{each.name}" in pages["scenario.md"]
                or f"## `{each.name.removesuffix('[]')}`" in pages["scenario.md"]
            )
            assert each.help, each.name


def test_pages_of_plugins_that_are_gone_are_removed(pages):
    assert "plugins/models.gone.md" not in pages


def test_a_table_says_unit_default_range_and_meaning_and_escapes_bars():
    @attrs.frozen(kw_only=True)
    class Config:
        stiffness: float = option(2.0, "of a | spring", unit="N/m", low=0)

    table = runpy.run_path(str(ROOT / "docs" / "generate.py"))["option_table"](describe_options(Config))
    assert table.splitlines()[-1] == r"| `stiffness` | N/m | `2.0` | must be ≥ 0 | of a \| spring |"
