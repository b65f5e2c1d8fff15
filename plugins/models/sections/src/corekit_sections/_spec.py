"""What the kernel reads of this plugin."""

from corekit.geometry.section_solvers import SectionSolver

__all__ = ["saint_venant"]

saint_venant = SectionSolver(name="saint-venant", function="corekit_sections.saint_venant:solve_outline")
