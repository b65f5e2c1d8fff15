"""Every name that the documents state as code is defined in the sources."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    *(ROOT / "docs" / name for name in ("architecture.md", "authors_guide.md", "conventions.md")),
    *sorted((ROOT / "docs" / "roles").glob("*.md")),
    ROOT / "CONTRIBUTING.md",
    *(
        path
        for pattern in ("README.md", "*/README.md", "*/*/*/README.md")
        for path in sorted(ROOT.glob(pattern))
    ),
]


def _load() -> Any:
    spec: Any = importlib.util.spec_from_file_location(
        "names_in_docs", Path(__file__).with_name("names_in_docs.py")
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["names_in_docs"] = module
    spec.loader.exec_module(module)
    return module


names_in_docs = _load()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_name_in_backticks_is_defined(path):
    unknown = names_in_docs.unknown_names(path.read_text(encoding="utf-8"), path)
    where = path.relative_to(ROOT).as_posix()
    assert not unknown, "\n" + "\n".join(
        f"{where}:{line}: `{name}` should be {wanted}" for line, name, wanted in unknown
    )


@pytest.mark.parametrize(
    ("known", "unknown"),
    [
        ("corekit.roles.steps", "corekit.world.steps"),
        ("corekit.roles.steps.ThetaStep.solve", "corekit.roles.steps.ThetaStep.answer"),
        ("corekit.models", "corekit.robots"),
        ("Model.integrate", "Model.advance"),
        ("ModelDescription", "ModelLayout"),
        ("compute_frame_poses(state)", "frame_places(state)"),
        ("compute_point_jacobians", "carrier_rows"),
        ("force-derivatives", "row-bounds"),
        ("corekit_run_observers", "corekit_run_recorders"),
        ("corekit/roles/steps.py", "corekit/world/steps.py"),
        ("corekit sweep FILE", "corekit wander FILE"),
        ("make lint", "make coffee"),
    ],
)
def test_a_name_that_is_gone_is_found_with_its_line(known, unknown):
    found = names_in_docs.unknown_names(f"`{known}`\n\n`{unknown}` and `{known}`\n", ROOT / "README.md")
    assert [(line, name) for line, name, _ in found] == [(3, unknown)]


def test_a_word_that_is_no_ability_is_found_after_the_word_ability():
    text = "models with the ability `energy`\nmust offer `tangent`\n"
    found = names_in_docs.unknown_names(text, ROOT / "README.md")
    assert [(line, name) for line, name, _ in found] == [(2, "tangent")]


def test_a_term_of_the_guide_that_is_no_longer_an_ability_is_found():
    text = "`force-derivatives`\n: K and D.\n\n`tangent`\n: K and D.\n"
    found = names_in_docs.unknown_names(text, ROOT / "docs" / "authors_guide.md")
    assert [(line, name) for line, name, _ in found] == [(4, "tangent")]
