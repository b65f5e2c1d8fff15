"""Whether a component's class is what its spec promises: its role, its methods with their arguments, its abilities.

The classes that state roles and abilities are named as plugins are, by `module:Class`, and imported when one is
checked: the registry stays light.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from corekit.registry.resolve import load_target
from corekit.registry.spec import ROLES, ComponentSpec

__all__ = ["contract_problem"]

_ROLE_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "models": "corekit.roles.model:Model",
        "contact_detectors": "corekit.roles.detector:ContactDetector",
        "contact_solvers": "corekit.roles.contact:ContactSolver",
        "integrators": "corekit.roles.integrator:Integrator",
        "controllers": "corekit.roles.controller:Controller",
        "lcp_solvers": "corekit.roles.problem:LCPSolver",
        "qp_solvers": "corekit.roles.problem:QPSolver",
        "planners": "corekit.roles.planner:Planner",
        "estimators": "corekit.roles.estimator:Estimator",
        "viewers": "corekit.roles.viewer:Viewer",
    }
)
_ABILITY_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "point-jacobian": "corekit.roles.model_abilities:PointJacobianAbility",
        "force-derivatives": "corekit.roles.model_abilities:ForceDerivativesAbility",
        "dissipation": "corekit.roles.model_abilities:DissipationAbility",
        "inverse-dynamics": "corekit.roles.model_abilities:InverseDynamicsAbility",
        "mass-gradient": "corekit.roles.model_abilities:MassGradientAbility",
        "constraints": "corekit.roles.model_abilities:ConstraintAbility",
        "prescribed": "corekit.roles.model_abilities:PrescribedMotionAbility",
        "free-base": "corekit.roles.model_abilities:FreeBaseAbility",
        "reparametrisation": "corekit.roles.model_abilities:ReparametrisationAbility",
        "energy": "corekit.roles.model_abilities:EnergyAbility",
        "force-terms": "corekit.roles.model_abilities:ForceTermsAbility",
        "input-jacobian": "corekit.roles.model_abilities:InputJacobianAbility",
        "new-numbers": "corekit.roles.model_abilities:NewNumbersAbility",
        "compiled-form": "corekit.roles.compiled_form:CompiledFormAbility",
        "state-doubts": "corekit.roles.model_abilities:StateDoubtsAbility",
        "symbolic": "corekit.roles.symbolic:SymbolicAbility",
        "symbolic-constraints": "corekit.roles.symbolic:SymbolicAbility",
        "single-solve": "corekit.roles.compiled_form:SingleSolveAbility",
        "charts": "corekit.roles.viewer:ChartDrawer",
        "progress": "corekit.roles.viewer:ProgressViewer",
        "serves": "corekit.roles.viewer:ReplayServer",
        "interactive": "corekit.roles.viewer:InteractiveViewer",
        "pixels": "corekit.roles.viewer:PixelDrawer",
    }
)
"""Ability → the protocol that states its methods."""
_STATEFUL = "corekit.roles.component:Stateful"
_KINDS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("contact_solvers", "impulses"): "corekit.roles.contact:ImpulseSolver",
        ("contact_solvers", "potential"): "corekit.roles.contact:ContactPotential",
    }
)
"""Role and ability → the class that a component with it derives from."""


def contract_problem(target: Any, spec: ComponentSpec) -> str:
    """Why the target of a spec is not what the spec promises, in one sentence; empty if it is.

    Args:
        target: what the spec's target names.
        spec: what it says of itself.
    """
    return next(_problems(target, spec), "")


def _problems(target: Any, spec: ComponentSpec) -> Iterator[str]:
    what = f"{spec.target} is no {ROLES[spec.role]}"
    if not isinstance(target, type):
        yield f"{what}: it is a {type(target).__name__}, not a class"
        return
    kinds = [
        name for (role, ability), name in _KINDS.items() if role == spec.role and ability in spec.provides
    ]
    for name in (_ROLE_CLASSES[spec.role], *kinds):
        base = load_target(name)
        if not issubclass(target, base):
            yield f"{what}: it does not derive from {name.replace(':', '.')}"
            return
    missing = sorted(getattr(target, "__abstractmethods__", ()))
    if missing:
        yield f"{spec.target} lacks {_listed(missing)}, which every {ROLES[spec.role]} of this kernel has"
    for stated in (load_target(_ROLE_CLASSES[spec.role]), *map(load_target, kinds)):
        yield from _signatures(target, stated, spec)
    for ability in sorted(spec.provides & _ABILITY_CLASSES.keys()):
        protocol = load_target(_ABILITY_CLASSES[ability])
        absent = [name for name in _methods(protocol) if not callable(getattr(target, name, None))]
        if absent:
            yield f"{spec.target} promises {ability!r} and lacks {_listed(absent)}"
        yield from _signatures(target, protocol, spec)
    if hasattr(target, "internal_state") and not issubclass(target, load_target(_STATEFUL)):
        yield f"{spec.target} has internal_state, which nothing saves: it does not derive from Stateful"
    # an ability with modules of its own is promised where they are installed
    promised = spec.provides | spec.ability_modules.keys()
    stated = [_ROLE_CLASSES[spec.role], *(_ABILITY_CLASSES.get(each, "") for each in promised)]
    called = {name for each in stated if each for name in _methods(load_target(each))}
    for ability in sorted(_ABILITY_CLASSES.keys() - promised):
        methods = [name for name in _methods(load_target(_ABILITY_CLASSES[ability])) if name not in called]
        if methods and all(callable(getattr(target, name, None)) for name in methods):
            yield f"{spec.target} has {_listed(methods)}, which nothing calls: its spec does not promise {ability!r}"
    if not _accepts(target, 2):
        yield f"{spec.target} cannot be built as {target.__name__}(config, context), as every component is"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


@cache
def _methods(stated: type) -> list[str]:
    """List the public methods of a role or a protocol, without properties."""
    found: dict[str, None] = {}
    for cls in stated.__mro__:
        if cls.__module__.partition(".")[0] == "corekit":
            found |= {name: None for name, each in vars(cls).items() if inspect.isfunction(each)}
    return [name for name in found if not name.startswith("_")]


def _signatures(target: type, stated: type, spec: ComponentSpec) -> Iterator[str]:
    """Find methods that cannot be called with the arguments of the role."""
    for name in _methods(stated):
        wanted, found = getattr(stated, name), getattr(target, name, None)
        if found is None or found is wanted or not callable(found):
            continue
        if not all(_accepts(found, count) for count in _arguments_by_position(wanted)):
            yield (
                f"{spec.target} takes {name}{_arguments(found)}, the {ROLES[spec.role]} of this kernel has "
                f"{name}{_arguments(wanted)}"
            )


@cache
def _arguments_by_position(function: Any) -> tuple[int, int]:
    """Return how many arguments by position a method of a role has at most and at least."""
    given = [
        each for each in inspect.signature(function).parameters.values() if each.kind is not each.KEYWORD_ONLY
    ]
    return len(given), sum(each.default is each.empty for each in given)


@lru_cache(maxsize=4096)  # the same classes are composed again and again
def _accepts(function: Any, count: int) -> bool:
    """Whether something can be called with as many arguments by position; True where Python does not know."""
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # of compiled code without a signature
        return True
    return True


def _arguments(function: Any) -> str:
    """Return its arguments without their types."""
    return "(" + ", ".join(inspect.signature(function).parameters) + ")"
