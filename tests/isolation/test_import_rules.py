"""The checker of import rules between distributions finds each kind of breach and passes what is allowed.

That this repository keeps them is what `make lint` asks of it, which is half of `make test`.
"""

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
        (
            "corekit/simulation/loop.py",
            "def f():\n    import corekit_pcc.model\n",
            "kernel imports the plugin",
        ),
        (
            "corekit/data/one.py",
            "def f():\n    from corekit.data import one\n",
            "in a circle: corekit.data.one ->",
        ),
        ("plugins/models/a/src/corekit_a/model.py", "from corekit_b.kinematics import f\n", "another plugin"),
        ("plugins/models/a/tests/test_a.py", "import corekit_b\n", "another plugin"),
        ("plugins/models/a/src/corekit_a/model.py", "from corekit.engine import World\n", "it sees only"),
        ("plugins/models/a/src/corekit_a/model.py", "from corekit import run\n", "it sees only"),
        ("plugins/models/a/src/corekit_a/model.py", "import corekit.database\n", "it sees only"),
        ("plugins/models/a/src/corekit_a/_spec.py", "import numpy\n", "only corekit.registry.spec, "),
        ("plugins/models/a/src/corekit_a/_spec.py", "from .config import C\n", "_spec.py imports .config"),
        ("plugins/models/a/src/corekit_a/model.py", "def f(x):\n    return eval(x)\n", "calls eval"),
        (
            "plugins/models/a/src/corekit_a/model.py",
            "def f(x):\n    importlib.import_module(x)\n",
            "is allowed",
        ),
        ("plugins/models/a/src/corekit_a/__init__.py", "from .model import M\n", "must stay light"),
        ("plugins/models/a/src/corekit_a/model.py", "import corekit_testing.rounding\n", "another plugin"),
        (
            "plugins/tools/a/src/corekit_a/hooks.py",
            "from corekit_a import cli\n",
            "hooks.py imports corekit_a",
        ),
        ("plugins/tools/a/src/corekit_a/tool.py", "import corekit_b\n", "another plugin"),
        (
            "plugins/tools/a/src/corekit_a/tool.py",
            "from corekit.engine.world import world_system\n",
            "knows an engine by corekit.roles.world",
        ),
        (
            "plugins/tools/record/src/corekit_record/column_buffer.py",
            "import corekit_study\n",
            "another plugin",
        ),
        (
            "plugins/tools/a/src/corekit_a/tool.py",
            "import sys\ndef f():\n    start([sys.executable, '-P', '-m', 'a'])\n",
            ":3: names sys.executable",
        ),
        ("corekit/cli/tool.py", "from multiprocessing import get_context\n", "within corekit.interpreters"),
        ("corekit/cli/tool.py", "from concurrent.futures import ProcessPoolExecutor\n", "safe_children()"),
        ("corekit/cli/tool.py", "import multiprocessing\n", "as a whole"),
        (
            "tools/tool.py",
            "import sys\ncommand = [sys.executable, '-m', 'pip']\n",
            ":2: starts an interpreter",
        ),
        ("docs/tool.py", "import sys\ncommand = [sys.executable, '-c', 'pass']\n", "by a bare -c"),
    ],
)
def test_breach_is_found_with_its_line(tmp_path, breaches, file, source, words):
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(source)
    if "/tests/" in file:
        (tmp_path / "plugins/models/a/src/corekit_a").mkdir(parents=True)
    (found,) = breaches(tmp_path)
    assert found.startswith(file)
    assert words in found


def test_what_a_plugin_may_import_passes(tmp_path, breaches):
    package = tmp_path / "plugins/models/a/src/corekit_a"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from __future__ import annotations\n")
    (package / "_spec.py").write_text(
        "import sys\nfrom corekit.registry.spec import ComponentSpec\n"
        "from corekit.roles.friction import FrictionLaw\nfrom corekit.geometry.shape_specs import ShapeSpec\n"
    )
    (package / "model.py").write_text(
        "import numpy\nfrom corekit.data.state import State\nfrom corekit.roles import model\n"
        "from corekit_a.config import C\nfrom . import kinematics\n"
        "import importlib\npiqp = importlib.import_module('piqp')\n"
        "class C:\n    def eval(self, x):\n        self.eval(x)\n"
    )
    assert list(breaches(tmp_path)) == []


def test_what_a_tool_and_tests_may_import_passes(tmp_path, breaches):
    for file, source in {
        "plugins/tools/a/src/corekit_a/hooks.py": "from corekit.hooks.specs import Verb, hookimpl\n",
        "plugins/tools/a/src/corekit_a/tool.py": "from corekit.scenario.load import load\n",
        "plugins/tools/a/src/corekit_a/cli/__init__.py": "from corekit_a.tool import f\n",
        "plugins/tools/study/src/corekit_study/sweep.py": "import corekit_record.results\n",
        "plugins/models/a/tests/test_a.py": "from corekit_testing.rounding import rounding\n",
        "corekit/interpreters.py": "import sys\ncommand = [sys.executable, '-m']\n",
        "plugins/tools/a/src/corekit_a/pool.py": (
            "from multiprocessing import get_context\nfrom corekit.interpreters import safe_children\n"
            "with safe_children():\n    get_context()\n"
        ),
        "tools/tool.py": "import sys\ncommand = [sys.executable, '-P', '-m', 'pip']\n",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(source)
    assert list(breaches(tmp_path)) == []
