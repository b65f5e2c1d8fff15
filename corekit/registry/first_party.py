"""The components this project itself offers, so that a missing one can be named with its install line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = [
    "BATCH",
    "FIRST_PARTY",
    "FIRST_PARTY_KEYS",
    "FIRST_PARTY_VERBS",
    "GRADIENTS",
    "RECORDER",
    "FirstParty",
    "is_ours",
    "owner_of",
]


class FirstParty(NamedTuple):
    """A component of a distribution that belongs to this project."""

    role: str
    name: str
    distribution: str

    @property
    def install_line(self) -> str:
        """The command that installs it."""
        return f"pip install {self.distribution}"


_OFFERED = (
    ("models", "corekit-pcc", "pcc"),
    ("models", "corekit-rigid", "rigid"),
    ("models", "corekit-der", "der"),
    ("models", "corekit-vine", "vine"),
    ("models", "corekit-gvs", "gvs"),
    ("models", "corekit-lagrangian", "lagrangian"),
    ("contact_detectors", "corekit-sdf", "sdf"),
    ("contact_detectors", "corekit-mpr", "mpr"),
    ("contact_detectors", "corekit-imc", "edges"),
    ("contact_solvers", "corekit-lcp", "lcp"),
    ("contact_solvers", "corekit-qp", "qp"),
    ("contact_solvers", "corekit-cone", "cone"),
    ("contact_solvers", "corekit-imc", "imc"),
    ("integrators", "corekit-timestep", "semi-implicit-euler rk23 implicit-euler implicit-midpoint newmark"),
    ("integrators", "corekit-timestep", "generalized-alpha verlet scipy-bdf scipy-radau scipy-rk45"),
    ("controllers", "corekit-feedback", "adaptive-tracking computed-torque pd sensors tracking-lqr"),
    ("lcp_solvers", "corekit-complementarity", "lemke semismooth-newton pgs chain"),
    ("qp_solvers", "corekit-quadratic", "banded osqp piqp proxqp"),
    ("planners", "corekit-mpcc", "ipopt-mpcc"),
    ("estimators", "corekit-fit", "ipopt-fit curvature-descent gauss-newton simulation-fit adjoint"),
    ("viewers", "corekit-view", "matplotlib video viser"),
)
"""Role, distribution, and the names of its components in that role."""

FIRST_PARTY: tuple[FirstParty, ...] = tuple(
    FirstParty(role, name, distribution) for role, distribution, names in _OFFERED for name in names.split()
)

RECORDER = "corekit-record"
"""The distribution of this project that records runs and reads what was recorded."""

BATCH = "corekit-batch"
"""The distribution of this project that steps many worlds at once."""

GRADIENTS = "corekit-gradients"
"""The distribution of this project that differentiates runs."""

FIRST_PARTY_VERBS: Mapping[str, str] = MappingProxyType(
    {
        "bench": "corekit-study",
        "cite": "corekit-study",
        "compare": "corekit-study",
        "conform": "corekit-testing",
        "doctor": "corekit-inspect",
        "export": "corekit-export",
        "fit": "corekit-study",
        "info": "corekit-inspect",
        "list": "corekit-inspect",
        "modes": "corekit-statics",
        "new": "corekit-testing",
        "plan": "corekit-study",
        "render": RECORDER,
        "reproduce": "corekit-study",
        "statics": "corekit-statics",
        "run": "corekit-run",
        "sweep": "corekit-study",
        "train": "corekit-gym",
        "optimise": "corekit-gradients",
        "view": RECORDER,
    }
)
"""Verb of the command line → the distribution of this project that adds it."""

FIRST_PARTY_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "mesh": "corekit-import reads it in obstacles and options of `rigid`: pip install corekit-import",
        "robot": "corekit-import reads it in options of `gvs`: pip install corekit-import",
    }
)
"""Key of a scenario that a distribution of this project replaces by what a file holds → the reader and where it is."""

_OWNERS = {(known.role, known.name): known.distribution for known in FIRST_PARTY}
_DISTRIBUTIONS = frozenset(
    {
        "corekit-kernel",
        BATCH,
        GRADIENTS,
        "corekit-dask",
        "corekit-import",
        "corekit-scenarios",
        "corekit-sections",
        *_OWNERS.values(),
        *FIRST_PARTY_VERBS.values(),
    }
)


def owner_of(role: str, name: str) -> str:
    """Return the distribution of this project whose component has a name; empty if none has."""
    return _OWNERS.get((role, name), "")


def is_ours(distribution: str) -> bool:
    """Whether this project offers a distribution, by any spelling of its name."""
    return re.sub(r"[-_.]+", "-", distribution).lower() in _DISTRIBUTIONS
