"""Joints between links."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, final

from attrs import frozen

from corekit.data.signals import Signal
from corekit.errors import ConfigError, Mistake
from corekit.roles.options import option, refuse_given
from corekit_gvs.options import Triple, numbers

__all__ = ["BALLS", "JOINT_SIZES", "Joint"]

JOINT_SIZES: Mapping[str, int] = MappingProxyType(
    {
        "fixed": 0, "revolute": 1, "prismatic": 1, "helical": 1, "cylindrical": 2, "universal": 2, "planar": 3,
        "spherical": 3, "free": 6,
    }
)  # fmt: skip
"""Kind of joint → number of its coordinates."""

BALLS = ("spherical", "free")
"""Kinds whose first three coordinates are a turn in exponential coordinates."""

_AXES = ("x", "y", "z")
_ALONG_VECTOR = ("revolute", "prismatic", "helical", "cylindrical")
_WITHOUT_AXIS = ("fixed", "spherical", "free")


def _is_axis(value: str | Triple) -> str | None:
    fine = value in _AXES if isinstance(value, str) else any(value)
    return None if fine else "must be 'x', 'y' or 'z', or three numbers that are not all zero"


def _count(value: tuple[float, ...]) -> str | None:
    return None if isinstance(value, tuple) else "give a number or a list of numbers"


@final
@frozen(kw_only=True)
class Joint:
    """How a link moves against what carries it: g = exp((B_J·q)^), columns of B_J along local axes; or two such steps.

    | kind        | B_J                                  | q                        |
    |-------------|--------------------------------------|--------------------------|
    | fixed       | –                                    |                          |
    | revolute    | e_axis                               | rad                      |
    | prismatic   | e_{3+axis}                           | m                        |
    | helical     | e_axis + pitch·e_{3+axis}            | rad                      |
    | cylindrical | e_axis, e_{3+axis}                   | rad, m                   |
    | universal   | two revolutes: `axis`, then `second` | rad, rad                 |
    | planar      | two shifts across `axis`, then a turn | rad, m, m               |
    | spherical   | e₁, e₂, e₃                           | rad (exponential)        |
    | free        | e₄, e₅, e₆, then e₁, e₂, e₃          | rad, m (turn exponential) |

    A planar or free joint shifts by l along the axes of what carries it, then turns by R₀·exp(k̃); q = (k, l):

        p = l,   R = R₀·exp(k̃)                                                                         (1)

    With one step exp((k, l)^), which has the same freedom, the shift would turn with the link: p = T₃(k)·l, and at
    q = 0, where a step may begin,

        ṗ(h) = l̇ + h·k̇ × l̇ + O(h²)                                                                   (2)

    for rates held over the step, as every scheme holds what forces and impulses gave. An impulse of the floor,
    h·m·g upwards in each step, then pushes a ball that rolls with ω on by a share of h·m·g·(h·ω): it would gain speed,
    of order h, and from a thrown link semi-implicit Euler would take its spin; wherever the chart is centred. By (1)
    ṗ = l̇ at any q.

    The exponential coordinates k of spherical and free joints are re-centred once they exceed π; the frame R₀ they
    count from is kept in the state's aux. With stiffness R₀ is the pose at rest and k the shortest turn from it.
    Velocities are q̇; near k = 0 those of a turn are rates about the link's axes.

    Limits and dry friction are bounded rows, which the contact solver answers: 0 ≤ λ at a limit, |λ| ≤ dry_friction.

    Where the rate of a prescribed `motion` jumps, its drive gives an impulse, and momentum decides how all other rates
    change. With `jump` "alone" they stay as they are, and what the joint carries jumps with it as if it were rigid: an
    impulse from nowhere, which is what equations that overwrite prescribed coordinates come to (SoRoSim's).
    """

    kind: str = option("fixed", "the kind of joint", choices=tuple(JOINT_SIZES))
    axis: str | Triple = option(
        "z",
        "axis of one turn or shift (planar: the normal): 'x', 'y' or 'z'; or a vector, whose length does not count; "
        "a fixed, spherical or free joint has none",
        check=_is_axis,
    )
    second: str = option("y", "second axis, of a universal joint alone", choices=_AXES)
    pitch: float = option(0.0, "of a helical joint alone: shift per radian", unit="m/rad")
    stiffness: tuple[float, ...] = option(
        (0.0,),
        "towards q = 0, unless `motion` prescribes it; one, or one a coordinate",
        unit="N·m/rad or N/m",
        low=0,
        converter=numbers,
        check=_count,
    )
    damping: tuple[float, ...] = option(
        (0.0,),
        "against q̇, unless `motion` prescribes it; one, or one a coordinate; of spherical and free joints against the "
        "turn's ω about the link's axes",
        unit="N·m·s or N·s/m",
        low=0,
        converter=numbers,
        check=_count,
    )
    armature: float = option(
        0.0,
        "inertia of a rotor that turns with its coordinates, behind its gear; of a spherical joint about every axis, "
        "against the turn's ω; a free joint has none",
        unit="kg·m² or kg",
        low=0,
    )
    driven: bool = option(
        False,
        "whether its effort is an input, channel `joint-LINK`: conjugate to q, of a ball's turn a torque about the "
        "link's axes",
    )
    effort_limit: float | None = option(
        None, "largest effort of that input; left out: any", unit="N·m or N", above=0
    )
    limits: tuple[float, float] | None = option(
        None, "where its one coordinate stops, below and above, without bouncing", unit="rad or m"
    )
    dry_friction: float = option(
        0.0, "largest effort of dry friction against its one coordinate", unit="N·m or N", low=0
    )
    motion: Signal | None = option(
        None, "prescribes its coordinates: as many numbers as it has", unit="rad or m"
    )
    jump: str = option(
        "impulse",
        "what else changes where the rate of `motion` jumps: all by the impulse of the drive, or no other coordinate",
        choices=("impulse", "alone"),
    )

    def __attrs_post_init__(self) -> None:
        wrong = self._mistakes_of_kind()
        if self.motion is not None:
            beside = "must be left out where `motion` prescribes the coordinates"
            wrong += refuse_given(self, ("stiffness", "damping", "armature"), beside)
        if not isinstance(self.axis, str) and self.kind not in (*_ALONG_VECTOR, *_WITHOUT_AXIS):
            wrong.append(
                Mistake("axis", list(self.axis), f"must be 'x', 'y' or 'z', for a {self.kind} joint")
            )
        if self.effort_limit is not None and not self.driven and self.size:
            wrong.append(Mistake("effort_limit", self.effort_limit, "belongs to a driven joint"))
        wrong += self._row_mistakes()
        if self.kind == "universal" and self.axis == self.second:
            wrong.append(Mistake("second", self.second, "must differ from `axis`"))
        if self.motion is not None and self.driven and self.size:
            wrong.append(Mistake("driven", True, "must be false where `motion` prescribes the coordinates"))
        if self.motion is None and self.jump == "alone":
            wrong.append(Mistake("jump", self.jump, "belongs to a `motion`, and there is none"))
        if self.motion is not None and self.kind in ("fixed", "spherical", "free"):
            wrong.append(Mistake("motion", "a signal", f"a {self.kind} joint cannot be prescribed"))
        if wrong:
            raise ConfigError(wrong, "the joint")

    def _mistakes_of_kind(self) -> list[Mistake]:
        """What a joint of this kind has no use for, and lists of another length than its coordinates."""
        nothing = f"must be left out, for a {self.kind} joint"
        if self.kind == "fixed":
            moving = ("axis", "second", "pitch", "stiffness", "damping", "armature", "driven", "effort_limit")
            return refuse_given(self, moving, f"{nothing}: give a `kind` that moves")
        wrong = refuse_given(self, ("axis",), nothing) if self.kind in _WITHOUT_AXIS else []
        wrong += refuse_given(self, ("armature",), nothing) if self.kind == "free" else []
        wrong += refuse_given(self, ("second",), nothing) if self.kind != "universal" else []
        wrong += refuse_given(self, ("pitch",), nothing) if self.kind != "helical" else []
        for name in ("stiffness", "damping"):
            count = len(getattr(self, name))
            if count not in (1, self.size):
                wrong.append(Mistake(name, f"{count} entries", f"give 1, or {self.size}: one a coordinate"))
        return wrong

    def _row_mistakes(self) -> list[Mistake]:
        given = {"limits": self.limits, "dry_friction": self.dry_friction}
        beside = "must be left out" + (
            " where `motion` prescribes the coordinate"
            if self.motion is not None
            else f", for a {self.kind} joint"
        )
        wrong = [
            Mistake(name, value, beside)
            for name, value in given.items()
            if value and (self.size != 1 or self.motion is not None)
        ]
        if self.limits is not None and not self.limits[0] < self.limits[1]:
            wrong.append(
                Mistake("limits", list(self.limits), "the lower limit must stand first, below the upper one")
            )
        return wrong

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return JOINT_SIZES[self.kind]

    @classmethod
    def fixed(cls) -> Joint:
        """No motion."""
        return cls(kind="fixed")

    @classmethod
    def revolute(cls, axis: str | Triple = "z", **options: Any) -> Joint:
        """A turn about a local axis."""
        return cls(kind="revolute", axis=axis, **options)

    @classmethod
    def prismatic(cls, axis: str | Triple = "x", **options: Any) -> Joint:
        """A shift along a local axis."""
        return cls(kind="prismatic", axis=axis, **options)

    @classmethod
    def helical(cls, axis: str | Triple, pitch: float, **options: Any) -> Joint:
        """A screw: `pitch` metres a radian."""
        return cls(kind="helical", axis=axis, pitch=pitch, **options)

    @classmethod
    def cylindrical(cls, axis: str | Triple = "x", **options: Any) -> Joint:
        """A turn about and a shift along a local axis."""
        return cls(kind="cylindrical", axis=axis, **options)

    @classmethod
    def universal(cls, axis: str = "z", second: str = "y", **options: Any) -> Joint:
        """Two turns in series."""
        return cls(kind="universal", axis=axis, second=second, **options)

    @classmethod
    def planar(cls, normal: str = "z", **options: Any) -> Joint:
        """A turn about `normal` and shifts along the two axes after it (z: x, y; x: y, z; y: z, x)."""
        return cls(kind="planar", axis=normal, **options)

    @classmethod
    def spherical(cls, **options: Any) -> Joint:
        """Any turn."""
        return cls(kind="spherical", **options)

    @classmethod
    def free(cls, **options: Any) -> Joint:
        """Any motion."""
        return cls(kind="free", **options)
