"""What numbers of a scenario do to the equations of a step: yᵀ·∂F/∂p, without a run that is repeated.

A number among the options of a body changes its model alone. Where that moves no frame, no row of a point and no
motion, it is in R and G of the body alone,

    yᵀ·∂F/∂p = Σ wᵀ·∂R/∂p + zᵀ·∂G/∂p                                                                     (1)

a difference of the body's equations by two models at what is recorded, and no contact is evaluated. Where M, f, K and
D of the models are affine in p, one of the two is the model of the world, whose equations serve all numbers: then a
number costs one evaluation of its body. Whether all of this is so is found by asking the models at two places.

Pyramids that turn follow the problem of a step: where `turned_pyramids` says how, its terms are of bodies too. Else,
and where frames move, F is evaluated whole, with either model in the world. Numbers of other kinds have twins of the
world, composed anew, in which F is evaluated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, cast, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.roles.derivatives import ModelTwins, Twins
from corekit.roles.model import Model
from corekit.roles.model_abilities import ModelAbilities
from corekit_gradients.adjoint.body_sums import BodySums, model_terms
from corekit_gradients.adjoint.frozen_contacts import ContactLost
from corekit_gradients.adjoint.frozen_step import FrozenStep
from corekit_gradients.adjoint.solutions import Solution

if TYPE_CHECKING:
    from corekit.engine.world.world_system import WorldSystem

__all__ = ["ParameterProducts"]

_BENT: Final = 1e-8
"""Second differences relative to first ones up to which a dependence is affine; those of another one are some 1e-5."""
_ROUNDING: Final = 1e-14


@final
class _OtherModels:
    """Two models of one body for one number.

    Args:
        system: the world. given: the models. state: one of its states.

    Attributes:
        terms: of the body. moves: whether frames, rows or motions depend on the number. is_affine: see (1).
        size: ε.
    """

    def __init__(self, system: WorldSystem, given: ModelTwins, state: State) -> None:
        self.terms, self.size = system.terms.bodies[given.body], given.size
        body, own = self.terms.body, state.body_states[given.body]
        words = body.abilities.words
        self._models = [
            (model, ModelAbilities.from_model(model, words)) for model in (given.ahead, given.behind)
        ]
        far, draw = own.copy(), np.random.default_rng(0)
        body.model.integrate(own, 0.1 * draw.standard_normal(body.nv), 1.0, own, far)
        far.v += draw.standard_normal(body.nv)
        models = given.ahead, body.model, given.behind
        self.moves, self.is_affine = False, self.terms.constraints is None
        for place in (own, far):
            one, here, other = (_motions_of(self.terms, model, place) for model in models)
            self.moves = self.moves or not (np.array_equal(one, here) and np.array_equal(other, here))
            for one, here, other in zip(
                *(model_terms(self.terms, model, place) for model in models), strict=True
            ):
                bend, size = np.abs(one - 2.0 * here + other), np.abs(one - other).max(initial=0.0)
                least = _BENT * size + _ROUNDING * np.abs(here).max(initial=0.0)
                self.is_affine = self.is_affine and bool(bend.max(initial=0.0) <= least)

    def values(self, value: Callable[[], float], count: int) -> list[float]:
        """What a function says with p + ε, and, if `count` is 2, with p − ε."""
        terms, found = self.terms, []
        kept = terms.body.model, terms.body.abilities
        is_free = terms.constraints is None  # rows have methods of the model
        try:
            for model, abilities in self._models[:count]:
                if is_free:
                    terms.body.replace_model(model, abilities)
                    terms.motion.forget()
                else:
                    terms.replace_model(model)
                found.append(value())
        finally:
            if is_free:
                terms.body.replace_model(*kept)
                terms.motion.forget()
            else:
                terms.replace_model(kept[0])
        return found

    def needs_here(self, sums: BodySums) -> bool:
        """Whether a sum is affine in the number: one that is turned is not where its terms are."""
        return self.is_affine and not (self.terms.turns and sums.is_linear)

    def slope(self, sums: BodySums, here: float) -> float:
        """The derivative of a sum, which is `here` by the model of the world if that is needed."""
        if self.needs_here(sums):
            return (self.values(sums.value, 1)[0] - here) / self.size
        ahead, behind = self.values(sums.value, 2)
        return (ahead - behind) / (2.0 * self.size)


def _motions_of(terms: BodyTerms, model: Model, state: State) -> Array:
    """Poses and rows of all frames, and where a motion leads, by one of the models of a body."""
    body = terms.body
    count = len(body.description.frames)
    position, rotation, end = np.zeros((count, 3)), np.zeros((count, 3, 3)), state.copy()
    model.compute_frame_poses(state, position, rotation)
    model.integrate(state, state.v, 0.1, state, end)
    found = [position, rotation, end.q, end.aux]
    given = ModelAbilities.from_model(model, body.abilities.words).prescribed
    if given is not None and len(terms.prescribed):
        for time in (state.time, state.time + 0.1):
            place, rate = np.zeros((2, len(terms.prescribed)))
            given.compute_prescribed_motion(time, place, rate)
            found += [place, rate]
    rows = ModelAbilities.from_model(model, body.abilities.words).point_jacobian
    if rows is not None and count:
        width = body.description.jacobian_width
        dofs, values = np.zeros((count, width), dtype=np.int64), np.zeros((count, 3, width))
        rows.compute_point_jacobians(state, np.arange(count), np.zeros((count, 3)), dofs, values)
        found += [dofs.astype(float), values]
    return np.concatenate([each.ravel() for each in found])


@final
class ParameterProducts:
    """(1) of the steps of one world.

    Args:
        system: the world. twins: one per number. state: one of its states.

    Attributes:
        values: Σ yᵀ·∂F/∂p of the steps so far, shape (k,).
    """

    def __init__(self, system: WorldSystem, twins: Sequence[Twins | ModelTwins], state: State) -> None:
        self._system, self.values, self._given = system, np.zeros(len(twins)), tuple(twins)
        self._worlds = [
            (k, *(FrozenStep(cast("WorldSystem", world)) for world in (each.ahead, each.behind)), each.size)
            for k, each in enumerate(twins)
            if isinstance(each, Twins)
        ]
        self._models = [
            (k, _OtherModels(system, each, state))
            for k, each in enumerate(twins)
            if isinstance(each, ModelTwins)
        ]

    def serves(self, twins: Sequence[Twins | ModelTwins]) -> bool:
        """Whether these are the numbers, by the same worlds or models."""
        return len(twins) == len(self._given) and all(
            len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
            for one, other in zip(twins, self._given, strict=True)
        )

    def need_whole(self, step: FrozenStep) -> bool:
        """Whether F of a step, whose solutions are known, must be evaluated whole."""
        return bool(self._worlds) or any(self._is_whole(step, each) for _, each in self._models)

    @staticmethod
    def _is_whole(step: FrozenStep, models: _OtherModels, *, knows_turned: bool = False) -> bool:
        turns = step.turns_pyramids and not knows_turned
        return models.moves or turns or step.contacts.limits_push_out

    def add(
        self, step: FrozenStep, parts: Sequence[tuple[Solution, Array]], y: Array, met: Counter[str],
        *, knows_turned: bool = False,
    ) -> None:  # fmt: skip
        """Add those of a step, for the covectors of its solutions and of all of F; what was lost is counted.

        `knows_turned`: whether `parts` have what pyramids that turn follow.
        """
        whole = [self._is_whole(step, each, knows_turned=knows_turned) for _, each in self._models]
        alone = [each for each, is_whole in zip(self._models, whole, strict=True) if not is_whole]
        if alone:
            self._add_of_bodies(step, parts, alone)
        for (k, models), is_whole in zip(self._models, whole, strict=True):
            if is_whole:
                self._add_whole(
                    k, lambda: float(y @ step.evaluate(step.arguments).stacked_with_tangents()), models, met
                )
        for k, ahead, behind, size in self._worlds:
            ahead.hold(step)
            behind.hold(step)
            try:
                one, other = (each.evaluate(step.arguments) for each in (ahead, behind))
            except ContactLost:
                met["lost"] += 1
                continue
            self.values[k] += y @ (one.stacked_with_tangents() - other.stacked_with_tangents()) / (2.0 * size)

    def _add_of_bodies(
        self,
        step: FrozenStep,
        parts: Sequence[tuple[Solution, Array]],
        models: list[tuple[int, _OtherModels]],
    ) -> None:
        world, wanted = self._system.terms, {each.terms.body.index for _, each in models}
        for solution, y in parts:
            first = 0
            for terms, point in world.of_bodies(step.point_of(solution)):
                index = terms.body.index
                if index in wanted:
                    sums = BodySums(step, terms, point, solution, y, first)
                    own = [(k, each) for k, each in models if each.terms is terms]
                    here = sums.value() if any(each.needs_here(sums) for _, each in own) else 0.0
                    for k, each in own:
                        self.values[k] += each.slope(sums, here)
                first += 0 if terms.constraints is None else terms.constraints.rows.count

    def _add_whole(self, k: int, value: Callable[[], float], models: _OtherModels, met: Counter[str]) -> None:
        try:
            ends = models.values(value, 2)
        except ContactLost:
            met["lost"] += 1
            return
        self.values[k] += (ends[0] - ends[1]) / (2.0 * models.size)
