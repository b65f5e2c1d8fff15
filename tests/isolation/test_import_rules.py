"""The checker of import rules between distributions finds each kind of breach and passes what is allowed."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def breaches():
    return runpy.run_path(str(ROOT / "tools" / "check_imports.py"))["breaches"]


@pytest.mark.parametrize(
    ("file", "source", "words"),
    [
        ("corekit/run/loop.py", "def f():\n    import corekit_pcc.model\n", "kernel imports the plugin"),
        ("plugins/models/a/src/corekit_a/model.py", "from corekit_b.kinematics import f\n", "another plugin"),
        ("plugins/models/a/tests/test_a.py", "import corekit_b\n", "another plugin"),
        ("plugins/models/a/src/corekit_a/model.py", "from corekit.world import World\n", "it sees only"),
        ("plugins/models/a/src/corekit_a/model.py", "from corekit import run\n", "it sees only"),
        ("plugins/models/a/src/corekit_a/model.py", "import corekit.database\n", "it sees only"),
        ("plugins/models/a/src/corekit_a/_spec.py", "import numpy\n", "only corekit.registry.spec is light"),
        ("plugins/models/a/src/corekit_a/_spec.py", "from .config import C\n", "_spec.py imports .config"),
        ("plugins/models/a/src/corekit_a/model.py", "def f(x):\n    return eval(x)\n", "calls eval"),
        (
            "plugins/models/a/src/corekit_a/model.py",
            "def f(x):\n    importlib.import_module(x)\n",
            "is allowed",
        ),
        ("plugins/models/a/src/corekit_a/__init__.py", "from .model import M\n", "must stay light"),
    ],
)
def test_breach_is_found_with_its_line(tmp_path, breaches, file, source, words):
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(source)
    if file.startswith("plugins"):
        (tmp_path / "plugins/models/a/src/corekit_a").mkdir(parents=True, exist_ok=True)
    (found,) = breaches(tmp_path)
    assert found.startswith(file)
    assert words in found


def test_what_a_plugin_may_import_passes(tmp_path, breaches):
    package = tmp_path / "plugins/models/a/src/corekit_a"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from __future__ import annotations\n")
    (package / "_spec.py").write_text("import sys\nfrom corekit.registry.spec import ComponentSpec\n")
    (package / "model.py").write_text(
        "import numpy\nfrom corekit.data.state import State\nfrom corekit.roles import model\n"
        "from corekit_a.config import C\nfrom . import kinematics\n"
        "import importlib\npiqp = importlib.import_module('piqp')\n"
        "class C:\n    def eval(self, x):\n        self.eval(x)\n"
    )
    assert list(breaches(tmp_path)) == []


def test_this_repository_keeps_the_rules(breaches):
    assert list(breaches(ROOT)) == []
