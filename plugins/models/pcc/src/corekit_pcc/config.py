"""Options of a piecewise-constant-curvature arm; the defaults are the arm of the CUSP paper."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import all_but, option
from corekit_pcc.cable_options import Cable
from corekit_pcc.material import BeamSection, Material, beam_section, section_mistakes
from corekit_pcc.options import check_numbers, count_per_section, is_whole, per_section, to_numbers

__all__ = ["PCCConfig", "PCCInitial"]

_CUSP = {"mass": (1.17, 0.54, 0.265), "stiffness": (265.0,), "damping": (125.0,), "chamber_radius": (0.05,)}
_CUSP_DISK_RADIUS = (0.06,)
_LEFT_OUT = "left out, it is the CUSP arm's: three sections"
_RAW = ("mass", "stiffness", "damping")
_PER_SECTION = ("chambers", "length", *_RAW, "chamber_radius", "chamber_angle")
_PER_SECTION += ("plate_thickness", "disks", "disk_radius", "disk_half_height", "disk_inertia")
_OF_MATERIAL = ("young", "density", "viscosity", "outer_radius", "inner_radius", "wall", "chamber_area")


@frozen(kw_only=True)
class PCCConfig:
    """Options of a piecewise-constant-curvature arm.

    Every option "one for all or one a section" is a number or a list; `spread` gives one per section.
    Raises ConfigError with every list whose length does not fit the number of sections.
    """

    sections: int = option(3, "number of sections in the chain", low=1, high=64, check=is_whole)
    chambers: tuple[int, ...] = count_per_section(
        3, "chambers around the backbone, evenly spaced; 3 make the elongations coordinates", low=3, high=64
    )
    length: tuple[float, ...] = per_section(0.15, "rest length L₀ of the backbone", unit="m", above=0)
    mass: tuple[float, ...] | None = per_section(
        None, "mass, uniform along the arc; left out: 1.17, 0.54, 0.265", unit="kg", above=0
    )
    stiffness: tuple[float, ...] | None = per_section(
        None, "stiffness of each chamber; left out: 265", unit="N/m", low=0
    )
    damping: tuple[float, ...] | None = per_section(
        None, "damping of each chamber; left out: 125", unit="N·s/m", low=0
    )
    material: Material | None = option(
        None,
        "material and geometry instead of mass, stiffness and damping; inputs are then pressures",
    )
    chamber_radius: tuple[float, ...] | None = per_section(
        None,
        "distance of the chambers from the backbone; left out: 0.05, with a material half the outer radius",
        unit="m",
        above=0,
    )
    chamber_angle: tuple[float, ...] = per_section(
        0.0, "angle of the first chamber from the local x axis", unit="rad"
    )
    plate_thickness: tuple[float, ...] = per_section(
        0.0, "rigid straight length between a section's end and the next section's start", unit="m", low=0
    )
    disks: tuple[int, ...] = count_per_section(
        3, "disks inside a section, beside the one at its end", low=0, high=200
    )
    disk_radius: tuple[float, ...] | None = per_section(
        None, "radius of the disks; left out: 0.06, or the material's outer radius", unit="m", above=0
    )
    disk_half_height: tuple[float, ...] = per_section(
        0.005, "half the height of the disks", unit="m", above=0
    )
    disk_inertia: tuple[float, ...] | None = per_section(
        None,
        "moment of inertia of each disk about its diameter, twice that about its axis; left out: 0, and where the base "
        "moves that of solid sections as wide as the disks, so that a straight arm resists a spin",
        unit="kg·m²",
        low=0,
    )
    cables: tuple[Cable, ...] = option((), "cables along the arm, with an input each")
    base_disk: bool = option(True, "whether a disk that can be touched stands at the base")
    friction: float | None = option(
        None, "friction coefficient of the disks; left out, the scenario decides", low=0
    )
    self_contact: bool = option(False, "whether disks that are not neighbours may touch each other")
    mass_nodes: int = option(
        3, "Gauss–Legendre nodes a section for the inertia and gravity", low=1, high=16, check=is_whole
    )
    coriolis: bool = option(
        False, "whether centrifugal and Coriolis forces count; the CUSP paper leaves them out"
    )

    def __attrs_post_init__(self) -> None:
        names = [*_PER_SECTION, *(f"material.{name}" for name in _OF_MATERIAL if self.material is not None)]
        allowed = f"give one number, or {self.sections}: one a section"
        wrong = [
            Mistake(
                name, f"{len(value)} entries", allowed, _LEFT_OUT if self._read_option(name) is None else ""
            )
            for name in names
            if len(value := self._entries(name)) not in (1, self.sections)
        ]
        names_of_cables = [cable.name for cable in self.cables]
        for i, cable in enumerate(self.cables):
            if cable.name in names_of_cables[:i]:
                wrong.append(Mistake(f"cables[{i}].name", cable.name, "is taken by another cable"))
            if cable.sections is not None and cable.sections > self.sections:
                wrong.append(Mistake(f"cables[{i}].sections", cable.sections, f"the arm has {self.sections}"))
        if self.material is not None:
            wrong += self._given_twice()
        if self.material is not None and not wrong:
            geometry = enumerate(self._geometry())
            wrong = [each for i, given in geometry for each in section_mistakes(f"section {i + 1}", *given)]
        if wrong:
            raise ConfigError(wrong, "the arm")

    def is_same_but_for_matter(self, other: PCCConfig) -> bool:
        """Whether two arms differ at most in stiffness, damping and mass, or in what gives these to their material."""
        one, two = self.material, other.material
        if one is None or two is None:
            return one is two and _SHAPE(self) == _SHAPE(other)
        return _SHAPE(self) == _SHAPE(other) and _SHAPE_OF_MATERIAL(one) == _SHAPE_OF_MATERIAL(two)

    def spread(self, name: str) -> tuple[Any, ...]:
        """The option `name`, for example `length` or `material.young`, with exactly one entry a section.

        With a material, `mass` is its own; it has no stiffness and damping of chambers.
        """
        if name == "mass" and self.material is not None:
            lengths, densities = self.spread("length"), self.spread("material.density")
            sections = zip(densities, self.beam_sections(), lengths, strict=True)
            return tuple(density * beam.area * length for density, beam, length in sections)
        value = self._entries(name)
        return value * self.sections if len(value) == 1 else value

    def beam_sections(self) -> list[BeamSection]:
        """A and I of every section of a material."""
        return [beam_section(*given) for given in self._geometry()]

    def _read_option(self, name: str) -> Any:
        """What was given for an option, None if it was left out."""
        holder, _, own = name.rpartition(".")
        return getattr(self.material if holder else self, own)

    def _entries(self, name: str) -> tuple[Any, ...]:
        """What was given for an option, or what stands for it."""
        value = self._read_option(name)
        if value is not None:
            return tuple(value)
        if name in ("disk_inertia", "material.inner_radius", "material.wall") or (
            self.material is not None and name in _RAW
        ):
            return (0.0,)
        if name == "disk_radius":
            return _CUSP_DISK_RADIUS if self.material is None else self.material.outer_radius
        if self.material is not None:
            return tuple(0.5 * radius for radius in self.material.outer_radius)
        return _CUSP[name]

    def _geometry(self) -> list[tuple[float, float, int, float, float]]:
        """Per section outer and inner radius, number, area and distance of the chambers: `beam_section`'s arguments."""
        outer = self.spread("material.outer_radius")
        inner = self.spread("material.inner_radius")
        if self._read_option("material.wall") is not None:
            inner = tuple(r - wall for r, wall in zip(outer, self.spread("material.wall"), strict=True))
        rest = ("chambers", "material.chamber_area", "chamber_radius")
        return list(zip(outer, inner, *(self.spread(name) for name in rest), strict=True))

    def _given_twice(self) -> list[Mistake]:
        """Return what is given beside a material that says the same."""
        twice = [
            Mistake(name, self._read_option(name), "follows from `material`; give one of them")
            for name in _RAW
            if self._read_option(name) is not None
        ]
        wall = self._read_option("material.wall")
        if wall is not None and self._read_option("material.inner_radius") is not None:
            twice.append(Mistake("material.wall", wall, "give this or `inner_radius`"))
        return twice


_SHAPE = all_but(PCCConfig, *_RAW, "material")
_SHAPE_OF_MATERIAL = all_but(Material, "young", "viscosity", "density")


@frozen(kw_only=True)
class PCCInitial:
    """Where an arm starts; lengths are checked when the arm is known.

    One number counts for every chamber, a list of one a section for every chamber of that section
    (both are pure extension), a list of three a section gives the coordinates themselves.
    """

    elongation: tuple[float, ...] = option(
        (0.0,),
        "elongation: one, one a section, or every coordinate",
        unit="m",
        converter=to_numbers,
        check=check_numbers,
    )
    velocity: tuple[float, ...] = option(
        (0.0,),
        "its rate: one, one a section, or every coordinate",
        unit="m/s",
        converter=to_numbers,
        check=check_numbers,
    )
