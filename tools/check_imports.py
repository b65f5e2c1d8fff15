"""The import rules that hold between distributions, read from the source: nothing needs to be installed.

- The kernel imports no plugin (`corekit_*`).
- A plugin imports no other plugin, in its tests neither, and sees of the kernel only `PLUGIN_SEES`.
- A tool (`plugins/tools`) stands on the kernel: it sees all of it but `UNSEEN`, and the tools that `TOOL_SEES` puts
  below it.
- The tests of any distribution may import `corekit_testing`.
- `_spec.py` and a tool's `hooks.py` import nothing but `LIGHT` and the standard library.
- The `__init__.py` of a plugin's package imports nothing.
- A plugin imports by a name that is not written in it, and executes text, nowhere: `corekit.roles.code.import_function`
  checks whether the user allows it.
- Files of the kernel, and of a plugin, import each other in no circle, within functions neither, but for types alone.
- What is installed starts an interpreter by `corekit.interpreters.python_command` and processes of multiprocessing
  within `corekit.interpreters.safe_children`, nowhere else; programs of a checkout start none by a bare `-m` or `-c`.
  Python would look for modules in the working folder, which may be a stranger's.

The floors inside the kernel are import-linter's (see `pyproject.toml`).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

__all__ = ["breaches", "main"]

PLUGIN_SEES = (
    "corekit.errors",
    "corekit.files",
    "corekit.compiled",
    "corekit.data",
    "corekit.linalg",
    "corekit.geometry",
    "corekit.roles",
    "corekit.registry.spec",
    "corekit.hooks.specs",
)
UNSEEN = "corekit.engine"
"""What tools know through `corekit.roles.world` alone, so that they serve every engine."""
ENGINES: Mapping[str, tuple[str, ...]] = {"batch": (), "gradients": ("adjoint",)}
"""Folder of a tool that steps worlds itself, or differentiates steps → the room of it that builds on our engine."""
TOOL_SEES: Mapping[str, tuple[str, ...]] = {
    "export": ("corekit_run", "corekit_record"),
    "dask": ("corekit_run", "corekit_study"),
    "gradients": ("corekit_run", "corekit_record", "corekit_study"),
    "gym": ("corekit_run", "corekit_record", "corekit_study"),
    "inspect": ("corekit_run",),
    "record": ("corekit_run",),
    "statics": ("corekit_run", "corekit_record"),
    "study": ("corekit_run", "corekit_record"),
}
"""Folder of a tool → the packages of other tools that it may import."""
LIGHT: Mapping[str, tuple[str, ...]] = {
    "_spec.py": (
        "corekit.registry.spec",
        "corekit.roles.friction",
        "corekit.geometry.section_solvers",
        "corekit.geometry.shape_specs",
    ),
    "hooks.py": ("corekit.hooks.specs",),
}
"""File that is imported while components or verbs are listed → the modules of the kernel that it may import."""
IN_A_CIRCLE = {("corekit.scenario.scenario", "corekit.scenario.renew")}
"""A scenario makes simulations that can be renewed, by scenarios that are loaded with other values."""
IMPORTERS = ("import_module", "spec_from_file_location")
RUNNERS = ("__import__", "exec", "eval")
"""What runs code: functions of any module, and built-in ones."""
IN_TESTS = "corekit_testing"
INSTALLED = ("corekit", "plugins/*/*/src", "scenarios/src")
IN_CHECKOUT = ("tools", "docs", "benchmarks", "examples")
STARTS_INTERPRETERS = "corekit/interpreters.py"
PROCESS_STARTERS = ("get_context", "Process", "Pool", "ProcessPoolExecutor")
"""What of multiprocessing and concurrent.futures starts interpreters."""


def breaches(root: Path) -> Iterator[str]:
    """Every breach under a repository root, as `file:line: sentence`."""
    for path in sorted(root.glob("corekit/**/*.py")):
        for line, module in _imports(path):
            if _is_plugin(module):
                yield f"{path.relative_to(root)}:{line}: the kernel imports the plugin module {module}"
    for plugin in sorted(root.glob("plugins/*/*")):
        packages = {folder.name for folder in plugin.glob("src/corekit_*")}
        tool = plugin.parent.name == "tools"
        allowed = packages | set(TOOL_SEES.get(plugin.name, ()) if tool else ())
        for path in sorted([*plugin.glob("src/**/*.py"), *plugin.glob("tests/**/*.py")]):
            inside = path.relative_to(plugin).parts
            in_tests = inside[0] == "tests"
            for line, module in _imports(path):
                sentence = _light_breach(inside[2:], module)
                if in_tests:
                    sentence = _foreign(module, {*allowed, IN_TESTS})
                elif not sentence:
                    sentence = _foreign(module, allowed) or (
                        _engine(module, plugin.name, inside[2:]) if tool else _unseen(module)
                    )
                if sentence:
                    yield f"{path.relative_to(root)}:{line}: {sentence}"
            if not in_tests:
                for line, called in _code_from_text(path):
                    yield (
                        f"{path.relative_to(root)}:{line}: a plugin calls {called} with what its text does not hold; "
                        "corekit.roles.code.import_function asks whether code is allowed"
                    )
    yield from _circles(root)
    yield from _unsafe_interpreters(root)


def _circles(root: Path) -> Iterator[str]:
    """A circle of files of every distribution that has one."""
    for source in [root, *sorted(root.glob("plugins/*/*/src"))]:
        paths = {
            ".".join(path.relative_to(source).with_suffix("").parts): path
            for path in source.glob("corekit*/**/*.py")
        }
        graph = {
            module: {each for each in _needed(path) if each in paths and (module, each) not in IN_A_CIRCLE}
            for module, path in paths.items()
        }
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            circle = error.args[1][::-1]
            yield f"{paths[circle[0]].relative_to(root)}:1: imports in a circle: {' -> '.join(circle)}"


def _needed(path: Path) -> Iterator[str]:
    """Modules that a file imports, or may, to run."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    tree.body = [
        each
        for each in tree.body
        if not (isinstance(each, ast.If) and "TYPE_CHECKING" in ast.unparse(each.test))
    ]
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _unsafe_interpreters(root: Path) -> Iterator[str]:
    """Breaches of the rule on interpreters."""
    for folders, find in ((INSTALLED, _interpreters), (IN_CHECKOUT, _bare_interpreters)):
        for path in sorted(path for folder in folders for path in root.glob(f"{folder}/**/*.py")):
            name = path.relative_to(root).as_posix()
            if name != STARTS_INTERPRETERS:
                for line, sentence in find(path):
                    yield f"{name}:{line}: {sentence}"


def main() -> int:
    """Print the breaches of this repository; 1 if there are any."""
    found = list(breaches(Path(__file__).resolve().parents[1]))
    for breach in found:
        print(breach)
    print(f"import rules between distributions: {len(found) or 'no'} breach{'es' if len(found) > 1 else ''}")
    return 1 if found else 0


def _foreign(module: str, allowed: set[str]) -> str:
    """A package of another distribution of the workspace."""
    if _is_plugin(module) and module.partition(".")[0] not in allowed:
        return f"a plugin imports another plugin's module {module}; what needs both belongs in tests/"
    return ""


def _light_breach(place: Sequence[str], module: str) -> str:
    """What makes the listing of components or verbs slow; `place` is the file's inside its package."""
    if tuple(place) == ("__init__.py",):
        return f"a plugin's __init__.py imports {module}; listing must stay light"
    light = LIGHT.get(place[0]) if len(place) == 1 else None
    if light is None or module in light or module.partition(".")[0] in sys.stdlib_module_names:
        return ""
    return f"{place[0]} imports {module}; of the kernel only {', '.join(light)}"


def _unseen(module: str) -> str:
    """A room of the kernel that plugins do not see."""
    if module.partition(".")[0] == "corekit" and not any(
        module == room or module.startswith(f"{room}.") for room in PLUGIN_SEES
    ):
        return f"a plugin imports {module}; it sees only {', '.join(PLUGIN_SEES)}"
    return ""


def _engine(module: str, tool: str, inside: tuple[str, ...]) -> str:
    """The room that tools know by its role alone, but for rooms of `ENGINES`; `inside` is the path in its package."""
    room = ENGINES.get(tool)
    if room is not None and inside[: len(room)] == room:
        return ""
    if module == UNSEEN or module.startswith(f"{UNSEEN}."):
        return f"a tool imports {module}; it knows an engine by corekit.roles.world"
    return ""


def _is_plugin(module: str) -> bool:
    return module.startswith("corekit_")


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Every statement, nested ones too, in the order of the text; expressions, nine nodes of ten, hold none."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        yield node
        inner = [
            each
            for name in ("body", "handlers", "cases", "orelse", "finalbody")
            for each in getattr(node, name, ())
        ]
        todo.extend(reversed(inner))


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute module of every import in a file, those inside functions too."""
    for node in _statements(ast.parse(path.read_text(encoding="utf-8"), filename=str(path))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module not in {None, "__future__"}:
            if node.module in {"corekit", "corekit.registry"}:
                yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, str(node.module)
        elif isinstance(node, ast.ImportFrom) and node.level > 0:
            yield node.lineno, f".{node.module or ''}"


def _code_from_text(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of every call that runs code named or given by something else than a literal text."""
    text = path.read_text(encoding="utf-8")
    if not any(name in text for name in (*IMPORTERS, *RUNNERS)):
        return
    for node in ast.walk(ast.parse(text, filename=str(path))):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        named = function.id if isinstance(function, ast.Name) else ""
        if isinstance(function, ast.Attribute) and function.attr in IMPORTERS:
            named = function.attr
        literal = bool(node.args) and isinstance(node.args[0], ast.Constant)
        if named in {*IMPORTERS, *RUNNERS} and not literal:
            yield node.lineno, named


def _interpreters(path: Path) -> Iterator[tuple[int, str]]:
    """Line and sentence of what starts an interpreter that could import modules of the working folder."""
    text = path.read_text(encoding="utf-8")
    if "executable" not in text and "multiprocessing" not in text and "ProcessPoolExecutor" not in text:
        return
    within = "safe_children()"
    for node in ast.walk(ast.parse(text, filename=str(path))):
        if isinstance(node, ast.Attribute) and _is_executable(node):
            yield node.lineno, "names sys.executable; corekit.interpreters.python_command starts interpreters"
        elif isinstance(node, ast.ImportFrom) and within not in text:
            for alias in node.names:
                if (node.module or "").startswith(("multiprocessing", "concurrent")) and (
                    alias.name in PROCESS_STARTERS
                ):
                    yield (
                        node.lineno,
                        f"imports {alias.name}; processes begin within corekit.interpreters.{within}",
                    )
        elif isinstance(node, ast.Import) and any(each.name == "multiprocessing" for each in node.names):
            yield node.lineno, "imports multiprocessing as a whole; import what is used from it"


def _bare_interpreters(path: Path) -> Iterator[tuple[int, str]]:
    """Line and sentence of every `[sys.executable, "-m", …]` and `"-c"`."""
    text = path.read_text(encoding="utf-8")
    if "executable" not in text:
        return
    for node in ast.walk(ast.parse(text, filename=str(path))):
        if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) > 1 and _is_executable(node.elts[0]):
            word = node.elts[1]
            if isinstance(word, ast.Constant) and word.value in {"-m", "-c"}:
                yield node.lineno, f'starts an interpreter by a bare {word.value}; put "-P" before it'


def _is_executable(node: ast.AST) -> bool:
    return ast.unparse(node) == "sys.executable"


if __name__ == "__main__":
    sys.exit(main())
