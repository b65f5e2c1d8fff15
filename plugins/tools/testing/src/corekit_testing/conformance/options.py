"""Checks of a component's options: described, written and read again, and read by somebody."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs

from corekit.data.signal_base import Signal
from corekit.errors import Mistake
from corekit.registry.resolve import load_target
from corekit.roles.options import ComponentRef
from corekit.scenario.dump import plain
from corekit.scenario.structure import structure
from corekit_testing.conformance.check import Check, check, expect
from corekit_testing.conformance.subject import Subject

__all__ = ["OPTIONS"]


@check("options-described", "options are frozen, keyword-only and each says what it means")
def options_described(subject: Subject) -> None:
    made = [subject.config()]
    if subject.spec.initial is not None:
        made.append(load_target(subject.spec.initial)())
    for config in made:
        for _, instance in _configs(config):
            cls = type(instance)
            for each in attrs.fields(cls):
                where = f"{cls.__name__}.{each.name}"
                expect(str(each.metadata.get("help", "")).strip(), f"{where} has no help")
                expect("unit" in each.metadata, f"{where} says nothing of its unit; use `option`")
                expect(each.kw_only, f"{where} is not keyword-only")
            expect(cls.__setattr__ is not object.__setattr__, f"{cls.__name__} is not frozen")


def _configs(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """A config and the configs inside it with their paths, without other components and signals."""
    if isinstance(value, (tuple, list)):
        for entry in value:
            yield from _configs(entry, f"{path}[]")
    elif attrs.has(type(value)) and not isinstance(value, (ComponentRef, Signal)):
        yield path, value
        for each in attrs.fields(type(value)):
            yield from _configs(getattr(value, each.name), f"{path}.{each.name}".removeprefix("."))


@check("options-round-trip", "options written to a file's values and read again are equal")
def options_round_trip(subject: Subject) -> None:
    config = subject.config()
    mistakes: list[Mistake] = []
    table = plain(config, "options", mistakes)
    expect(not mistakes, f"cannot be written to a file: {'; '.join(map(str, mistakes))}")
    again = structure(subject.config_class(), table, "options", mistakes)
    expect(not mistakes, f"its own values are refused: {'; '.join(map(str, mistakes))}")
    expect(again == config, f"read again they are {again}, they were {config}")


@check("options-read", "every option is read by the component")
def options_read(subject: Subject) -> None:
    config = subject.config()
    with _watched(config) as unread:
        component = subject.build_from(config)
    waiting = {path: path.rpartition(".")[2] for path in unread if unread[path]}
    # what is read later only, or with other options only, is looked for in the source
    never = _not_read_in(type(component), set(waiting.values()))
    idle = sorted(path for path, name in waiting.items() if name in never)
    expect(not idle, f"nobody reads {', '.join(idle)}")


@contextmanager
def _watched(config: Any) -> Iterator[dict[str, bool]]:
    """Path of every option → whether it is unread; it becomes False where the option is read inside."""
    unread: dict[str, bool] = {}
    instances = [(path, instance, type(instance)) for path, instance in _configs(config)]
    for path, instance, cls in instances:
        names = {each.name: f"{path}.{each.name}".removeprefix(".") for each in attrs.fields(cls)}
        for place in names.values():
            unread.setdefault(place, True)
        object.__setattr__(instance, "__class__", _watching(cls, names, unread))
    try:
        yield unread
    finally:  # defaults are shared by all configs
        for _, instance, cls in instances:
            object.__setattr__(instance, "__class__", cls)


def _watching(cls: Any, names: dict[str, str], unread: dict[str, bool]) -> Any:
    """The class of the same layout whose instances note which options are read."""

    def note(self: Any, name: str) -> Any:
        if name in names:
            unread[names[name]] = False
        return cls.__getattribute__(self, name)

    return type(cls.__name__, (cls,), {"__slots__": (), "__getattribute__": note})


def _not_read_in(cls: type, names: set[str]) -> set[str]:
    """Which of the names are read as attributes nowhere in the packages that a class and its bases come from."""
    missing = set(names)
    for path in {path for each in cls.__mro__ for path in _sources(each.__module__)} if names else ():
        source = path.read_text(encoding="utf-8")
        if any(name in source for name in missing):
            missing -= _attributes_in(source)
        if not missing:
            break
    return missing


@lru_cache(maxsize=512)
def _attributes_in(source: str) -> frozenset[str]:
    """Names of attributes that are read in one file: components of a distribution share their sources.

    A text counts where `getattr` may be called with it: in a function that calls it, and in a list of names. As a key
    of a table it does not.
    """
    nodes = list(ast.walk(ast.parse(source)))
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}
    functions = (list(ast.walk(node)) for node in nodes if isinstance(node, ast.FunctionDef))
    asking = (inside for inside in functions if any(_is_getattr(node) for node in inside))
    lists = (node.elts for node in nodes if isinstance(node, (ast.Tuple, ast.List)))
    texts = (node.value for part in (*asking, *lists) for node in part if isinstance(node, ast.Constant))
    return frozenset(read.union(each for each in texts if isinstance(each, str)))


def _is_getattr(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "getattr"


def _sources(module: str) -> list[Path]:
    """The files of a module's package, or of a module without one; none of the kernel and of Python itself."""
    top = module.partition(".")[0]
    if top == "corekit" or top in sys.stdlib_module_names:
        return []
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:  # of a folder without one of its own
        file = getattr(sys.modules.get(module), "__file__", None)
        return [] if file is None else [Path(file)]
    return list(Path(file).parent.rglob("*.py")) if Path(file).stem == "__init__" else [Path(file)]


OPTIONS: tuple[Check, ...] = (options_described, options_round_trip, options_read)
"""Checks of options."""
