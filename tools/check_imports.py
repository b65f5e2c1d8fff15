"""The import rules that hold between distributions, read from the source: nothing needs to be installed.

- The kernel imports no plugin (`corekit_*`).
- A plugin imports no other plugin, in its tests neither, and sees of the kernel only `PLUGIN_SEES`.
- `_spec.py` imports nothing but `corekit.registry.spec` and the standard library.
- A plugin's `__init__.py` imports nothing.
- A plugin imports by a name that is not written in it, and executes text, nowhere: `corekit.roles.code.import_function`
  asks whether the user allows it.

The floors inside the kernel are import-linter's (see `pyproject.toml`).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
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
    "corekit.testing",
    "corekit.hooks.specs",
)


def breaches(root: Path) -> Iterator[str]:
    """Every breach under a repository root, as `file:line: sentence`."""
    for path in sorted(root.glob("corekit/**/*.py")):
        for line, module in _imports(path):
            if _is_plugin(module):
                yield f"{path.relative_to(root)}:{line}: the kernel imports the plugin module {module}"
    for plugin in sorted(root.glob("plugins/*/*")):
        packages = {folder.name for folder in plugin.glob("src/corekit_*")}
        for path in sorted([*plugin.glob("src/**/*.py"), *plugin.glob("tests/**/*.py")]):
            in_tests = "tests" in path.relative_to(plugin).parts
            for line, module in _imports(path):
                sentence = _plugin_breach(path.name, module, packages, in_tests=in_tests)
                if sentence:
                    yield f"{path.relative_to(root)}:{line}: {sentence}"
            if not in_tests:
                for line, called in _code_from_text(path):
                    yield (
                        f"{path.relative_to(root)}:{line}: a plugin calls {called} with what its text does not hold; "
                        "corekit.roles.code.import_function asks whether code is allowed"
                    )


def main() -> int:
    """Print the breaches of this repository; 1 if there are any."""
    found = list(breaches(Path(__file__).resolve().parents[1]))
    for breach in found:
        print(breach)
    print(f"import rules between distributions: {len(found) or 'no'} breach{'es' if len(found) > 1 else ''}")
    return 1 if found else 0


def _plugin_breach(filename: str, module: str, packages: set[str], *, in_tests: bool) -> str:
    top = module.partition(".")[0]
    if _is_plugin(module) and top not in packages:
        return f"a plugin imports another plugin's module {module}; what needs both belongs in tests/"
    if in_tests:
        return ""
    if filename == "__init__.py":
        return f"a plugin's __init__.py imports {module}; listing must stay light"
    if filename == "_spec.py":
        light = module == "corekit.registry.spec" or top in sys.stdlib_module_names
        return "" if light else f"_spec.py imports {module}; only corekit.registry.spec is light"
    if top == "corekit" and not any(module == room or module.startswith(f"{room}.") for room in PLUGIN_SEES):
        return f"a plugin imports {module}; it sees only {', '.join(PLUGIN_SEES)}"
    return ""


def _is_plugin(module: str) -> bool:
    return module.startswith("corekit_")


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute module of every import in a file, those inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=str(path))):
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
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=str(path))):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        named = function.id if isinstance(function, ast.Name) else ""
        if isinstance(function, ast.Attribute) and function.attr in {
            "import_module",
            "spec_from_file_location",
        }:
            named = function.attr
        literal = bool(node.args) and isinstance(node.args[0], ast.Constant)
        if (
            named in {"import_module", "__import__", "exec", "eval", "spec_from_file_location"}
            and not literal
        ):
            yield node.lineno, named


if __name__ == "__main__":
    sys.exit(main())
