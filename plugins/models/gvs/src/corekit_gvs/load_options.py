"""What acts on the links: cables, chambers, loads at places, distributed wrenches; and loops that close the tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, final

from attrs import evolve, frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import option
from corekit_gvs.joints import Joint
from corekit_gvs.options import Profile, Triple, is_word, profile, texts
from corekit_gvs.python_functions import is_function

__all__ = ["Cable", "Chamber", "Distributed", "Load", "Loop", "Tendon"]


def _indices(value: Any) -> tuple[int, ...]:
    return (value,) if isinstance(value, int) else tuple(value)


def _each_once(value: tuple[int, ...]) -> str | None:
    return None if len(set(value)) == len(value) else "name each division once"


def _check_stiffness(cable: Cable | Tendon) -> None:
    if cable.drive == "length" and cable.stiffness is None:
        said = "give E·A/L of the cable in N/m: its tension follows from its stretch"
        raise ConfigError([Mistake("stiffness", None, said)], f"cable {cable.name!r}")


@final
@frozen(kw_only=True)
class Cable:
    """A cable inside a soft link, at d(s) = (0, y(s), z(s)) in the sections, s from the link's base [m].

        τ = k × d + l + d′,   B_a = (d × τ̂; τ̂),   B_q = ∫ b_qᵀ·B_a ds = ∂(length)/∂q                (1)

    Input channel `tension-NAME` [N], T ≥ 0 pulls: the generalised force is −B_q·T. Driven by its length, it is a spring
    that cannot push and its channel is `length-NAME` [m], what is wound up from q = 0 on (`length_drives`). Friction
    removes from its tension as it turns with the link (`cable_friction`).
    """

    name: str = option(help="names its channel", check=is_word)
    link: str = option(help="the soft link it runs through")
    divisions: tuple[int, ...] = option(
        (),
        "numbers of the divisions it runs through, from 0; none: all",
        low=0,
        converter=_indices,
        check=_each_once,
    )
    y: Profile = profile(0.0, "offset along y", along="s", unit="m")
    z: Profile = profile(0.0, "offset along z", along="s", unit="m")
    drive: str = option("tension", "what its input sets", choices=("tension", "length"))
    stiffness: float | None = option(
        None, "E·A/L of the whole cable, for a drive by length alone", unit="N/m", above=0
    )
    friction: float = option(
        0.0, "friction coefficient in its guides, for the capstan loss from the link's base on", low=0
    )
    limit: float = option(math.inf, "highest tension of its drive", unit="N", above=0, infinite=True)

    def __attrs_post_init__(self) -> None:
        _check_stiffness(self)


@final
@frozen(kw_only=True)
class Tendon:
    """A straight cable outside the links between two places, channel `tension-NAME` [N], T ≥ 0 pulls them together.

    As a cable it may be driven by its length.
    """

    name: str = option(help="names its channel", check=is_word)
    first: str = option(help="a place; `world` is the base's frame, which goes with a base that moves")
    second: str = option(help="the other place")
    first_offset: Triple = option((0.0, 0.0, 0.0), "in the frame of the first place", unit="m")
    second_offset: Triple = option((0.0, 0.0, 0.0), "in the frame of the second place", unit="m")
    drive: str = option("tension", "what its input sets", choices=("tension", "length"))
    stiffness: float | None = option(
        None, "E·A/L of the whole cable, for a drive by length alone", unit="N/m", above=0
    )
    limit: float = option(math.inf, "highest tension of its drive", unit="N", above=0, infinite=True)

    def __attrs_post_init__(self) -> None:
        _check_stiffness(self)


@final
@frozen(kw_only=True)
class Chamber:
    """A pneumatic chamber along a soft link: B_a = A·(d × e_x; e_x); channel `pressure-NAME` [Pa], > 0 stretches."""

    name: str = option(help="names its channel", check=is_word)
    link: str = option(help="the soft link it runs along")
    divisions: tuple[int, ...] = option(
        (), "numbers of its divisions, from 0; none: all", low=0, converter=_indices, check=_each_once
    )
    area: Profile = profile(1e-4, "A", along="s", unit="m²")
    y: Profile = profile(0.0, "offset of the centroid along y", along="s", unit="m")
    z: Profile = profile(0.0, "offset of the centroid along z", along="s", unit="m")


@final
@frozen(kw_only=True)
class Distributed:
    """A wrench along a soft link, six formulas (moments, forces) of X ∈ [0, 1] over the link, and t [s].

    - internal: a stress resultant like a muscle's [N·m, N], generalised force +∫ b_qᵀ·w ds
    - section: an external load per length in the sections' axes [N, N/m], +∫ Jᵀ·w ds
    - world: the same in world axes

    With `input` the channel `distributed-NAME` scales it. In place of a formula a Python function may stand,
    `file.py:function`, of the places X, (p,), and t; or one in place of all six, which returns (6, p). They are called
    before every sweep.
    """

    name: str = option(help="names it and its channel", check=is_word)
    link: str = option(help="the soft link")
    wrench: tuple[str | float | Callable[..., Any], ...] = option(
        help="six numbers or formulas of X and t: moments x y z, forces x y z; or a Python function, "
        "`file.py:function`",
        converter=texts,
        check=lambda value: (
            None
            if len(value) == 6 or (len(value) == 1 and is_function(value[0]))
            else "give six numbers or formulas of X and t, or one Python function of them"
        ),
    )
    kind: str = option("internal", "what it is", choices=("internal", "section", "world"))
    input: bool = option(False, "whether it is scaled by an input")


@final
@frozen(kw_only=True)
class Load:
    """A wrench at a place, channel `load-NAME`: moment (3) [N·m], then force (3) [N].

    In world axes, or if it follows in the axes of the frame there. Instead of a channel it may have a Python function
    of t, the position (3,), rotation (3, 3) and velocity (ω; v) (6,) of its point, all in the world, that returns the
    six numbers: a magnet, a spring to a moving point, a current. Tangents hold its differences.
    """

    name: str = option(help="names its channel", check=is_word)
    at: str = option(help="the place, for example `arm.tip`")
    follows: bool = option(False, "whether it turns with the frame")
    offset: Triple = option((0.0, 0.0, 0.0), "of the point it acts at, in the frame there", unit="m")
    function: str | Callable[..., Any] | None = option(
        None,
        "`file.py:function` of t, position, rotation and velocity of the point; none: an input",
        check=lambda value: (
            None if value is None or is_function(value) else "name a Python function, `module:function`"
        ),
    )


@final
@frozen(kw_only=True)
class Loop:
    """A joint that closes a loop: the first place moves against the second as the joint allows.

    Kind and axes are those of `Joint` and stand in the frame of the second place, turned by `rotation_rpy` there and
    by `first_rpy` at the first (zero pose: both frames coincide). Becomes position rows; see `loop_constraints`.
    """

    name: str = option("loop", "what rows are called", check=is_word)
    first: str = option(help="a place")
    second: str = option(
        "world", "the other place; `world` is the base's frame, which goes with a base that moves"
    )
    joint: Joint = option(Joint(), "its kind, axes and pitch")
    first_offset: Triple = option((0.0, 0.0, 0.0), "in the frame of the first place", unit="m")
    first_rpy: Triple = option((0.0, 0.0, 0.0), "in the frame of the first place", unit="rad")
    second_offset: Triple = option((0.0, 0.0, 0.0), "in the frame of the second place", unit="m")
    second_rpy: Triple = option((0.0, 0.0, 0.0), "in the frame of the second place", unit="rad")
    compliance: float = option(0.0, "of every row; 0: rigid", unit="m/N or rad/(N·m)", low=0)

    def __attrs_post_init__(self) -> None:
        nothing = {
            "armature": 0.0,
            "driven": False,
            "effort_limit": None,
            "limits": None,
            "dry_friction": 0.0,
            "motion": None,
            "jump": "impulse",
        }
        if evolve(self.joint, stiffness=(0.0,), damping=(0.0,), **nothing) != self.joint:
            said = (
                "a joint that closes a loop has a kind, axes and a pitch; what acts or stops goes elsewhere"
            )
            raise ConfigError([Mistake("joint", self.joint.kind, said)], f"loop {self.name!r}")
        if self.joint.kind == "free":
            raise ConfigError([Mistake("joint.kind", "free", "closes nothing")], f"loop {self.name!r}")
