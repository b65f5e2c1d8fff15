"""Where the constants of sections come from that are given by their outlines: a distribution brings the solver.

[project.entry-points."corekit.section_solvers"]
saint-venant = "corekit_sections._spec:saint_venant"
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from attrs import frozen

from corekit.errors import PluginError
from corekit.extensions import Extensions

__all__ = ["GROUP", "SectionSolver", "section_solver"]

GROUP = "corekit.section_solvers"


@frozen(kw_only=True)
class SectionSolver:
    """A solver of sections.

    Args:
        name: of its entry point.
        function: `module:function` (vertices, holes) → `corekit.geometry.sections.OutlineConstants`; it keeps what it
            found, and raises ValueError, in words after “outline”, for what has no constants.
    """

    name: str
    function: str


_SOLVERS: Extensions[SectionSolver] = Extensions(GROUP, SectionSolver, "section solver", "name", {})


def section_solver() -> Callable[..., Any]:
    """The function of the installed solver, of several the first by name.

    Raises:
        ValueError: there is none.
        PluginError: it cannot be loaded.
    """
    names = _SOLVERS.names()
    if not names:
        raise ValueError("needs a distribution that solves sections: pip install corekit-sections")
    spec = _SOLVERS.find(names[0])
    module, _, name = spec.function.partition(":")
    try:
        return getattr(import_module(module), name)
    except Exception as error:  # a stranger's module may raise anything
        said = f"loading {spec.function} failed with {type(error).__name__}: {error}"
        raise PluginError(f"the section solver {spec.name!r}: {said}") from error
