"""SECURITY.md lists every place where data could become code, and nothing that is not there any more.

What is looked for is read from the syntax of all that is no test: starts of processes, code by a name that is not
written in the source, code from text, pickles, arrays of NumPy's format, XML, and machine code of libraries.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("corekit", "plugins/*/*/src", "scenarios", "tools", "docs", "examples", "benchmarks")
MODULES = {"subprocess", "pickle", "marshal", "shelve", "runpy", "dill", "joblib", "cloudpickle"}
"""Whose functions all count, under the module's name."""
FUNCTIONS = {
    "CDLL": "ctypes", "ParserCreate": "XML", "Pool": "multiprocessing", "Popen": "subprocess",
    "Process": "multiprocessing", "ProcessPoolExecutor": "multiprocessing", "XMLParser": "XML", "XMLPullParser": "XML",
    "__import__": "import", "compile": "exec", "eval": "exec", "exec": "exec", "exec_module": "import", "fork": "fork",
    "fromstring": "XML", "get_context": "multiprocessing", "import_module": "import", "iterparse": "XML",
    "lambdify": "formula", "load_library": "ctypes", "load_module": "import", "open_memmap": "numpy", "popen": "system",
    "read_array": "numpy", "run_module": "import", "run_path": "import", "spec_from_file_location": "import",
    "forkpty": "fork", "startfile": "system", "system": "system",
}  # fmt: skip
STARTS = re.compile(r"exec(l|le|lp|lpe|v|ve|vp|vpe)|(posix_)?spawn[lvpe]*")
BUILT_IN = {"exec", "eval", "compile", "__import__"}
LOADERS = {
    "numpy": ({"load", "memmap", "fromfile"}, "numpy"),
    "np": ({"load", "memmap", "fromfile"}, "numpy"),
    "ET": ({"parse", "XML"}, "XML"),
    "trimesh": ({"load", "load_mesh", "load_scene"}, "mesh"),
}
ERRORS = {"CalledProcessError", "CompletedProcess", "TimeoutExpired"}
"""Of `subprocess`, and no starts."""


def of_call(node: ast.Call) -> str:
    """What kind of place a call is, or nothing."""
    function = node.func
    owner = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    literal = bool(node.args) and isinstance(node.args[0], ast.Constant)
    if owner in MODULES:
        return "" if name in ERRORS else owner
    loaders, loaded = LOADERS.get(owner, (set(), ""))
    if name in loaders:
        return loaded
    if owner == "os" and STARTS.fullmatch(name):
        return "system"
    if name == "load" and re.search(r"entry|entries|EntryPoint", owner):
        return "entry point"
    if owner and name in BUILT_IN:  # a method of somebody's class
        return ""
    kind = FUNCTIONS.get(name, "")
    # a name that is written there is an import as any other
    return "" if kind == "import" and literal and name in {"import_module", "__import__"} else kind


def found() -> set[tuple[str, str]]:
    """File and kind of every place."""
    seen = set()
    for path in (ROOT / "conftest.py", *(each for place in PLACES for each in ROOT.glob(f"{place}/**/*.py"))):
        name = path.relative_to(ROOT).as_posix()
        if "/tests/" in name or "/_generated/" in name:
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text, filename=name)):
            kind = ""
            if isinstance(node, ast.Call):
                kind = of_call(node)
            elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
                kind = str(node.module)
            elif isinstance(node, ast.Name) and node.id in BUILT_IN:  # handed to what calls it
                kind = "exec"
            if kind:
                seen.add((name, kind))
    return seen


def listed(text: str) -> Iterator[tuple[str, str]]:
    """File and kind of every row of the list."""
    section = text.partition("## Where data could become code")[2].partition("\n## ")[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            yield from ((file, cells[1]) for file in re.findall(r"`([^`]+\.py)`", cells[0]))


def test_the_list_is_that_of_the_source():
    rows = list(listed((ROOT / "SECURITY.md").read_text(encoding="utf-8")))
    source = found()
    missing, stale = sorted(source - set(rows)), sorted(set(rows) - source)
    assert not missing, f"SECURITY.md does not say who may feed {missing}"
    assert not stale, f"SECURITY.md lists what is not there: {stale}"
    assert len(rows) == len(set(rows))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("subprocess.run(words)", "subprocess"),
        ("Popen(words)", "subprocess"),
        ("os.execv(a, b)", "system"),
        ("os.posix_spawn(a, b, c)", "system"),
        ("os.fork()", "fork"),
        ("get_context('spawn')", "multiprocessing"),
        ("import_module(name)", "import"),
        ("importlib.import_module(name)", "import"),
        ("import_module('numpy')", ""),
        ("spec_from_file_location(name, 'x.py')", "import"),
        ("exec(text)", "exec"),
        ("eval('1')", "exec"),
        ("program.eval(x)", ""),
        ("kernel.compile(x)", ""),
        ("sympy.lambdify(x, y)", "formula"),
        ("trimesh.load(file)", "mesh"),
        ("pickle.loads(data)", "pickle"),
        ("np.load(file)", "numpy"),
        ("npy.read_array(file)", "numpy"),
        ("fromstring(text)", "XML"),
        ("ET.parse(file)", "XML"),
        ("ctypes.CDLL(None)", "ctypes"),
        ("entry.load()", "entry point"),
        ("corekit.load(file)", ""),
    ],
)
def test_what_could_become_code_is_known_by_its_call(text, kind):
    call = ast.parse(text).body[0].value
    assert of_call(call) == kind
