"""The components this project itself offers, so that a missing one can be named with its install line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from corekit.registry.discover import Installed

__all__ = ["FIRST_PARTY", "FIRST_PARTY_VERBS", "RECORDER", "FirstParty", "not_installed"]


class FirstParty(NamedTuple):
    """A component of a distribution that belongs to this project."""

    role: str
    name: str
    distribution: str

    @property
    def install_line(self) -> str:
        """The command that installs it."""
        return f"pip install {self.distribution}"


FIRST_PARTY: tuple[FirstParty, ...] = (
    FirstParty("models", "pcc", "corekit-pcc"),
    FirstParty("models", "rigid", "corekit-rigid"),
    FirstParty("models", "der", "corekit-der"),
    FirstParty("models", "vine", "corekit-vine"),
    FirstParty("models", "gvs", "corekit-gvs"),
    FirstParty("contact_detectors", "sdf", "corekit-sdf"),
    FirstParty("contact_detectors", "mpr", "corekit-mpr"),
    FirstParty("contact_detectors", "edges", "corekit-imc"),
    FirstParty("contact_solvers", "lcp", "corekit-lcp"),
    FirstParty("contact_solvers", "qp", "corekit-qp"),
    FirstParty("contact_solvers", "cone", "corekit-cone"),
    FirstParty("contact_solvers", "imc", "corekit-imc"),
    FirstParty("integrators", "semi-implicit-euler", "corekit-timestep"),
    FirstParty("integrators", "rk23", "corekit-timestep"),
    FirstParty("integrators", "implicit-euler", "corekit-timestep"),
    FirstParty("integrators", "implicit-midpoint", "corekit-timestep"),
    FirstParty("integrators", "newmark", "corekit-timestep"),
    FirstParty("integrators", "generalized-alpha", "corekit-timestep"),
    FirstParty("integrators", "verlet", "corekit-timestep"),
    FirstParty("integrators", "scipy-bdf", "corekit-timestep"),
    FirstParty("integrators", "scipy-radau", "corekit-timestep"),
    FirstParty("integrators", "scipy-rk45", "corekit-timestep"),
    FirstParty("lcp_solvers", "lemke", "corekit-complementarity"),
    FirstParty("lcp_solvers", "semismooth-newton", "corekit-complementarity"),
    FirstParty("lcp_solvers", "pgs", "corekit-complementarity"),
    FirstParty("lcp_solvers", "chain", "corekit-complementarity"),
    FirstParty("qp_solvers", "banded", "corekit-quadratic"),
    FirstParty("qp_solvers", "osqp", "corekit-quadratic"),
    FirstParty("qp_solvers", "piqp", "corekit-quadratic"),
    FirstParty("qp_solvers", "proxqp", "corekit-quadratic"),
    FirstParty("planners", "ipopt-mpcc", "corekit-mpcc"),
    FirstParty("estimators", "ipopt-fit", "corekit-fit"),
    FirstParty("estimators", "curvature-descent", "corekit-fit"),
    FirstParty("estimators", "gauss-newton", "corekit-fit"),
    FirstParty("viewers", "matplotlib", "corekit-view"),
    FirstParty("viewers", "video", "corekit-view"),
    FirstParty("viewers", "viser", "corekit-view"),
)

RECORDER = "corekit-record"
"""The distribution of this project that records runs and reads what was recorded."""

FIRST_PARTY_VERBS: Mapping[str, str] = MappingProxyType(
    {
        "bench": "corekit-study",
        "cite": "corekit-study",
        "compare": "corekit-study",
        "conform": "corekit-testing",
        "fit": "corekit-study",
        "new": "corekit-testing",
        "plan": "corekit-study",
        "render": RECORDER,
        "reproduce": "corekit-study",
        "statics": "corekit-statics",
        "sweep": "corekit-study",
        "view": RECORDER,
    }
)
"""Verb of the command line → the distribution of this project that adds it."""


def not_installed(installed: Iterable[Installed]) -> tuple[FirstParty, ...]:
    """List the components of `FIRST_PARTY` that no installed distribution offers."""
    present = {(component.role, component.name) for component in installed}
    return tuple(known for known in FIRST_PARTY if (known.role, known.name) not in present)
