"""`corekit new`: a complete distribution of one's own to start from, with a small working example inside.

The texts stand in `corekit_testing/templates`: `common` for every role, then one folder a role. A file's name loses
its `.in`, the folder `PACKAGE` becomes the package, and `{{word}}` in a text becomes that word's value.
"""

from __future__ import annotations

import keyword
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from corekit.cli import VERBS
from corekit.errors import ConfigError, Mistake
from corekit.registry.discover import discover
from corekit.registry.first_party import FIRST_PARTY, FIRST_PARTY_VERBS
from corekit.registry.spec import ROLES

__all__ = ["Role", "distribution_files", "new"]

Role = Literal[
    "model",
    "detector",
    "contact-solver",
    "contact-potential",
    "integrator",
    "controller",
    "lcp-solver",
    "qp-solver",
    "planner",
    "estimator",
    "viewer",
    "shape",
    "friction-law",
    "observer",
    "verb",
]

LONGEST_NAME = 24
_PARTNERS = "corekit-run corekit-sdf corekit-lcp corekit-complementarity corekit-timestep"


_ROLE_IDS: Mapping[Role, str] = MappingProxyType(
    {
        "model": "models",
        "detector": "contact_detectors",
        "contact-solver": "contact_solvers",
        "contact-potential": "contact_solvers",
        "integrator": "integrators",
        "controller": "controllers",
        "lcp-solver": "lcp_solvers",
        "qp-solver": "qp_solvers",
        "planner": "planners",
        "estimator": "estimators",
        "viewer": "viewers",
        "shape": "contact_detectors",
    }
)
"""What a distribution brings → the role of its component; friction laws, observers and verbs are none."""
_IN_WORDS: Mapping[Role, str] = MappingProxyType(
    {
        "shape": "shape",
        "friction-law": "friction law",
        "observer": "observer of runs",
        "verb": "command-line verb",
    }
)
_TAKES: Mapping[Role, str] = MappingProxyType(
    {
        "model": _PARTNERS,
        "friction-law": _PARTNERS,
        "lcp-solver": "corekit-run corekit-lcp",
        "qp-solver": "corekit-run corekit-qp",
    }
)
"""What its example takes beside `corekit-run` and the reference components of `corekit-testing`."""


def new(role: Role, name: str, /, *, folder: Path | None = None) -> None:
    """Write a distribution with a small working component, ready to change.

    Parameters
    ----------
    role
        What it brings: a component of a role, or a shape, friction law, observer of runs or verb.
    name
        The word scenario files will use, for example `spring-arm`; it names distribution and package too.
    folder
        Where to write it; a new folder called as the component if absent.
    """
    target = Path(name) if folder is None else folder
    mistakes = [*_name_mistakes(role, name), *_folder_mistakes(target)]
    if mistakes:
        raise ConfigError(mistakes, f"corekit new {role}")
    texts = distribution_files(role, name)
    _write(texts, target)
    commands = [f"cd {target}", 'pip install -e ".[test]"', "pytest"]
    if role in _ROLE_IDS:
        commands += [f"corekit {verb} {_ROLE_IDS[role]}.{name}" for verb in ("info", "conform")]
    verb, file, takes = "run", f"{name}.toml", _TAKES.get(role, "corekit-run")
    if role == "planner":
        verb, file, takes = "plan", f"{name}-plan.toml", "corekit-study"
    elif role == "estimator":
        verb, file, takes = "fit", f"{name}-fit.toml", "corekit-study corekit-statics"
    elif role == "verb":
        verb = name
    commands.append(f"corekit {verb} examples/{file}    # takes {takes}")
    print(f"wrote {target}, {len(texts)} files: {_in_words(role)} {name!r}, working as it is. Next:")
    print("\n".join(f"    {command}" for command in commands))
    print("Then change what it does; its README says where to begin.")


def _in_words(role: Role) -> str:
    return _IN_WORDS.get(role) or ROLES[_ROLE_IDS[role]]


def _write(texts: Mapping[str, str], target: Path) -> None:
    """Write a folder of texts whole or not at all: beside its name, and then in its place."""
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        for path, text in texts.items():
            place = partial / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        partial.rename(target)
    except OSError as error:
        error.filename = str(target)  # which the user knows
        raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def distribution_files(role: Role, name: str) -> dict[str, str]:
    """Path → text of every file of a new distribution; paths are relative, with forward slashes."""
    package = name.replace("-", "_")
    words = {
        "name": name,
        "package": package,
        "class": _class_name(name),
        "role": _ROLE_IDS.get(role, ""),
        "role_name": _in_words(role),
    }
    texts: dict[str, str] = {}
    for template in ("common", role):
        for path, text in _templates(files("corekit_testing") / "templates" / template):
            if template == "common" and role not in _ROLE_IDS and path == "tests/test_conformance.py.in":
                continue
            place = path.removesuffix(".in").replace("PACKAGE", package).replace("NAME", name)
            texts[place] = _substitute(text, words)
    return dict(sorted(texts.items()))


def _templates(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _templates(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".in"):
            yield prefix + entry.name, entry.read_text(encoding="utf-8")


def _substitute(text: str, words: Mapping[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda match: words[match[1]], text)


def _class_name(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


def _name_mistakes(role: Role, name: str) -> Iterator[Mistake]:
    role_id, package = _ROLE_IDS.get(role, ""), name.replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > LONGEST_NAME:
        allowed = f"must be lower-case words and digits joined by '-', at most {LONGEST_NAME} characters"
        proposal = re.sub(r"[^a-z0-9]+", "-", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()).strip("-")
        proposal = re.sub(r"^[\d-]+", "", proposal)[:LONGEST_NAME].rstrip("-")
        yield Mistake("name", name, allowed, f"try {proposal!r}" if proposal else "")
        return
    owners = [row.distribution for row in discover() if (row.role, row.name) == (role_id, name)]
    owners += [known.distribution for known in FIRST_PARTY if (known.role, known.name) == (role_id, name)]
    if owners:
        allowed = f"must be a new name: {owners[0]} brings a {ROLES[role_id]} of this name"
        yield Mistake("name", name, allowed, f"try {f'my-{name}'!r}")
    elif role == "verb" and name in {*FIRST_PARTY_VERBS, *(verb for verb, _, _ in VERBS)}:
        yield Mistake(
            "name", name, "must be a new name: there is a verb of this name", f"try {f'my-{name}'!r}"
        )
    elif keyword.iskeyword(package) or package in sys.stdlib_module_names or find_spec(package) is not None:
        allowed = f"must be a new name: a Python package {package!r} exists here"
        yield Mistake("name", name, allowed, f"try {f'my-{name}'!r}")
    elif _is_used(role, _class_name(name)):
        allowed = f"must not make a class {_class_name(name)}: the role's own"
        yield Mistake("name", name, allowed, f"try {f'my-{name}'!r}")


def _is_used(role: Role, class_name: str) -> bool:
    """Whether a role's texts use the word already, before a class of that name is put into them."""
    word = re.compile(rf"\b{class_name}(Config)?\b")
    return any(word.search(text) for _, text in _templates(files("corekit_testing") / "templates" / role))


def _folder_mistakes(target: Path) -> Iterator[Mistake]:
    if target.exists():
        yield Mistake("folder", str(target), "must not exist yet", "choose another with --folder")
