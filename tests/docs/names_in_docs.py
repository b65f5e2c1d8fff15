"""Names that documents state in backticks as code, and whether the sources define them.

The form of a name decides how it is resolved:

    corekit.a.b, corekit_x.y     a module, a member of one, or an entry-point group
    Class.member, Class.m()      a class of the sources and its member, own or inherited
    Class, CONSTANT              a definition of the sources
    function(), snake_case       a function, argument, field, attribute or string of the sources
    kebab-case                   a component, ability, distribution, verb or string of the sources
    a/b.py                       a path, from the root, the document, the kernel or the distribution
    corekit verb, make target    a verb of the command line, a target of the Makefile

Formulas, sentences and names of other projects are not decided. A word after “ability” or “offers” is an ability. A
term of a definition list in the author's guide is a member of `Model` or an ability.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from corekit.registry.spec import ABILITIES

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("corekit", "plugins/*/*/src/*", "scenarios/src/*", "examples/*/*/src/*", "benchmarks")


_ABILITY = r"\b(?:ability|abilities|offers?) (?:`[^`]+`(?:, | and | or ))*`([^`]+)`"


class Unknown(NamedTuple):
    """A name that no source defines: its line, the name, and what it should be."""

    line: int
    name: str
    wanted: str


class Index:
    """Definitions of the sources, read without importing them."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.strings: set[str] = set()
        self.own_groups: set[str] = set()  # of the constants GROUP, which no distribution here need use
        self.bases: dict[str, set[str]] = {}
        self.members: dict[str, set[str]] = {}
        self.modules: dict[str, set[str]] = {}
        for pattern in SOURCES:
            for package in ROOT.glob(pattern):
                for path in package.rglob("*.py"):
                    self._read(path, package)
        self.words |= {path.stem for path in ROOT.rglob("plugins/*/*/tests/**/*.py")}
        self.groups, self.components = self._entry_points()

    def _read(self, path: Path, package: Path) -> None:
        parts = path.relative_to(package.parent).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        self.words |= set(parts)
        top = self.modules.setdefault(module, set())
        for node in tree.body:
            top |= set(_defined(node))
            if isinstance(node, ast.Assign) and "GROUP" in _defined(node):
                self.own_groups.add(ast.literal_eval(node.value))
        for node in ast.walk(tree):
            self._add(node)
            if isinstance(node, ast.Assign) and any(
                isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets
            ):
                top |= set(ast.literal_eval(node.value))

    def _add(self, node: ast.AST) -> None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.strings |= (
                {node.value, *re.findall(r"[\w.*/<>-]+", node.value)} if "\n" not in node.value else set()
            )
        elif isinstance(node, ast.FunctionDef):
            every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            self.words |= {node.name, *(each.arg for each in every)}
        elif isinstance(node, ast.ClassDef):
            members = {name for each in node.body for name in _defined(each)}
            members |= {
                each.attr
                for each in ast.walk(node)
                if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
                and isinstance(each.value, ast.Name) and each.value.id == "self"
            }  # fmt: skip
            self.members.setdefault(node.name, set()).update(members)
            self.bases.setdefault(node.name, set()).update(
                each.attr if isinstance(each, ast.Attribute) else each.id
                for each in node.bases
                if isinstance(each, (ast.Attribute, ast.Name))
            )
            self.words |= {node.name, *members}
        elif isinstance(node, ast.Module):
            self.words |= {name for each in node.body for name in _defined(each)}

    def _entry_points(self) -> tuple[set[str], set[str]]:
        groups, names = set(self.own_groups), set()
        for path in (
            *ROOT.glob("pyproject.toml"),
            *ROOT.glob("*/*/*/pyproject.toml"),
            *ROOT.glob("*/pyproject.toml"),
        ):
            project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
            names |= {project["name"], *project.get("scripts", {}), *project.get("optional-dependencies", {})}
            for dependency in project.get("dependencies", []):
                names.add(re.split(r"[<>=!~;\[ ]", dependency)[0])
            for group, entries in project.get("entry-points", {}).items():
                groups.add(group)
                names |= set(entries)
        return groups, names

    def has_member(self, owner: str, member: str) -> bool:
        """Whether a class or one of its bases has a member."""
        if member in self.members.get(owner, ()):
            return True
        return any(self.has_member(base, member) for base in self.bases.get(owner, ()) if base != owner)

    def is_dotted(self, name: str) -> bool:
        """Whether a dotted name is a module, a member of one, or an entry-point group."""
        if name in self.groups or name in self.modules:
            return True
        module, _, member = name.rpartition(".")
        if member in self.modules.get(module, ()):
            return True
        module, _, owner = module.rpartition(".")
        return owner in self.modules.get(module, ()) and self.has_member(owner, member)

    def is_known(self, word: str) -> bool:
        """Whether a word is defined, a string of the sources, or the name of a component or distribution."""
        return word in self.words or word in self.strings or word in self.components


def _defined(node: ast.AST) -> Iterator[str]:
    """Names that a statement of a module or a class defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    elif isinstance(node, ast.Assign):
        yield from (
            each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)
        )
        if any(isinstance(each, ast.Name) and each.id == "__slots__" for each in node.targets):
            yield from ast.literal_eval(node.value)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((each.asname or each.name).split(".")[0] for each in node.names)


@cache
def index() -> Index:
    """The index of this checkout."""
    return Index()


def code_spans(text: str) -> Iterator[tuple[int, str, bool]]:
    """Line, text and whether it is a term of a definition list, of everything in backticks outside code blocks."""
    lines, fenced = text.split("\n"), False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            is_term = line.startswith("`") and number < len(lines) and lines[number].startswith(": ")
            yield from ((number, span, is_term) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", line))


def unknown_names(text: str, document: Path) -> list[Unknown]:
    """Names of a document that nothing defines."""
    found = []
    is_guide = document.name == "authors_guide.md"
    for line, span, is_term in code_spans(text):
        wanted = _term(span) if is_term and is_guide else _problem(span, document)
        if wanted:
            found.append(Unknown(line, span, wanted))
    for line, words in enumerate(text.split("\n"), 1):
        stated = re.findall(_ABILITY, words)
        found += [Unknown(line, name, "an ability") for name in stated if name not in ABILITIES]
    return found


def _term(span: str) -> str:
    return (
        "" if span in ABILITIES or index().has_member("Model", span) else "a member of `Model` or an ability"
    )


def _problem(span: str, document: Path) -> str:
    """What a span should be and is not; empty if it is, or if its form does not decide."""
    names = index()
    name = re.sub(r"\(.*\)$", "", span.strip())
    if command := re.match(r"(corekit|make) ([a-z][a-z-]*)\b", span):
        return _command(*command.groups())
    if re.fullmatch(r"corekit(_\w+)?(\.\w+)+", name):
        return (
            ""
            if names.is_dotted(name) or name.endswith((".toml", ".py"))
            else "a module, its member or a group"
        )
    if re.fullmatch(r"[A-Z]\w*[a-z]\w*\.\w+", name):
        owner, member = name.split(".")
        return "" if names.has_member(owner, member) else f"a member of a class {owner}"
    if re.fullmatch(r"([A-Z][a-z]+\w*|[A-Z]{2,}[a-z]\w*)", name):
        return "" if names.is_known(name) else "a class"
    if re.fullmatch(r"[\w.-]+(/[\w.-]+)+/?", name) and re.search(
        r"\.(py|md|toml)$|^(plugins|corekit|tests|docs)/", name
    ):
        return _path(name, document)
    if name != span and re.fullmatch(r"[a-z_]\w*", name):
        return "" if names.is_known(name) else "a function"
    if re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)+", name):
        return "" if names.is_known(name) else "a function, argument, field or attribute"
    if re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)+", name):
        return "" if names.is_known(name) or _is_file(name) else "a component, ability or distribution"
    return ""


def _command(program: str, word: str) -> str:
    if program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        return "" if word in targets else "a target of the Makefile"
    return "" if word in index().strings else "a verb of the command line"


def _path(name: str, document: Path) -> str:
    pattern = re.sub(r"\b[A-Z]{2,}\b", "*", name).rstrip("/")
    homes = (ROOT, document.parent, ROOT / "corekit", ROOT / "scenarios", *document.parent.glob("src/*"))
    return "" if any(next(home.glob(pattern), None) for home in homes if home.is_dir()) else "a path"


@cache
def _files() -> frozenset[str]:
    places = ("scenarios", "examples", "plugins", "requirements")
    return frozenset(
        path.stem.replace("_", "-") for place in places for path in (ROOT / place).rglob("*.toml")
    )


def _is_file(name: str) -> bool:
    return name in _files()
