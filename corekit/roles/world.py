"""The seam between a scenario and the engine that steps it: what a world is made of, and what is asked of it.

Composition makes a `WorldSpec`, an `Engine` makes a `World` of it, and the loop, records and tools know that alone.
The kernel has one engine, `step-equation` (`corekit/engine`). A distribution adds another one by an entry point of the
group `corekit.engines` that names an `Engine`; a scenario chooses it by `engine = "NAME"`, and the chosen engine is
asked whether it can step such a world before anything is built. The name is an entry of the scenario, so that every run
folder records who stepped it.

What statics, modes and the balance of energy ask beside steps is in `corekit.roles.world_terms`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from attrs import field, frozen
from scipy.sparse import csr_array

from corekit.data.arrays import Array
from corekit.data.contacts import ContactRecord, ContactSet
from corekit.data.state import State
from corekit.data.status import StepReport
from corekit.roles.body import Body
from corekit.roles.collision_scene import CollisionScene
from corekit.roles.component import Component, InternalState
from corekit.roles.contact import ContactSolver
from corekit.roles.detector import ContactDetector
from corekit.roles.integrator import Integrator, System
from corekit.roles.joint import Joint, JointForce
from corekit.roles.model import Model
from corekit.roles.obstacles import Obstacle
from corekit.roles.surface_pairs import FrictionTable, RestitutionTable
from corekit.roles.world_terms import EquilibriumTerms, WorldTerms

__all__ = ["ContactSpec", "ContactStage", "Engine", "Stabilisation", "StepDiagnosis", "World", "WorldSpec"]


@frozen
class Stabilisation:
    """How gaps close and overlaps recede, s(φ): approach [-], push_out [1/s], cap [m/s]."""

    approach: float = 1.0
    push_out: float = 20.0
    cap: float = 0.5


@frozen(eq=False, kw_only=True)
class ContactSpec:
    """How bodies touch.

    Args:
        scene: where their shapes are.
        detectors: the first one that serves a pair of shape kinds answers for it.
        abilities: words that the spec of each detector provides; empty where no spec is known.
        friction: of every two surfaces.
        restitution: of impacts that one solve ends at velocity level; None: they end at position level.
        stabilisation: s(φ).
        margin: gap up to which contacts are always found [m].
    """

    scene: CollisionScene
    detectors: Sequence[ContactDetector]
    friction: FrictionTable
    abilities: Sequence[frozenset[str]] = ()
    restitution: RestitutionTable | None = None
    stabilisation: Stabilisation = field(factory=Stabilisation)
    margin: float = 1e-3


@frozen(eq=False, kw_only=True)
class WorldSpec:
    """What a world is made of.

    Args:
        bodies: stacked, each with its model and inputs.
        obstacles: the surroundings.
        joints: between bodies.
        contact: how they touch, or None.
        solver: of contacts and of rows with bounds, or None.
        plane: origin and axes of a planar world, shape (3, 3), or None.
    """

    bodies: Sequence[Body]
    obstacles: Sequence[Obstacle] = ()
    joints: Sequence[Joint] = ()
    contact: ContactSpec | None = None
    solver: ContactSolver | None = None
    plane: Array | None = None


class ContactStage(Protocol):
    """The contacts of a world between two steps.

    Attributes:
        contacts: found last. scene: where shapes are. detectors: as asked. friction: of every two surfaces.
        width: rows per contact. record_width: numbers of a friction record. least_margin: always looked for [m].
    """

    @property
    def contacts(self) -> ContactSet: ...
    @property
    def scene(self) -> CollisionScene: ...
    @property
    def friction(self) -> FrictionTable: ...
    @property
    def width(self) -> int: ...
    @property
    def record_width(self) -> int: ...
    @property
    def least_margin(self) -> float: ...

    @property
    def detectors(self) -> tuple[ContactDetector, ...]:
        """In the order in which they are asked."""

    @property
    def areas(self) -> object | None:
        """What makes several contacts of one where a pair resists turning; None where none does."""

    def contacts_of_step(self, start: State, step: float) -> ContactSet:
        """Find the contacts at the start of a step h, with which it is solved."""

    def count(self) -> int:
        """How many contacts were found last; the points that stand for an area count as one."""

    def detect_anew(self, state: State, margin: float) -> int:
        """Find every contact at a state with a gap below `margin` [m]; return how many there are."""

    def contacts_at_end(self, state: State) -> ContactSet:
        """Find the contacts at a state, in a buffer that the next call overwrites; `contacts` stay."""

    def rows_at(self, state: State) -> csr_array:
        """J_c of the current contacts, which were found at this state, shape (m·width, nv)."""

    def obstacle_velocity(
        self, contacts: ContactSet, time: float, t0: float, t1: float, *, instant: bool
    ) -> Array | None:
        """Velocity of the obstacles at contacts, in contact axes, (m, width) [m/s]; None if none moves.

        Over the step (displacement/h), or, if `instant`, at t1.
        """


class StepDiagnosis(Protocol):
    """What an engine knows of a step that was not accepted."""

    @property
    def passed_pair(self) -> tuple[int, int] | None:
        """Two shapes that pass each other unseen by a contact potential, or None."""

    @property
    def failed_body(self) -> int:
        """Index of the body whose matrix could not be factorised, −1 if none is known."""

    def force(self, b: int) -> Array:
        """f of a body where it was evaluated last, shape (nv,)."""

    def trial_state(self, start: State) -> State | None:
        """The state of the last iterate of the step from `start`, or None where there was none."""

    def lost_joints(self) -> tuple[str, ...]:
        """Names of the joints whose rows together hold less than at the start, where they were evaluated last."""

    def contact_culprit(self, state: State) -> str:
        """Which component wrote a number that is not finite about contacts at a finite state, in words, or empty."""


class World(System, Protocol):
    """A world that integrators step.

    Attributes:
        bodies, joints, solver: as specified. slices: where the bodies' velocities stand.
        pipeline: the contacts, or None.
        terms: M, f, K, D and rows at a state. diagnosis: of a step that was not accepted.
        accepted: v⁺ of the last accepted step, before coordinates were reparametrised, shape (nv,).
    """

    accepted: Array

    @property
    def bodies(self) -> tuple[Body, ...]: ...
    @property
    def joints(self) -> tuple[Joint, ...]: ...
    @property
    def solver(self) -> ContactSolver | None: ...
    @property
    def slices(self) -> tuple[slice, ...]: ...
    @property
    def pipeline(self) -> ContactStage | None: ...
    @property
    def terms(self) -> WorldTerms: ...
    @property
    def diagnosis(self) -> StepDiagnosis: ...

    def hold_joints(self, state: State) -> None:
        """Make the joints: their frames stay as they stand to each other at a state.

        Raises:
            CompositionError: joints that hold what is held already, or what cannot move.
        """

    def admit(self, state: State) -> None:
        """Put a state of a user in order: prescribed motion as at its time, coordinates reparametrised.

        Raises:
            ControlError: an orientation that is none.
        """

    def replace_model(self, body: int, model: Model) -> None:
        """Compute a body by another model; ValueError, and nothing changed, where its matrices are structured anew."""

    def step(
        self, integrator: Integrator, state: State, stop: float, out: State, longest: float
    ) -> StepReport:
        """Make one step of an integrator from `state` into `out`, with its impacts, and accept it.

        Not later than `stop` [s], and no longer than `longest`, h of the scenario [s]. Where the report is not accepted
        `out` has no meaning, and `diagnosis` knows why.
        """

    def accept(self, state: State, step: float) -> bool:
        """Accept a step h that ends at `state` as `step` does; False, and nothing happens, if it is not finite."""

    def rehearse(
        self, integrator: Integrator, start: State, end: State, step: float, components: Iterable[Component]
    ) -> None:
        """Make steps h that use every kernel. Both states are overwritten, and internal states change."""

    def rehearse_solver(self, step: float) -> None:
        """Let the contact solver solve a problem of a step h [s] that uses its kernels."""

    def record(self, *, by_point: bool = False) -> ContactRecord:
        """What every contact of the last accepted step did, or, by point, the points that stand for areas."""

    def penetration(self, state: State) -> float:
        """How deep the last accepted step left shapes in each other at its end `state` [m], −∞ without contacts."""

    def joint_force(self, name: str, state: State) -> JointForce:
        """Mean force and torque that a joint gave its first frame in the last step, which ended at a state."""

    def reaction(self) -> Array:
        """Impulses on the prescribed coordinates in the last step, stacked over bodies [N·s or N·m·s]."""

    def jump(self) -> tuple[Array, float] | None:
        """Velocity behind a jump of prescribed rates in the last step and the work of its drives [J], or None."""

    def contact_forces(self, b: int) -> dict[str, Array]:
        """A potential's force on body b at the step's last evaluation, by the name `contact`, if there was one."""

    def freeze_step(self, start: State, end: State, before: Any) -> Any:
        """The engine's record of the last accepted step from `start` to `end`, which later steps leave as it is.

        `before` is the record of the step before, of which this one may share the end, or None. What a tool reads of
        it where the world is a `DifferentiableWorld` is a `RecordedStep` (`corekit.roles.derivatives`).
        """

    def equilibrium_terms(self) -> EquilibriumTerms:
        """Terms of a balance of forces at rest, apart from those of steps."""

    def internal_state(self) -> InternalState:
        """Warm starts and contact memory as of the last accepted step, as named arrays."""

    def restore(self, internal_state: InternalState) -> None:
        """Restore what `internal_state` gave; an empty one means a fresh start."""

    def forget(self) -> None:
        """Report nothing of the last step, as before the first one."""


@frozen(eq=False)
class Engine:
    """Who steps worlds.

    Args:
        name: as scenarios choose it, the name of its entry point.
        refusal: why it cannot step a world, in one sentence, or an empty one.
        make: makes the world, of a spec that it did not refuse.
    """

    name: str
    refusal: Callable[[WorldSpec], str]
    make: Callable[[WorldSpec], World]
