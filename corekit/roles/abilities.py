"""Abilities: what only some components can do, as plain words matched by set inclusion.

A spec declares them in `provides`; composition matches them against `requires`; the conformance kit
proves them. The role of a component, the kind of a contact solver and whether something keeps internal state
are known by the class that it derives from; no ability is. Third parties add `vendor:name`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["ABILITIES"]

ABILITIES: Mapping[str, str] = MappingProxyType(
    {
        # models
        "point-jacobian": "velocities of material points, so that it can touch things",
        "force-derivatives": "stiffness and damping matrices, for implicit steps",
        "dissipation": "which part of its damping matrix damps, for single solves of bodies that tumble",
        "inverse-dynamics": "the residual of the equation of motion at a given acceleration, with its derivatives",
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
        # contact solvers: how they enter the step
        "impulses": "solves complementarity for impulses",
        "anisotropic-coulomb": "friction with coefficients forward, backward and sideways along an axis",
        "potential": "adds a force and its derivative to the step equation",
        # integrators: what they can carry
        "coupled": "solves contact and dynamics as one system",
        "split": "steps the smooth dynamics first, then corrects it by contact",
        "implicit": "treats stiff forces implicitly",
        "error-controlled": "controls its error by a tolerance of its own",
        "newton": "iterates, so that forces may depend on the end of the step",
        # viewers
        "charts": "draws line charts",
        "progress": "reports the progress of long renderings",
        "serves": "shows a run live and replays it",
        "interactive": "lets a person drive the inputs of a simulation that goes on",
    }
)
"""Ability → what it means, in a phrase that fits after “can give”/“offers”."""
