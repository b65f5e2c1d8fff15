"""What can be said of the derivatives of an engine's steps.

Those of the kernel's own engine are told by `corekit_gradients.adjoint`; another engine is a `DifferentiableWorld`.

Derivatives by coordinates are by displacements δ, q(δ) = integrate(q, δ, 1), so that orientations have three.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from attrs import field, fields_dict, frozen

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State

if TYPE_CHECKING:
    from corekit.roles.model import Model
    from corekit.roles.world import World

__all__ = [
    "DifferentiableWorld", "ModelTwins", "PushedContacts", "RecordedStep", "RunDerivative", "StateCovector",
    "StepLinearisation", "SweepReport", "Twins", "WorldDerivatives",
]  # fmt: skip


class StateCovector(NamedTuple):
    """∂ℓ/∂δ at δ = 0 and ∂ℓ/∂v of a loss, both of shape (nv,).

    `by_impulse` is its derivative by the impulses of the contacts of the step that ended there, (m, width), those that
    its record has as `RecordedStep.pushed`; None where the loss knows of none.
    """

    by_displacement: Array
    by_velocity: Array
    by_impulse: Array | None = None


class PushedContacts(NamedTuple):
    """Contacts of a step by whose impulses λ a loss of its end may be differentiated.

    Args:
        step: h [s] of the step. id: in the order of `World.record`, shape (m,).
        width: rows a contact, of the normal and the tangents.
    """

    step: float
    id: IntArray
    width: int


class RecordedStep(Protocol):
    """What is read of the record that a world with derivatives makes of a step, `World.freeze_step`.

    All else of it is the engine's own. A gradient's `cost` counts the bytes of arrays in tuples, lists, dictionaries,
    states and attrs classes.
    """

    @property
    def start(self) -> State:
        """Where the step began."""

    @property
    def end(self) -> State:
        """Where the next one begins."""

    @property
    def pushed(self) -> PushedContacts | None:
        """What `StateCovector.by_impulse` may be about; None where no loss can be differentiated by its contacts."""


class Twins(NamedTuple):
    """Two worlds that differ from another one by ±ε in a parameter."""

    ahead: World
    behind: World
    size: float


@frozen
class SweepReport:
    """What a sweep met.

    Args:
        steps: of the tape. impacts: of them, those that an impact ended at velocity level.
        degenerate: steps at a kink, whose derivative is that of one side.
        redundant: steps whose contacts or constraints repeat each other.
        lost: differences without a contact that ends there, which count as zero.
        reparametrised: body → steps that changed its coordinates.
        smooth: steps in which nothing pushes, pulled by K and D of the models.
        by_terms: steps pulled term by term, by products of bodies, joints and contacts.
        by_columns: reason → steps pulled by differences of the whole step, column by column, which cost most.
    """

    steps: int
    impacts: int
    degenerate: int
    redundant: int
    lost: int
    reparametrised: dict[str, int] = field(factory=dict)
    smooth: int = 0
    by_terms: int = 0
    by_columns: dict[str, int] = field(factory=dict)

    def __add__(self, other: SweepReport) -> SweepReport:
        """The report of both."""
        both: dict[str, Any] = {}
        for name in fields_dict(SweepReport):
            one, two = getattr(self, name), getattr(other, name)
            both[name] = dict(Counter(one) + Counter(two)) if isinstance(one, dict) else one + two
        return SweepReport(**both)


class ModelTwins(NamedTuple):
    """Two models of one body, by its index, that differ from that of the world by ±ε in a parameter and in no form."""

    body: int
    ahead: Model
    behind: Model
    size: float


class RunDerivative(NamedTuple):
    """Derivatives of a loss.

    Args:
        place: by displacements of the start, shape (nv,). velocity: by its v, shape (nv,).
        inputs: by those held in each step of the tape, stacked over bodies, shape (steps, nu); None if not asked.
        parameters: by each, shape (k,).
        report: what the sweep met.
        memory: covectors of what steps keep beside q and v, for a sweep that goes on from here.
    """

    place: Array
    velocity: Array
    inputs: Array | None
    parameters: Array
    report: SweepReport
    memory: Any = None


class StepLinearisation(NamedTuple):
    """Of the steps of a tape: by displacements and v of the start, (2·nv, 2·nv), by held inputs, (2·nv, nu), kinks."""

    by_state: Array
    by_inputs: Array
    is_degenerate: bool


class WorldDerivatives(Protocol):
    """Of one world. Sweeps use its buffers: its internal state is then another one, and must be restored."""

    def displace(self, state: State, displacement: Array, out: State) -> None:
        """Write q(δ) and its aux; time and v are those of the state."""

    def difference(self, state: State, change: Array) -> Array:
        """δ that leads to a place nearby, of which the coordinates differ by `change`, shape (nq,) or (nq, k)."""

    def sweep_back(
        self,
        tape: Sequence[Any],
        loss: Callable[[int], StateCovector | None],
        *,
        wants_inputs: bool | Collection[int] = False,
        twins: Sequence[Twins | ModelTwins] = (),
        progress: Callable[[int], object] | None = None,
        after: RunDerivative | None = None,
    ) -> RunDerivative:
        """Pull a loss back through a tape.

        Args:
            tape: records of steps that follow each other, at least one, of this world; each is a `RecordedStep`.
            loss: ∂ℓ_k/∂x_k at the end of record k, and of the start for k = −1; None where there is no term.
            wants_inputs: whether to differentiate by inputs, or by those of which bodies, by their indices.
            twins: one per parameter.
            progress: called with the number of steps that are left.
            after: the derivative of what came behind the tape; inputs, parameters and report of it are not counted.
        Raises:
            GradientError: a step has no derivative.
        """

    def linearise(self, tape: Sequence[Any]) -> StepLinearisation:
        """The derivative of the end of a tape by its start and by what its steps held.

        Raises:
            GradientError: a step has no derivative.
        """


@runtime_checkable
class DifferentiableWorld(Protocol):
    """An ability of a `World`, whose `freeze_step` returns a `RecordedStep` then."""

    def derivatives(self, state: State) -> WorldDerivatives:
        """Derivatives of the steps that it froze, with the charts of its states, of which `state` is one."""
