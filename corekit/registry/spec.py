"""Light descriptions of components and of the cases of papers, readable without importing anything heavy."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attrs import field, frozen

from corekit.version import __version__

__all__ = ["ABILITIES", "API_VERSION", "CASES", "ROLES", "SCENARIOS", "Case", "ComponentSpec", "api_problem"]

API_VERSION = __version__.rpartition(".")[0]
"""Plugin API of this kernel: its major.minor version."""

ROLES: Mapping[str, str] = MappingProxyType(
    {
        "models": "model",
        "contact_detectors": "contact detector",
        "contact_solvers": "contact solver",
        "integrators": "integrator",
        "controllers": "controller",
        "lcp_solvers": "LCP solver",
        "qp_solvers": "QP solver",
        "planners": "planner",
        "estimators": "estimator",
        "viewers": "viewer",
    }
)
"""Role id → its name in a sentence. The entry-point group of a role is `corekit.<role id>`."""

ABILITIES: Mapping[str, str] = MappingProxyType(
    {
        # models
        "point-jacobian": "velocities of material points, so that it can touch things",
        "force-derivatives": "stiffness and damping matrices, for implicit steps",
        "dissipation": "which part of its damping matrix damps, for single solves of bodies that tumble",
        "inverse-dynamics": "the residual of the equation of motion at a given acceleration, with its derivatives",
        "mass-gradient": "how its mass matrix changes along two velocities",
        "constraints": "constraints that always hold: joints, rods, loops",
        "bounded-constraints": "constraints with force bounds: stall, slack tendons",
        "prescribed": "coordinates that follow a given motion",
        "free-base": "a base that moves, so that it can be mounted on other bodies",
        "reparametrisation": "changes to equivalent coordinates between steps",
        "energy": "kinetic and potential energy",
        "force-terms": "the force as a sum of named parts",
        "contact-force-gradient": "the derivative of contact forces' generalised direction",
        "symbolic": "the same equations as CasADi expressions",
        "symbolic-parameters": "options as symbols in its CasADi expressions",
        "symbolic-constraints": "its constraints as CasADi expressions",
        "planar": "moves in a plane",
        "growth": "gets longer",
        "curvature-input": "natural curvature as an input",
        "input-jacobian": "derivative of the force in the inputs",
        "new-numbers": "other numbers in its options without being built anew",
        "compiled-form": "tables and C entries, by which many worlds are stepped at once without Python",
        "state-doubts": "what it leaves out and matters in a state, in words",
        # contact solvers: how they enter the step
        "impulses": "solves complementarity for impulses",
        "anisotropic-coulomb": "friction with coefficients forward, backward and sideways along an axis",
        "convex-friction": "friction of any law with a convex set, by its gauge",
        "potential": "adds a force and its derivative to the step equation",
        # integrators: what they can carry
        "coupled": "solves contact and dynamics as one system",
        "split": "steps the smooth dynamics first, then corrects it by contact",
        "implicit": "treats stiff forces implicitly",
        "error-controlled": "controls its error by a tolerance of its own",
        "single-solve": "makes one solve a step, at its start",
        "newton": "iterates, so that forces may depend on the end of the step",
        # viewers
        "charts": "draws line charts",
        "progress": "reports the progress of long renderings",
        "serves": "shows a run live and replays it",
        "interactive": "lets a person drive the inputs of a simulation that goes on",
        "pixels": "draws instants into arrays",
    }
)
"""Ability → what it means, in a phrase that fits after “can give”/“offers”.

An ability is what only some components can do, a plain word: a spec declares it in `provides`, composition matches it
against `requires`, and the conformance kit proves it. The role of a component, the kind of a contact solver and whether
something keeps internal state are known by the class that it derives from; no ability is. Third parties add
`vendor:name`.
"""

CASES = "corekit.cases"
"""Entry-point group of cases; an entry is named `<paper>.<case>` and points at a `Case`."""

SCENARIOS = "corekit.scenarios"
"""Entry-point group of folders with scenario files; an entry points at a function that returns the folder."""


def _role_requirements(value: Mapping[str, object]) -> Mapping[str, frozenset[str]]:
    return MappingProxyType({role: frozenset(needed) for role, needed in value.items()})  # pyrefly: ignore[bad-argument-type]


def _known_role(_spec: object, _attribute: object, value: str) -> None:
    if value not in ROLES:
        raise ValueError(f"unknown role {value!r}; roles are {', '.join(ROLES)}")


def api_problem(api: str, distribution: str) -> str:
    """Why a plugin written for this API does not fit this kernel and what to do about it, or nothing.

    The plugin API changes with every minor version, so that another major.minor is refused, older or newer.
    """
    if api == API_VERSION:
        return ""
    this = f"it was written for kernel API {api!r}, this kernel ({__version__}) has {API_VERSION!r}"
    try:
        major, minor = api.split(".")
        older = (int(major), int(minor)) < tuple(int(part) for part in API_VERSION.split("."))
    except ValueError:
        return f"{this}; an API is written major.minor: ask the author of {distribution} for a release that says so"
    if older:
        return f"{this}: upgrade the plugin (pip install --upgrade {distribution})"
    return f"{this}: upgrade the kernel (pip install --upgrade corekit-kernel)"


@frozen(kw_only=True)
class ComponentSpec:
    """What a component is, what it offers and what it needs: plain strings, nothing imported.

    An entry point in the group `corekit.<role>` names one of these, in the plugin's `_spec.py`.

    Args:
        role: role id, a key of `ROLES`.
        name: the word a scenario file uses, equal to the entry point's name.
        target: `package.module:Class` of the component, imported only when it is built.
        config: `package.module:Class` of its frozen attrs options class.
        summary: one sentence for `corekit list`.
        api: kernel major.minor that the plugin was written for, as a literal text: the listing reads it
            without importing the plugin.
        provides: abilities, for example `point-jacobian`, `force-derivatives`.
        requires: per role id, the abilities that every component used beside it must provide;
            an empty set requires only that one is present.
        initial: `package.module:Class` of the attrs class for `[bodies.initial]` (models only).
        modules: importable top-level modules the component needs, checked with `find_spec`.
        ability_modules: ability → modules that this ability alone needs.
        citation: how to cite the method.
        serves: about how many contacts that bodies connect a solver answers in some 20 ms a step, also where modes
            change; None is any number. `corekit check` and runs warn of more.
        order: of an integrator, the power of the step with which its error falls in smooth motion without impulses, the
            least of what its options choose; None where none is promised, as with error control.
        symbols: symbols that texts of options use, and axes, with their meanings, for `corekit info`.
    """

    role: str = field(validator=_known_role)
    name: str
    target: str
    config: str
    summary: str
    api: str
    provides: frozenset[str] = field(default=frozenset(), converter=frozenset)
    requires: Mapping[str, frozenset[str]] = field(factory=dict, converter=_role_requirements)
    initial: str | None = None
    modules: tuple[str, ...] = ()
    ability_modules: Mapping[str, tuple[str, ...]] = field(factory=dict)
    citation: str = ""
    serves: int | None = None
    order: int | None = None
    symbols: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class Case:
    """One figure or table of a paper, or what its text claims, and the function that redoes it.

    Args:
        paper: short name of the paper.
        name: of the case, unique in the paper: `corekit reproduce <paper>/<name>`.
        source: figure, table or section.
        shows: what it shows, in one sentence.
        target: `package.module:function` that is handed the case's run and returns its rows, imported only when
            the case is run.
        minutes: about how long it takes on two cores.
        alone: whether it measures time, so that nothing should run beside it.
        choices: parts that `--only` may choose among; empty if it has none.
        citation: the paper.
    """

    paper: str
    name: str
    source: str
    shows: str
    target: str
    minutes: float = 1.0
    alone: bool = False
    choices: tuple[str, ...] = ()
    citation: str = ""

    @property
    def path(self) -> str:
        """The words that name it on the command line."""
        return f"{self.paper}/{self.name}"
