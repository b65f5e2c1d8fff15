"""The fit as one sparse nonlinear program, solved by IPOPT with exact derivatives.

    min  ½·Σ ‖(p̂ − p(q))/σ_p‖² + ½·Σ ‖ρ‖² + ½·Σ ((z − z̄)/s)²                                     (1)
    s.t. the steps (1) of `motion`, the rows and Φ(q) = 0 at every instant, ν ≥ 0,

over q, v at every instant, λ, ν, ρ at every step, and the parameters θ = θ₀·exp(z) on a log scale, θ₀ + s₀·z on a
linear one. (1) is −log of likelihood and prior but for a constant. Nothing is eliminated: what is unknown at an
instant meets only its neighbours in time, so Jacobian and Hessian are banded.

Source: Jitosho et al. (2021), equation (16); with multipliers as unknowns the exact Hessian stays sparse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, final

import casadi as ca
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.errors import ConfigError, Mistake
from corekit.roles.estimator import EstimationTask
from corekit_fit.config import IpoptFitConfig, Parameter
from corekit_fit.motion import Motion
from corekit_fit.observations import Observations
from corekit_fit.places import MarkerPlaces

__all__ = ["Program", "Solution", "Unknown", "unknowns_of"]

Expression = Any
_Instant = tuple[Expression, Expression]
"""q and v."""


@frozen(kw_only=True)
class Unknown:
    """A parameter as the program holds it: θ = start·exp(z) if `log`, else start + scale·z.

    Args:
        low, high: bounds of θ. prior, deviation: of θ, on a log scale of log θ; nan where there is none.
    """

    name: str
    unit: str
    start: float
    log: bool
    scale: float
    low: float
    high: float
    prior: float
    deviation: float

    def value(self, z: Any) -> Any:
        """θ of a number or an expression."""
        if not self.log:
            return self.start + self.scale * z
        return self.start * (math.exp(min(z, 700.0)) if isinstance(z, float) else ca.exp(z))

    def coordinate(self, value: float) -> float:
        """z of θ; infinite at the ends of the scale."""
        if not self.log:
            return (value - self.start) / self.scale
        if value <= 0.0:
            return -math.inf
        return math.log(value / self.start) if math.isfinite(value) else math.inf


def unknowns_of(parameters: Sequence[Parameter], offered: Any) -> tuple[Unknown, ...]:
    """The parameters with starts and scales filled in from what the model offers.

    Raises:
        ConfigError: names it does not offer, starts that do not fit the scale; all at once.
    """
    wrong: list[Mistake] = []
    made: list[Unknown] = []
    for i, each in enumerate(parameters):
        path = f"options.parameters[{i}]"
        if each.name not in offered:
            known = ", ".join(f"{name} [{of.unit}]" for name, of in offered.items()) or "none"
            wrong.append(
                Mistake(f"{path}.name", each.name, f"must be one that this body's model offers: {known}")
            )
            continue
        own = offered[each.name]
        start = own.value if each.start is None else each.start
        low = -math.inf if each.low is None else each.low
        high = math.inf if each.high is None else each.high
        log = each.scale == "log" or (not each.scale and (start > 0.0 if each.low is None else low >= 0.0))
        if log and start <= 0.0:
            wrong.append(Mistake(f"{path}.start", start, "must be > 0 on a log scale: give a start"))
            continue
        start = min(max(start, low), high)
        prior = math.nan if each.prior is None else each.prior
        deviation = math.nan if each.prior_deviation is None else each.prior_deviation
        made.append(
            Unknown(
                name=each.name, unit=own.unit, start=start, log=log, scale=abs(start) or 1.0,
                low=low, high=high, prior=prior, deviation=deviation,
            )
        )  # fmt: skip
    if wrong:
        raise ConfigError(wrong, "the fit")
    return tuple(made)


@frozen(eq=False)
class Solution:
    """A point of the program.

    Args:
        x: unknowns. dual_x, dual_g: multipliers of bounds and constraints, CasADi's signs.
        objective: (1). status: IPOPT's word. iterations: how many.
        violation: largest violation of a constraint, in m, N, … as they stand in the program.
    """

    x: Array
    dual_x: Array
    dual_g: Array
    objective: float
    status: str
    iterations: int
    violation: float

    @property
    def solved(self) -> bool:
        """Whether IPOPT met its tolerance."""
        return self.status in {"Solve_Succeeded", "Solved_To_Acceptable_Level"}


@final
class Program:
    """The program of a body, its scenario and what was observed.

    Attributes:
        times: instants [s], shape (K + 1,).
        low, high: bounds of the unknowns; those of a parameter may be moved between solves.
        state: places of q and v of every instant among the unknowns, (K + 1, nq) and (K + 1, nv).
        forces, pushes, misses: places of λ, ν, ρ of every step, one array a step.
    """

    def __init__(
        self,
        task: EstimationTask,
        config: IpoptFitConfig,
        unknowns: Sequence[Unknown],
        seen: Observations,
        places: MarkerPlaces,
    ) -> None:
        self.unknowns = tuple(unknowns)
        self.motion = Motion(task, config, [each.name for each in unknowns], places)
        steps = max(math.ceil(seen.time[-1] / task.step - 1e-6), 1)
        self.times = task.step * np.arange(steps + 1)
        self._task, self._config, self._seen = task, config, seen
        self._x: list[Expression] = []
        self._g: list[Expression] = []
        self._low_x: list[float] = []
        self._high_x: list[float] = []
        self._count = 0
        self._assemble()

    # — assembly —

    def _new(self, name: str, size: int, low: float = -math.inf) -> tuple[Expression, IntArray]:
        symbol = ca.SX.sym(name, size)
        self._x.append(symbol)
        self._low_x += [low] * size
        self._high_x += [math.inf] * size
        where = np.arange(self._count, self._count + size)
        self._count += size
        return symbol, where

    def _assemble(self) -> None:
        n, count = self.motion.size, len(self.times)
        z, self.parameters = self._new("z", len(self.unknowns))
        theta = ca.vertcat(*[each.value(z[i]) for i, each in enumerate(self.unknowns)])
        objective: Expression = self._prior(z)
        self.state = np.zeros((count, 2, n), dtype=np.int64)
        self.forces, self.pushes, self.misses = [], [], []
        states: list[_Instant] = []
        for k in range(count):
            q, self.state[k, 0] = self._new(f"q{k}", n)
            v, self.state[k, 1] = self._new(f"v{k}", n)
            states.append((q, v))
            force: Expression = ca.SX.zeros(self.motion.count)
            if k > 0:
                force, missed = self._step(k, states[k - 1], states[k], theta)
                objective += missed
            if k > 0 or self._config.start == "free":
                self._instant(k, states[k], force, theta)
        objective += self._misfit(states)
        self.size = self._count
        self._set_bounds()
        self._solver = self._solver_of(objective)
        self._x, self._g = [], []

    def _held(self, k: int) -> list[int]:
        """Which contacts hold at an instant."""
        time = float(self.times[k])
        return [i for i, each in enumerate(self.motion.contacts) if each.holds(time)]

    def _step(
        self, k: int, before: _Instant, after: _Instant, theta: Expression
    ) -> tuple[Expression, Expression]:
        """Add the equations of the step to instant k; its row forces λ and ½·‖ρ‖²."""
        motion, held = self.motion, self._held(k)
        loose = motion.free[motion.deviations[motion.free] > 0.0]
        force, where = self._new(f"lambda{k}", motion.count)
        self.forces.append(where)
        push, where = self._new(f"nu{k}", len(held), 0.0)
        self.pushes.append(where)
        rho, where = self._new(f"rho{k}", len(loose))
        self.misses.append(where)
        pushes: list[Expression] = [0.0] * len(motion.contacts)
        for place, i in enumerate(held):
            pushes[i] = push[place]
        during = float(self.times[k - 1]) + motion.scheme.share * self._task.step
        loads, poses = self._task.inputs(during).copy(), motion.poses(during)
        balance, moved = motion.step(*before, *after, force, ca.vertcat(*pushes), loads, theta, poses)
        missed = ca.SX.zeros(motion.size)
        missed[loose] = ca.DM(motion.deviations[loose]) * rho
        # what is prescribed needs no equation: whatever force it takes holds it
        free = motion.free.tolist()
        self._g += [(balance - missed)[free], moved[free]]
        return force, 0.5 * ca.sumsqr(rho)

    def _instant(self, k: int, at: _Instant, force: Expression, theta: Expression) -> None:
        """Add rows and contacts of an instant, of the first one also what its velocity may not be."""
        motion, time, held = self.motion, float(self.times[k]), self._held(k)
        inputs, poses = self._task.inputs(time).copy(), motion.poses(time)
        self._g += [motion.rows(*at, force, inputs, theta)]
        self._g += [motion.distance[i](at[0], poses[:, i]) for i in held]
        if k == 0:
            self._g += [motion.across(*at, inputs, theta), *(motion.leaving(i, *at, time) for i in held)]

    def _set_bounds(self) -> None:
        self.low, self.high = np.array(self._low_x), np.array(self._high_x)
        for place, each in zip(self.parameters, self.unknowns, strict=True):
            self.low[place], self.high[place] = each.coordinate(each.low), each.coordinate(each.high)
        held = self.motion.held
        for k, time in enumerate(self.times.tolist() if len(held) else []):
            for place, known in zip(self.state[k][:, held], self.motion.prescribed(time), strict=True):
                self.low[place] = self.high[place] = known
        if self._config.start == "known":
            for place, known in zip(self.state[0], (self._task.start.q, self._task.start.v), strict=True):
                self.low[place] = self.high[place] = known

    def _solver_of(self, objective: Expression) -> Any:
        ipopt = {
            "print_level": 0, "sb": "yes", "max_iter": self._config.max_iterations, "tol": self._config.tolerance,
            "fixed_variable_treatment": "make_parameter",
        }  # fmt: skip
        problem = {"x": ca.vertcat(*self._x), "f": objective, "g": ca.vertcat(*self._g)}
        return ca.nlpsol("fit", "ipopt", problem, {"print_time": False, "ipopt": ipopt})

    def _prior(self, z: Expression) -> Expression:
        total: Expression = ca.SX(0.0)
        for i, each in enumerate(self.unknowns):
            if math.isfinite(each.prior):
                spread = each.deviation if each.log else each.deviation / each.scale
                total += 0.5 * ((z[i] - each.coordinate(each.prior)) / spread) ** 2
        return total

    def _misfit(self, states: Sequence[_Instant]) -> Expression:
        """First sum of (1); between two instants coordinates are joined by straight lines."""
        total: Expression = ca.SX(0.0)
        for time, place in zip(self._seen.time, self._seen.place, strict=True):
            k, share = self.between(float(time))
            q = states[k][0]
            if share > 0.0:
                q = q + share * (states[k + 1][0] - q)
            found = self.motion.markers(q)
            for i, axis in zip(*np.nonzero(np.isfinite(place)), strict=True):
                total += (
                    0.5
                    * ((found[int(axis), int(i)] - float(place[i, axis])) / self._config.markers.deviation)
                    ** 2
                )
        return total

    def between(self, time: float) -> tuple[int, float]:
        """The instant before a time [s], and the share of the step that has passed."""
        k = min(max(int(time / self._task.step + 1e-6), 0), len(self.times) - 1)
        share = time / self._task.step - k
        return k, share if abs(share) > 1e-6 else 0.0

    # — solving —

    def solve(self, guess: Array, *, duals: tuple[Array, Array] | None = None) -> Solution:
        """Solve from a guess, with the bounds as they stand."""
        arguments: dict[str, Any] = {
            "x0": np.clip(guess, self.low, self.high),
            "lbx": self.low,
            "ubx": self.high,
        }
        if duals is not None:
            arguments["lam_x0"], arguments["lam_g0"] = duals
        answer = self._solver(lbg=0.0, ubg=0.0, **arguments)
        told = self._solver.stats()
        g = np.array(answer["g"]).ravel()
        return Solution(
            x=np.array(answer["x"]).ravel(),
            dual_x=np.array(answer["lam_x"]).ravel(),
            dual_g=np.array(answer["lam_g"]).ravel(),
            objective=float(answer["f"]),
            status=str(told["return_status"]),
            iterations=int(told["iter_count"]),
            violation=float(np.abs(g).max(initial=0.0)),
        )

    def derivatives(self, at: Solution) -> tuple[Any, Any]:
        """Hessian of the Lagrangian and Jacobian of the constraints, SciPy's sparse columns."""
        hessian = self._solver.get_function("nlp_hess_l")(at.x, [], 1.0, at.dual_g)
        jacobian = self._solver.get_function("nlp_jac_g")(at.x, [])[1]
        upper = hessian.sparse()
        from scipy import sparse

        whole = upper + sparse.triu(upper, 1).T
        return sparse.csc_matrix(whole), sparse.csc_matrix(jacobian.sparse())

    def values(self, x: Array) -> Array:
        """θ of a point."""
        return np.array(
            [float(each.value(float(x[p]))) for p, each in zip(self.parameters, self.unknowns, strict=True)]
        )
