"""The pages of the roles say all that the kernel and the kit ask of an author, and show what `corekit new` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import attrs
import pytest

from corekit.cli import main
from corekit.geometry.shape_specs import ShapeSpec
from corekit.registry.first_party import FIRST_PARTY_VERBS
from corekit.registry.spec import ABILITIES, ROLES, ComponentSpec
from corekit.roles import model_abilities, symbolic, viewer
from corekit.roles.compiled_form import SingleSolveAbility
from corekit.roles.component import BuildContext
from corekit.roles.contact import ContactMotion, ContactPotential, StepProblem, UnreducedStepSolver
from corekit.roles.controller import ControlledWorld, Controller
from corekit.roles.detector import ContactDetector
from corekit.roles.estimator import Estimate, EstimationTask, Estimator
from corekit.roles.friction import FrictionLaw
from corekit.roles.integrator import Integrator, System
from corekit.roles.model import Model, ModelDescription
from corekit.roles.planner import Plan, Planner, PlanningTask
from corekit.roles.problem import LCPProblem, LCPSolver, QPProblem, QPSolver
from corekit.roles.steps import SmoothDynamics, SplitStep, ThetaStep
from corekit_run.observers import RunObserver
from corekit_testing.cli.new import Role, distribution_files
from corekit_testing.conformance.laws import LAW_CLAIMS
from corekit_testing.conformance.observers import OBSERVER_CLAIMS
from corekit_testing.conformance.runner import checks_of
from corekit_testing.conformance.shapes import SHAPE_CLAIMS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "roles").glob("*.md")}
GUIDE = (DOCS / "authors_guide.md").read_text(encoding="utf-8").partition(". The words in provides\n")[2]
OF_ROLE = {
    "models": ("model",),
    "contact_detectors": ("detector",),
    "contact_solvers": ("contact-solver", "contact-potential"),
    "integrators": ("integrator",),
    "controllers": ("controller",),
    "lcp_solvers": ("lcp-solver",),
    "qp_solvers": ("qp-solver",),
    "planners": ("planner",),
    "estimators": ("estimator",),
    "viewers": ("viewer",),
}
"""Role id → pages."""
CHAPTERS = (
    "The equation",
    "The contract",
    "Words in provides",
    "A complete one",
    "Test and debug",
    "What the kit refuses",
)


def chapter(page: str, title: str) -> str:
    found = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGES[page], re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"{page}.md has {len(found)} chapters {title!r}"
    return found[0]


def entries(page: str, title: str) -> list[str]:
    """What the first column of the tables of a chapter names."""
    return re.findall(r"^\| `([^`|]+)` \|", chapter(page, title), re.MULTILINE)


def words_in_code(page: str) -> set[str]:
    """The words in a page's backticks."""
    spans = [span for line in PAGES[page].splitlines() for span in re.findall(r"`([^`]+)`", line)]
    return {word for span in spans for word in re.findall(r"\w+", span)}


def test_everything_that_corekit_new_writes_has_its_page_in_the_table_of_contents():
    tree = re.findall(r"```\{toctree\}\n:maxdepth: 1\n\n(.*?)\n```", PAGES["index"], re.DOTALL)[0].split()
    assert sorted(tree) == sorted(get_args(Role))
    assert set(PAGES) == {*tree, "index"}
    assert set(OF_ROLE) == set(ROLES)


@pytest.mark.parametrize("page", get_args(Role))
def test_a_page_has_every_chapter(page):
    assert all(chapter(page, title).strip() for title in CHAPTERS)


@pytest.mark.parametrize("role", ROLES)
def test_every_word_of_a_role_s_provides_has_its_entry(role):
    """The table of the guide, which is that of the kernel by a test of its own, is the measure."""
    (row,) = re.findall(rf"^\| {ROLES[role]} \|(.*)\|[^|]*\|$", GUIDE, re.MULTILINE)
    words = set(re.findall(r"`([^`]+)`", row))
    found = [word for page in OF_ROLE[role] for word in entries(page, "Words in provides")]
    assert set(found) == words
    assert len(found) == len(words)
    assert words <= set(ABILITIES)


ABILITIES_OF_MODELS = [
    cls for name, cls in vars(model_abilities).items() if name.endswith("Ability") and isinstance(cls, type)
]
METHODS = [
    ("model", Model, *ABILITIES_OF_MODELS, symbolic.SymbolicParameters, symbolic.SymbolicConstraints),
    ("detector", ContactDetector),
    ("contact-solver", UnreducedStepSolver),
    ("contact-potential", ContactPotential, ContactMotion),
    ("lcp-solver", LCPSolver),
    ("qp-solver", QPSolver),
    ("integrator", Integrator, SingleSolveAbility, System, ThetaStep, SplitStep, SmoothDynamics),
    ("controller", Controller, ControlledWorld),
    ("planner", Planner),
    ("estimator", Estimator),
    (
        "viewer",
        *(
            cls
            for name in viewer.__all__
            if isinstance(cls := vars(viewer)[name], type) and not attrs.has(cls)
        ),
    ),
    ("observer", RunObserver),
]


@pytest.mark.parametrize(("page", "classes"), [(page, classes) for page, *classes in METHODS])
def test_every_method_of_a_role_and_of_its_words_is_named(page, classes):
    names = {
        name for cls in classes for base in cls.__mro__ for name in vars(base)
        if base.__module__.startswith("corekit") and not name.startswith("_")
    }  # fmt: skip
    assert not names - words_in_code(page)


@pytest.mark.parametrize(
    ("page", "cls"),
    [
        ("index", ComponentSpec),
        ("index", BuildContext),
        ("model", ModelDescription),
        ("shape", ShapeSpec),
        ("friction-law", FrictionLaw),
        ("contact-solver", StepProblem),
        ("lcp-solver", LCPProblem),
        ("qp-solver", QPProblem),
        ("planner", PlanningTask),
        ("planner", Plan),
        ("estimator", EstimationTask),
        ("estimator", Estimate),
        ("viewer", viewer.Replay),
        ("observer", RunObserver),
    ],
)
def test_every_field_of_what_is_handed_over_is_named(page, cls: Any):
    if attrs.has(cls):
        names = {each.name for each in attrs.fields(cls)}
    else:
        names = {*cls.__annotations__, *(name for name in vars(cls) if not name.startswith("_"))}
    assert not names - words_in_code(page)


def own_checks(page: str, role: str) -> set[str]:
    general = set(entries("index", "What the kit refuses in every role"))
    kinds = {"contact-solver": "impulses", "contact-potential": "potential"}
    other = set(kinds.values()) - {kinds.get(page, "")}
    return {
        each.name
        for each in checks_of(role)
        if each.name not in general and (page not in kinds or not each.needs & other)
    }


@pytest.mark.parametrize(
    ("role", "page"), [(role, page) for role, pages in OF_ROLE.items() for page in pages]
)
def test_every_check_of_a_role_has_its_line(role, page):
    found = [name for name in entries(page, "What the kit refuses") if name != "buffers-overwritten"]
    assert set(found) == own_checks(page, role) - {"buffers-overwritten"}
    assert len(found) == len(set(found))


def test_what_is_refused_in_every_role_is_asked_of_most_roles():
    general = set(entries("index", "What the kit refuses in every role"))
    for role in ROLES:
        missing = general - {each.name for each in checks_of(role)}
        # files are what viewers give: they share no memory
        assert missing <= ({"answers-own-memory"} if role == "viewers" else set())


def test_every_check_of_observers_has_its_line():
    assert entries("observer", "What the kit refuses") == list(OBSERVER_CLAIMS)


def test_every_check_of_friction_laws_and_shapes_has_its_line():
    assert entries("friction-law", "What the kit refuses") == list(LAW_CLAIMS)
    assert entries("shape", "What the kit refuses") == list(SHAPE_CLAIMS)


@pytest.mark.parametrize("page", get_args(Role))
def test_what_a_page_shows_is_what_corekit_new_writes(page, sources):
    shown = re.findall(r"\{literalinclude\} (\S+)", PAGES[page])
    once_for_all = "__init__.py", "config.py", "pyproject.toml", "test_conformance.py"
    own = {path for path in sources if path.startswith(f"new/{page}/") and not path.endswith(once_for_all)}
    written = {path.removeprefix("../_generated/") for path in shown if "_generated" in path}
    assert own <= written <= set(sources)
    for path in shown:
        assert "_generated" in path or (DOCS / "roles" / path).exists()
    begins = re.findall(
        r"\{literalinclude\} \.\./_generated/(\S+)\n:language: \w+\n:start-at: (.*)\n", PAGES[page]
    )
    for path, begin in begins:
        assert begin.strip("'").rstrip() in sources[path]


def commands() -> Iterator[tuple[str, str]]:
    """Verb and what follows it, of every command on the pages and in what `corekit new` writes."""
    texts = [
        *PAGES.values(),
        *(text for role in get_args(Role) for text in distribution_files(role, "mine").values()),
    ]
    for text in texts:
        for verb, words in re.findall(r"\bcorekit ([a-z]+)\b([^`\n#]*)", text):
            if verb in FIRST_PARTY_VERBS:
                yield verb, words


def test_every_argument_of_a_command_that_is_printed_is_taken(capsys):
    used: dict[str, set[str]] = {}
    for verb, words in commands():
        used.setdefault(verb, set()).update(re.findall(r"(?<!\S)--?[a-z][a-z-]*", words))
    used = {verb: arguments for verb, arguments in used.items() if arguments}
    assert {"run", "conform", "render", "compare"} <= used.keys()
    for verb, arguments in used.items():
        assert main([verb, "--help"]) == 0
        taken = set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", capsys.readouterr().out))
        assert arguments <= taken | {"--help"}, verb


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    import runpy

    return runpy.run_path(str(DOCS / "generate.py"))["new_sources"]()
