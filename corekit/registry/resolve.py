"""Depths 2 and 3 of the registry: from a name to its light spec, and from a spec to the class itself."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from operator import attrgetter
from typing import Any

from attrs import evolve
from packaging.utils import canonicalize_name

from corekit.distributions import distributions, version_of
from corekit.errors import CorekitError, ExtraNotInstalled, PluginError, PluginFailed
from corekit.registry.discover import Installed, discover, extra_with, module_is_missing
from corekit.registry.first_party import FIRST_PARTY, FirstParty, owner_of
from corekit.registry.spec import ROLES, ComponentSpec, api_problem

__all__ = [
    "call_target", "did_you_mean", "find", "load_spec", "load_target", "missing_abilities", "read_spec", "resolve",
]  # fmt: skip


def resolve(role: str, name: str, installed: Sequence[Installed] | None = None) -> ComponentSpec:
    """Return the spec of a component, importing only its plugin's light `_spec.py`.

    Abilities whose modules are missing are dropped from `provides`; `missing_abilities` says why.

    Args:
        role: role id, a key of `ROLES`.
        name: the component's name, or `distribution:name` where two distributions offer it.
        installed: rows of `discover()`, if the caller already has them.
    Raises:
        PluginError: unknown, ambiguous or unusable; the message says what to do.
    """
    if role not in ROLES:
        raise PluginError(f"unknown role {role!r}{did_you_mean(role, ROLES)}; roles are {', '.join(ROLES)}")
    return load_spec(find(role, name, discover() if installed is None else installed))


def find(role: str, name: str, installed: Sequence[Installed]) -> Installed:
    """Find the one row with this role and name; `name` may be `distribution:name`.

    A name of this project alone means its own component, whoever else offers one of that name.

    Raises:
        PluginError: there is none, or there are several.
    """
    owner, _, bare = name.rpartition(":")
    of_role = [row for row in installed if row.role == role]
    matches = [row for row in of_role if row.name == bare and owner in {"", row.distribution}]
    if not owner and (project := owner_of(role, bare)):
        matches = [row for row in matches if canonicalize_name(row.distribution) == project]
    if len(matches) == 1:
        return matches[0]
    if matches:
        choices = " or ".join(f"`{row.distribution}:{row.name}`" for row in matches)
        raise PluginError(f"{_phrase(role, name)} is offered by several distributions: write {choices}")
    raise PluginError(_unknown_name(role, owner, bare, of_role))


def load_spec(row: Installed) -> ComponentSpec:
    """Load the spec of a component that can be used here, without the abilities whose modules are missing.

    Raises:
        PluginError: as for `read_spec`, or a module that it cannot do without is missing; an `ExtraNotInstalled` where
            an extra of its distribution brings that.
    """
    spec = read_spec(row)
    missing = [module for module in spec.modules if module_is_missing(module)]
    if missing:
        extra = extra_with(row.distribution, missing)
        how = f"pip install '{row.distribution}[{extra}]'" if extra else ""
        raise (ExtraNotInstalled if extra else PluginError)(f"{_who(row)} needs {_modules(missing, how)}")
    return evolve(spec, provides=spec.provides - missing_abilities(spec).keys())


def _who(row: Installed) -> str:
    return f"{_phrase(row.role, row.name)} of {row.distribution} {row.version}"


def read_spec(row: Installed) -> ComponentSpec:
    """Import a row's `_spec.py` and check what it says against the entry point and the API.

    Raises:
        PluginError: the plugin is unusable, raises at import, or its spec is not what it should be.
    """
    who = _who(row)
    if row.reason:
        raise PluginError(f"{who} cannot be used: {row.reason}")
    spec = load_target(row.entry, who)
    if not isinstance(spec, ComponentSpec):
        raise PluginError(
            f"{who}: its entry point {row.entry} is a {type(spec).__name__}, not a ComponentSpec"
        )
    if (spec.role, spec.name) != (row.role, row.name):
        raise PluginError(
            f"{who}: its spec says role {spec.role!r} and name {spec.name!r}; entry point and spec must agree"
        )
    problem = api_problem(spec.api, row.distribution)
    if problem:
        raise PluginError(f"{who} cannot be used: {problem}")
    return spec


def missing_abilities(spec: ComponentSpec) -> Mapping[str, str]:
    """Return ability → why it is not available here, for the abilities whose modules cannot be found."""
    reasons: dict[str, str] = {}
    for ability, modules in spec.ability_modules.items():
        missing = [module for module in modules if module_is_missing(module)]
        if missing:
            reasons[ability] = f"needs {_modules(missing)}"
    return reasons


def load_target(target: str, who: str = "") -> Any:
    """Import the object that `package.module:object` names.

    Args:
        who: what to call its owner in an error; the plugin of its package if empty.
    Raises:
        PluginError: whatever went wrong on the way, with plugin, distribution and exception named.
    """
    module, _, attribute = target.partition(":")
    try:
        return attrgetter(attribute.strip())(import_module(module.strip()))
    except (Exception, SystemExit) as error:
        said = f"importing {target} failed with {type(error).__name__}: {error}"
        raise PluginError(f"{who or _owner(target)}: {said}") from error


def call_target(target: str, owner: str, *arguments: object) -> Any:
    """Call the function that a hook of a distribution names.

    Raises:
        PluginError: it cannot be imported.
        PluginFailed: it raised something that is no error of corekit's.
    """
    function = load_target(target, f"{target} of {owner}")
    try:
        return function(*arguments)
    except CorekitError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise PluginFailed(f"{target} of {owner} raised {said}: repair or uninstall it") from error


def _owner(target: str) -> str:
    """Name the plugin of a target; needed only after a failed import."""
    package = _package(target)
    owners = [row for row in discover() if _package(row.entry) == package]
    if not owners:
        declared = [entry for each in distributions() for entry in each.entries]
        brought = {
            f"{each.distribution} {each.version}" for each in declared if _package(each.value) == package
        }
        return f"package {package}" + (f" of {' and '.join(sorted(brought))}" if brought else "")
    # those that name it, where their specs can be read
    names = ", ".join(row.name for row in [row for row in owners if _names(row, target)] or owners)
    return f"plugin {names} of {owners[0].distribution} {owners[0].version}"


def _package(target: str) -> str:
    return target.partition(":")[0].partition(".")[0].strip()


def _names(row: Installed, target: str) -> bool:
    """Whether a component's spec names a target."""
    try:
        spec = read_spec(row)
    except PluginError:
        return False
    return target in {spec.target, spec.config, spec.initial}


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return `, did you mean 'x'?` for the closest choice, or nothing."""
    # a longer word is near to none, and finding that out takes long
    close = difflib.get_close_matches(str(word)[:200].lower(), list(choices), n=1, cutoff=0.6)
    return f", did you mean {close[0]!r}?" if close else ""


def _absent(known: FirstParty) -> str:
    """Say what to do about a component of this project that is not there."""
    version = version_of(known.distribution)
    if version is None:
        return f"is not installed: {known.install_line}"
    again = f"pip install --force-reinstall {known.distribution}"
    return f"cannot be found, though {known.distribution} {version} is installed; reinstall it: {again}"


def _phrase(role: str, name: str) -> str:
    return f"{ROLES.get(role, role)} {name!r}"


def _modules(missing: Sequence[str], how: str = "") -> str:
    if len(missing) == 1:
        return f"the module {missing[0]}, which is not installed: {how or 'install it'}"
    return f"the modules {', '.join(missing)}, which are not installed: {how or 'install them'}"


def _unknown_name(role: str, owner: str, bare: str, of_role: Sequence[Installed]) -> str:
    if owner:
        owners = sorted({row.distribution for row in of_role if row.name == bare})
        if owners:
            hint = did_you_mean(owner, owners)
            return f"{owner} offers no {_phrase(role, bare)}{hint}; {' and '.join(owners)} does"
    for known in FIRST_PARTY:
        if (known.role, known.name) == (role, bare):
            others = " or ".join(f"`{row.distribution}:{bare}`" for row in of_role if row.name == bare)
            said = f"; the one of another distribution is {others}" if others else ""
            return f"{_phrase(role, bare)} {_absent(known)}{said}"
    here = sorted({row.name for row in of_role if not row.reference})
    listing = f"installed are {', '.join(here)}" if here else "none is installed"
    known_names = {known.name: known for known in FIRST_PARTY if known.role == role}
    hint = did_you_mean(bare, [*here, *known_names])
    close = next(
        (known for name, known in known_names.items() if repr(name) in hint and name not in here), None
    )
    install = f" (not installed: {close.install_line})" if close else ""
    return f"unknown {_phrase(role, bare)}{hint}{install}; {listing}"
