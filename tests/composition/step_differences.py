"""Derivatives of one step against differences of the whole step, solved anew on both sides, or on one at a kink."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit_gradients.adjoint.body_products import BodyProducts
from corekit_gradients.adjoint.charts import Charts
from corekit_gradients.adjoint.covectors import Covectors
from corekit_gradients.adjoint.frozen_step import FrozenStep
from corekit_gradients.adjoint.step_derivative import StepDerivative
from corekit_gradients.adjoint.term_products import TermProducts


class Comparison(NamedTuple):
    """What a step's derivative says along one direction, and what differences of the step say.

    Args:
        place, velocity: largest errors of δq⁺ and δv⁺, relative to their largest entries.
        transposed: |a·δq⁺ + b·δv⁺ − a₀·δq₀ − b₀·δv₀|, relative to the sum of the sizes of its terms.
        derivative: of the step.
        frozen: its equations.
        terms: the largest difference of covectors pulled by terms from those by columns, relative to the largest
            entries, of those of tangents with what came in; None where columns answer.
        reason: why they do.
        pulled: error of a·δq⁺ + b·δv⁺ by those pulled by terms, relative to the sizes of its terms; None without.
    """

    place: float
    velocity: float
    transposed: float
    derivative: StepDerivative
    frozen: FrozenStep
    terms: float | None
    reason: str | None
    pulled: float | None


def pull(derivative: StepDerivative, frozen: FrozenStep, a, b):
    """Covectors of q₀ and v₀ for those of q⁺ and v⁺, without what a step keeps beside them."""
    carried = frozen.arguments.start_impulse
    start, _ = derivative.pull(Covectors(a, b, np.zeros_like(frozen.here.tangents), np.zeros_like(carried)))
    return start.place, start.velocity


def compare(simulation, seed: int = 0, size: float = 1e-7) -> Comparison | None:
    """Compare along a random direction for the next step, which is made; None where it was cut into parts."""
    system, draw = simulation.system, np.random.default_rng(seed)
    before = simulation.internal_state()
    with simulation.record_steps() as tape:
        simulation.step()
    after = simulation.internal_state()
    if len(tape) != 1:
        return None
    frozen = FrozenStep(system)
    frozen.load(tape[0])
    charts = Charts(system.terms, tape[0].start)
    derivative = StepDerivative(system, frozen, charts, np.ones(system.nv), np.ones(system.nv))
    place, velocity, a, b = draw.standard_normal((4, system.nv))
    driven = ~np.concatenate([terms.free for terms in system.terms.bodies])
    for each in (place, velocity, a, b):
        each[driven] = 0.0
    found_place, found_velocity = derivative.push(place, velocity)
    a0, b0 = pull(derivative, frozen, a, b)
    nothing = np.zeros_like(frozen.arguments.start_impulse)
    end = Covectors(a, b, draw.standard_normal(frozen.here.tangents.shape), nothing)
    columns, _ = derivative.pull(end)
    products = TermProducts(system, charts, BodyProducts(system.terms, charts, tape[0].start))
    quick = StepDerivative(system, frozen, charts, np.ones(system.nv), np.ones(system.nv), products)
    terms, by_terms = None, None
    if quick.reason is None:
        with_tangents, _ = quick.pull(end)
        by_terms, _ = quick.pull(end._replace(tangents=np.zeros_like(end.tangents)))
        errors = [np.abs(one - other) for one, other in zip(with_tangents[:3], columns[:3], strict=True)]
        sizes = [np.abs(each).max(initial=0.0) for each in columns[:3]]
        sizes[2] = max(sizes[2], np.abs(end.tangents).max(initial=0.0))
        terms = max(
            error.max(initial=0.0) / max(size, np.finfo(float).tiny)
            for error, size in zip(errors, sizes, strict=True)
        )
    ends = {}
    for k in (-2, -1, 0, 1, 2):
        simulation.restore(before)
        moved = system.new_state()
        charts.displace(simulation.state, k * size * place, moved)
        simulation.state.q[:], simulation.state.aux[:] = moved.q, moved.aux
        simulation.state.v += k * size * velocity
        simulation.step()
        ends[k] = np.concatenate([simulation.state.q, simulation.state.v])
    simulation.restore(after)
    parts = np.concatenate([a * found_place, b * found_velocity, -a0 * place, -b0 * velocity])
    transposed = abs(parts.sum()) / np.abs(parts).sum()
    errors, pulled = [], []
    # of second order: central, or on one side where a kink is nearer than the arguments of a difference
    for one in (
        (ends[1] - ends[-1]) / (2.0 * size),
        (-3.0 * ends[0] + 4.0 * ends[1] - ends[2]) / (2.0 * size),
        (3.0 * ends[0] - 4.0 * ends[-1] + ends[-2]) / (2.0 * size),
    ):
        of_place, of_velocity = charts.difference(derivative.end, one[: system.nq]), one[system.nq :]
        if by_terms is not None:
            own = by_terms.place @ place, by_terms.velocity @ velocity
            seen = a @ of_place, b @ of_velocity
            pulled.append(
                abs(sum(own) - sum(seen)) / (np.abs(a * of_place).sum() + np.abs(b * of_velocity).sum())
            )
        errors.append(
            (
                np.abs(found_place - of_place).max() / np.abs(of_place).max(),
                np.abs(found_velocity - of_velocity).max() / np.abs(of_velocity).max(),
            )
        )
    of_place, of_velocity = min(errors, key=max)
    return Comparison(
        of_place, of_velocity, transposed, derivative, frozen, terms, quick.reason, min(pulled, default=None)
    )
