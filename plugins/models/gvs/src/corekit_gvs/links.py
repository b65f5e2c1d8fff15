"""Divisions and links: what a tree is made of, beside joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from attrs import fields, frozen

from corekit.errors import ConfigError, Mistake
from corekit.geometry.sections import outline_problem
from corekit.roles.options import option, refuse_given
from corekit_gvs.basis import Basis
from corekit_gvs.joints import Joint
from corekit_gvs.link_shapes import LinkShape
from corekit_gvs.options import Profile, Triple, is_word, loop, loops, numbers, profile, texts

__all__ = ["Division", "Link"]


def _inertia_problem(value: tuple[float, ...]) -> str | None:
    """What is wrong with (xx, yy, zz) or (xx, yy, zz, xy, xz, yz), or None; moments that move nothing may be 0."""
    if len(value) not in (3, 6):
        return "give 3 or 6 numbers"
    xx, yy, zz, xy, xz, yz = (*value, 0.0, 0.0, 0.0)[:6]
    moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if moments[0] < -1e-9 * abs(moments[2]):
        return f"principal moments must not be negative, they are {moments.tolist()}"
    return None


@final
@frozen(kw_only=True)
class Division:
    """A piece of a soft link with its own length, section, material and bases; profiles are over its X ∈ [0, 1].

        M̄ = ρ·diag(I_y + I_z, I_y, I_z, A, A, A),   Σ = diag(G·J, E·I_y, E·I_z, E·A, k_y·G·A, k_z·G·A),
        Υ = η·diag(J, 3·I_y, 3·I_z, 3·A, k_y·A, k_z·A)                                                (1)

    with Hooke's elastic energy ½·(ξ − ξ*)ᵀ·Σ·(ξ − ξ*) per length, or another by `strain_energy` (`elastic_law`);

    with J and k of `corekit.geometry.sections`: Saint-Venant's torsion constant and Cowper's shear coefficients.
    Fluid of density ρ_w, with the section's η = (ω, v) and radius r (or √(A/π)), per length:

        added mass ρ_w·A·diag(added_mass),   f = −|v|·ρ_w·r·[[π·C_x/2, −L_z, L_y], [L_z, C_y, −L_x], [−L_y, L_x, C_z]]·v
    """

    length: float = option(0.1, "L", unit="m", above=0)
    section: str = option(
        "circle", "circle, rectangle (height along y, width along z), ellipse (semi-axes), outline or given",
        choices=("circle", "rectangle", "ellipse", "outline", "given"),
    )  # fmt: skip
    radius: Profile = profile(
        0.01, "of a circle; of any section, that of drawing, contact and drag", unit="m"
    )
    inner_radius: Profile = profile(0.0, "of the hole in a circle; 0: none", unit="m")
    height: Profile = profile(0.02, "along y: of a rectangle, or semi-axis of an ellipse", unit="m")
    width: Profile = profile(0.02, "along z: of a rectangle, or semi-axis of an ellipse", unit="m")
    outline: tuple[tuple[float, ...], ...] = option(
        (),
        "of section outline: its vertices [y, z] in turn; [y, z, bulge] where an arc leads to the next one, the "
        "tangent of a quarter of its angle, 1 a half circle. The rod's axis is the centroid, y and z principal axes",
        unit="m",
        converter=loop,
    )
    holes: tuple[tuple[tuple[float, ...], ...], ...] = option(
        (), "of section outline: vertices of its holes", unit="m", converter=loops
    )
    scale: Profile = profile(1.0, "of section outline: how large it is, 1: as drawn")
    inertia: tuple[float, ...] = option(
        (), "given section: diagonal of M̄, six numbers", unit="kg·m, kg/m", low=0, converter=numbers
    )
    rigidity: tuple[float, ...] = option(
        (), "given section: diagonal of Σ, six numbers", unit="N·m², N", low=0, converter=numbers
    )
    viscous_rigidity: tuple[float, ...] = option(
        (), "given section: diagonal of Υ, six numbers; none: 0", unit="N·m²·s, N·s", low=0, converter=numbers
    )
    young: float = option(1e6, "E, unless the section is given", unit="Pa", above=0)
    poisson: float = option(
        0.5, "ν, for G = E/(2·(1 + ν)), unless the section is given", low=-0.999, high=0.5
    )
    density: float = option(1000.0, "ρ, unless the section is given", unit="kg/m³", above=0)
    viscosity: float = option(0.0, "η of the material, unless the section is given", unit="Pa·s", low=0)
    strain_energy: str | Callable[..., Any] = option(
        "",
        "elastic law W instead of Hooke's (empty): a formula of the strains from their reference, torsion, bend_y, "
        "bend_z [1/m], stretch, shear_y, shear_z, of X, and of Σ's diagonal, GJ, EIy, EIz, EA, GAy, GAz; or a Python "
        "function, `file.py:function`, that makes one of SymPy's symbols (strains, X, rigidities)",
        unit="J/m",
        check=lambda value: (
            None
            if isinstance(value, str) or callable(value)
            else "give a formula in quotes, or a Python function"
        ),
    )
    strain: tuple[Basis, ...] = option((Basis(),), "its bases; each strain in at most one of them")
    reference: tuple[str | float, ...] = option(
        ("0", "0", "0", "1", "0", "0"),
        "ξ*: torsion, bend-y, bend-z, stretch, shear-y, shear-z; numbers or formulas of X",
        unit="1/m, –",
        converter=texts,
        check=lambda value: None if len(value) == 6 else "give six numbers or formulas of X",
    )
    points: int = option(
        0,
        "quadrature points, of an element if the basis is local and not dependent; 0: enough for 0.1 % in frequencies",
        low=0,
        high=2000,
    )
    quadrature: str = option(
        "by-basis",
        "its rule: gauss, trapezoid, simpson (even points with both ends, an odd number), or by-basis: trapezoid where "
        "a basis is dependent, else gauss",
        choices=("by-basis", "gauss", "trapezoid", "simpson"),
    )
    magnus: int = option(4, "order of the Magnus expansion", choices=(2, 4))
    drag: Triple = option((0.0, 0.0, 0.0), "C_x, C_y, C_z in a fluid", low=0)
    lift: Triple = option((0.0, 0.0, 0.0), "L_x, L_y, L_z in a fluid; signs turn with its handedness")
    added_mass: Triple = option(
        (0.0, 0.0, 0.0), "B_x, B_y, B_z: moved fluid as a share of the displaced", low=0
    )

    def __attrs_post_init__(self) -> None:
        wrong: list[Mistake] = []
        seen: set[str] = set()
        for i, basis in enumerate(self.strain):
            twice = sorted(seen & set(basis.modes))
            if twice:
                wrong.append(
                    Mistake(f"strain[{i}].modes", list(basis.modes), f"{twice[0]} is in another basis")
                )
            seen |= set(basis.modes)
        if self.section != "circle":
            wrong += refuse_given(self, ("inner_radius",), "must be left out, unless for a circle")
        if self.section not in ("rectangle", "ellipse"):
            said = "must be left out, unless the section is 'rectangle' or 'ellipse'"
            wrong += refuse_given(self, ("height", "width"), said)
        if self.section == "given":
            said = "must be left out: `inertia`, `rigidity` and `viscous_rigidity` give the section"
            wrong += refuse_given(self, ("young", "poisson", "density", "viscosity"), said)
        if self.section != "outline" and (self.outline or self.holes or self.scale != (1.0,)):
            said = "must be left out, and `holes` and `scale`, unless the section is 'outline'"
            wrong.append(Mistake("outline", f"{len(self.outline)} vertices", said))
        elif self.section == "outline" and (said := outline_problem(self.outline, self.holes)):
            wrong.append(Mistake("outline", f"{len(self.outline)} vertices", said))
        for name in ("inertia", "rigidity", "viscous_rigidity"):
            value = getattr(self, name)
            if self.section != "given" and value:
                wrong.append(Mistake(name, list(value), "must be left out, unless the section is 'given'"))
            elif self.section == "given" and len(value) != 6 and (value or name != "viscous_rigidity"):
                wrong.append(Mistake(name, list(value), "give six numbers, for section 'given'"))
        if wrong:
            raise ConfigError(wrong, "the division")

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return sum(basis.size for basis in self.strain)


@final
@frozen(kw_only=True)
class Link:
    """A rigid or soft link with the joint that carries it. A soft one is a chain of divisions along local x.

    Places on it are written `link.base` (behind the joint), `link.tip`, `link.0.25` (share of a soft link's
    length), `link.centre` (centre of mass of a rigid one). It hangs on the place `on`, moved by `position` and
    `rotation_rpy`. Coordinates: the joint's, then those of the divisions.
    """

    name: str = option("link", "what places, channels and results call it", check=is_word)
    kind: str = option("soft", "soft or rigid", choices=("soft", "rigid"))
    on: str = option("", "the place that carries it, for example `arm.tip`; empty: the base of the body")
    position: Triple = option((0.0, 0.0, 0.0), "of its joint, in the frame there", unit="m")
    rotation_rpy: Triple = option(
        (0.0, 0.0, 0.0), "roll, pitch, yaw of its joint, in the frame there", unit="rad"
    )
    joint: Joint = option(Joint(), "how it moves")
    divisions: tuple[Division, ...] = option((), "of a soft link, from base to tip")
    mass: float = option(0.0, "of a rigid link; 0: massless", unit="kg", low=0)
    inertia: tuple[float, ...] = option(
        (0.0, 0.0, 0.0),
        "of a rigid link about its centre of mass, (xx, yy, zz) or (xx, yy, zz, xy, xz, yz)",
        unit="kg·m²",
        converter=numbers,
        check=_inertia_problem,
    )
    centre: Triple = option((0.0, 0.0, 0.0), "centre of mass of a rigid link, from its base", unit="m")
    tip: Triple = option((0.0, 0.0, 0.0), "tip of a rigid link, from its base", unit="m")
    tip_rpy: Triple = option((0.0, 0.0, 0.0), "roll, pitch, yaw of the tip of a rigid link", unit="rad")
    radius: float = option(0.01, "of a rigid link, for drawing and contact", unit="m", above=0)
    buoyant_volume: float = option(0.0, "displaced volume of a rigid link", unit="m³", low=0)
    drag: tuple[float, ...] = option(
        (), "of a rigid link at its centre: six numbers D with f = −|v|·D∘(ω, v)", unit="kg, kg/m", low=0,
        converter=numbers, check=lambda value: None if len(value) in (0, 6) else "give 6 numbers",
    )  # fmt: skip
    added_mass: tuple[float, ...] = option(
        (), "of a rigid link at its centre: six numbers", unit="kg·m², kg", low=0,
        converter=numbers, check=lambda value: None if len(value) in (0, 6) else "give 6 numbers",
    )  # fmt: skip
    collision: str = option(
        "none",
        "what of it can touch: spheres, capsules, disks, or none",
        choices=("none", "spheres", "capsules", "disks"),
    )
    solids: tuple[LinkShape, ...] = option(
        (), "what of a rigid link can touch, instead of `collision`: shapes at poses from its base"
    )
    shapes: int = option(8, "number of collision shapes of a soft link, evenly along it", low=1, high=1000)
    spheres: tuple[float, ...] = option(
        (),
        "where its spheres are, as shares of its length, instead of `shapes` even ones",
        low=0,
        high=1,
        converter=numbers,
    )
    frames: tuple[float, ...] = option(
        (),
        "places on a soft link that get a frame, as shares of its length",
        low=0,
        high=1,
        converter=numbers,
    )
    friction: float | None = option(
        None, "friction coefficient of what of it can touch; left out, the scenario decides", low=0
    )

    def __attrs_post_init__(self) -> None:
        wrong: list[Mistake] = []
        if self.kind == "soft" and not self.divisions:
            wrong.append(Mistake("divisions", "none", "give at least one, for a soft link"))
        if self.kind == "rigid" and self.divisions:
            wrong.append(
                Mistake("divisions", f"{len(self.divisions)} divisions", "must be left out, for a rigid link")
            )
        if self.kind == "soft":
            said = "must be left out, for a soft link: it follows from its divisions"
            wrong += refuse_given(self, ("mass", "inertia", "centre", "tip", "tip_rpy"), said)
            said = "must be left out, for a soft link: give it to its divisions"
            wrong += refuse_given(self, ("radius", "drag", "added_mass"), said)
            said = "must be left out, for a soft link: its sections displace the fluid"
            wrong += refuse_given(self, ("buoyant_volume",), said)
        if self.solids and (self.kind == "soft" or self.collision != "none"):
            said = "must be left out, unless for a rigid link with collision = 'none'"
            wrong.append(Mistake("solids", f"{len(self.solids)} shapes", said))
        if self.kind == "rigid":
            said = "must be left out, for a rigid link"
            wrong += refuse_given(self, ("shapes", "spheres", "frames"), said)
        elif self.spheres and self.collision == "spheres":
            wrong += refuse_given(self, ("shapes",), "must be left out, where `spheres` say where they are")
        if wrong:
            raise ConfigError(wrong, f"link {self.name!r}")

    @property
    def length(self) -> float:
        """Length of a soft link along its reference line [m]."""
        return sum(division.length for division in self.divisions)

    @property
    def size(self) -> int:
        """Number of coordinates, the joint's included."""
        return self.joint.size + sum(division.size for division in self.divisions)

    @classmethod
    def soft(cls, name: str, *divisions: Division, joint: Joint | None = None, **options: Any) -> Link:
        """A soft link of divisions; or of one, whose options are given: `Link.soft("arm", length=0.3, strain=…)`."""
        if not divisions:
            own = {key: options.pop(key) for key in list(options) if key in _DIVISION_OPTIONS}
            divisions = (Division(**own),)
        return cls(name=name, kind="soft", divisions=divisions, joint=joint or Joint(), **options)

    @classmethod
    def rigid(
        cls, name: str, mass: float = 0.0, inertia: Sequence[float] = (0.0, 0.0, 0.0), joint: Joint | None = None,
        **options: Any,
    ) -> Link:  # fmt: skip
        """A rigid link."""
        return cls(
            name=name, kind="rigid", mass=mass, inertia=tuple(inertia), joint=joint or Joint(), **options
        )


_DIVISION_OPTIONS = frozenset(each.name for each in fields(Division))
