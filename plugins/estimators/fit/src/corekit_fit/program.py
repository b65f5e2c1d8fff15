"""Fit as one sparse nonlinear program, solved by IPOPT with exact derivatives.

    min  ½·Σ ‖(p̂ − p(q))/σ_p‖² + ½·Σ (‖ρ‖² + ‖ς‖²) + ½·Σ ((z − z̄)/s)²                            (1)
    s.t. the steps (1) of `motion`, the rows and Φ(q) = 0 at every instant, ν ≥ 0,

over q, v at every instant, λ, ν, ρ, ς at every step, and the parameters θ = θ₀·exp(z) on a log scale, θ₀ + s₀·z on a
linear one. (1) is −log of likelihood and prior up to a constant. Nothing is eliminated: unknowns of an instant couple
only with neighbouring instants, so Jacobian and Hessian are banded.

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
from corekit_fit.marker_positions import MarkerPositions
from corekit_fit.motion import Motion
from corekit_fit.observations import Observations

__all__ = ["Program", "Solution", "Unknown", "resolve_unknowns"]

Expression = Any
_Instant = tuple[Expression, Expression]
"""q and v."""


@frozen(kw_only=True)
class Unknown:
    """A parameter of the program: θ = start·exp(z) if `log`, else start + scale·z.

    Args:
        low, high: bounds of θ.
        prior, deviation: prior of θ, on a log scale of log θ; nan without a prior.
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
        """Return θ for a number or an expression z."""
        if not self.log:
            return self.start + self.scale * z
        return self.start * (math.exp(min(z, 700.0)) if isinstance(z, float) else ca.exp(z))

    def coordinate(self, value: float) -> float:
        """Return z for θ; infinite at the ends of the scale."""
        if not self.log:
            return (value - self.start) / self.scale
        if value <= 0.0:
            return -math.inf
        return math.log(value / self.start) if math.isfinite(value) else math.inf


def resolve_unknowns(parameters: Sequence[Parameter], model_parameters: Any) -> tuple[Unknown, ...]:
    """Return the parameters with starts and scales from the model.

    Raises:
        ConfigError: all unknown names and invalid starts at once.
    """
    mistakes: list[Mistake] = []
    unknowns: list[Unknown] = []
    for i, each in enumerate(parameters):
        path = f"options.parameters[{i}]"
        if each.name not in model_parameters:
            known = ", ".join(f"{name} [{of.unit}]" for name, of in model_parameters.items()) or "none"
            mistakes.append(
                Mistake(f"{path}.name", each.name, f"must be a parameter of the body's model: {known}")
            )
            continue
        model_parameter = model_parameters[each.name]
        start = model_parameter.value if each.start is None else each.start
        low = -math.inf if each.low is None else each.low
        high = math.inf if each.high is None else each.high
        log = each.scale == "log" or (not each.scale and (start > 0.0 if each.low is None else low >= 0.0))
        if log and start <= 0.0:
            mistakes.append(Mistake(f"{path}.start", start, "must be > 0 on a log scale: give a start"))
            continue
        start = min(max(start, low), high)
        prior = math.nan if each.prior is None else each.prior
        deviation = math.nan if each.prior_deviation is None else each.prior_deviation
        unknowns.append(
            Unknown(
                name=each.name, unit=model_parameter.unit, start=start, log=log, scale=abs(start) or 1.0,
                low=low, high=high, prior=prior, deviation=deviation,
            )
        )  # fmt: skip
    if mistakes:
        raise ConfigError(mistakes, "the fit")
    return tuple(unknowns)


@frozen(eq=False)
class Solution:
    """A point of the program.

    Args:
        x: unknowns.
        dual_x, dual_g: multipliers of bounds and constraints, with CasADi's signs.
        objective: (1).
        status: return status of IPOPT.
        iterations: count of iterations.
        violation: largest violation of a constraint, in its unit in the program (m, N, …).
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
        """Whether IPOPT converged to its tolerance."""
        return self.status in {"Solve_Succeeded", "Solved_To_Acceptable_Level"}


@final
class Program:
    """Program of a body in its scenario with the observations.

    Attributes:
        times: instants [s], shape (K + 1,).
        low, high: bounds of the unknowns; a caller may change those of a parameter between solves.
        state: indices of q and v of every instant in the unknowns, (K + 1, 2, nv).
        forces, contact_forces, unmodelled_forces, shifts: indices of λ, ν, ρ, ς, one array per step.
    """

    def __init__(
        self,
        task: EstimationTask,
        config: IpoptFitConfig,
        unknowns: Sequence[Unknown],
        observed: Observations,
        positions: MarkerPositions,
    ) -> None:
        self.unknowns = tuple(unknowns)
        self.motion = Motion(task, config, [each.name for each in unknowns], positions)
        steps = max(math.ceil(observed.time[-1] / task.step - 1e-6), 1)
        self.times = task.step * np.arange(steps + 1)
        self._task, self._config, self._observed = task, config, observed
        self._x: list[Expression] = []
        self._g: list[Expression] = []
        self._low_x: list[float] = []
        self._high_x: list[float] = []
        self._count = 0
        self._assemble()

    def _new(self, name: str, size: int, low: float = -math.inf) -> tuple[Expression, IntArray]:
        symbol = ca.SX.sym(name, size)
        self._x.append(symbol)
        self._low_x += [low] * size
        self._high_x += [math.inf] * size
        index = np.arange(self._count, self._count + size)
        self._count += size
        return symbol, index

    def _assemble(self) -> None:
        n, count = self.motion.size, len(self.times)
        z, self.parameters = self._new("z", len(self.unknowns))
        theta = ca.vertcat(*[each.value(z[i]) for i, each in enumerate(self.unknowns)])
        objective: Expression = self._prior(z)
        self.state = np.zeros((count, 2, n), dtype=np.int64)
        self.forces, self.contact_forces, self.unmodelled_forces, self.shifts = [], [], [], []
        states: list[_Instant] = []
        for k in range(count):
            q, self.state[k, 0] = self._new(f"q{k}", n)
            v, self.state[k, 1] = self._new(f"v{k}", n)
            states.append((q, v))
            force: Expression = ca.SX.zeros(self.motion.count)
            if k > 0:
                force, unmodelled = self._add_step(k, states[k - 1], states[k], theta)
                objective += unmodelled
            if k > 0 or self._config.start == "free":
                self._add_instant(k, states[k], force, theta)
        objective += self._misfit(states)
        self.size = self._count
        self._set_bounds()
        self._solver = self._make_solver(objective)
        self._x, self._g = [], []

    def _active_contacts(self, k: int) -> list[int]:
        """Return the indices of the active contacts at an instant."""
        time = float(self.times[k])
        return [i for i, each in enumerate(self.motion.contacts) if each.is_active(time)]

    def _add_step(
        self, k: int, before: _Instant, after: _Instant, theta: Expression
    ) -> tuple[Expression, Expression]:
        """Add the equations of the step to instant k and return its λ and ½·(‖ρ‖² + ‖ς‖²)."""
        motion, active = self.motion, self._active_contacts(k)
        inexact = motion.free[motion.deviations[motion.free] > 0.0]
        shifted = motion.free[motion.shifts[motion.free] > 0.0]
        force, index = self._new(f"lambda{k}", motion.count)
        self.forces.append(index)
        contact_force, index = self._new(f"nu{k}", len(active), 0.0)
        self.contact_forces.append(index)
        rho, index = self._new(f"rho{k}", len(inexact))
        self.unmodelled_forces.append(index)
        sigma, index = self._new(f"sigma{k}", len(shifted))
        self.shifts.append(index)
        contact_forces: list[Expression] = [0.0] * len(motion.contacts)
        for k_active, i in enumerate(active):
            contact_forces[i] = contact_force[k_active]
        load_time = float(self.times[k - 1]) + motion.scheme.fraction * self._task.step
        loads, poses = self._task.inputs(load_time).copy(), motion.poses(load_time)
        balance, kinematics = motion.step(
            *before, *after, force, ca.vertcat(*contact_forces), loads, theta, poses
        )
        unmodelled, shift = ca.SX.zeros(motion.size), ca.SX.zeros(motion.size)
        unmodelled[inexact] = ca.DM(motion.deviations[inexact]) * rho
        shift[shifted] = ca.DM(motion.shifts[shifted]) * sigma
        # prescribed coordinates need no equation: their force is free
        free = motion.free.tolist()
        self._g += [(balance - unmodelled)[free], (kinematics - shift)[free]]
        return force, 0.5 * (ca.sumsqr(rho) + ca.sumsqr(sigma))

    def _add_instant(self, k: int, at: _Instant, force: Expression, theta: Expression) -> None:
        """Add rows and contacts of an instant; for the first instant also conditions of the velocity."""
        motion, time, active = self.motion, float(self.times[k]), self._active_contacts(k)
        inputs, poses = self._task.inputs(time).copy(), motion.poses(time)
        self._g += [motion.rows(*at, force, inputs, theta)]
        self._g += [motion.distance[i](at[0], poses[:, i]) for i in active]
        if k == 0:
            self._g += [
                motion.constraint_velocity(*at, inputs, theta),
                *(motion.gap_rate(i, *at, time) for i in active),
            ]

    def _set_bounds(self) -> None:
        self.low, self.high = np.array(self._low_x), np.array(self._high_x)
        for index, each in zip(self.parameters, self.unknowns, strict=True):
            self.low[index], self.high[index] = each.coordinate(each.low), each.coordinate(each.high)
        active = self.motion.prescribed_index
        for k, time in enumerate(self.times.tolist() if len(active) else []):
            for index, known in zip(self.state[k][:, active], self.motion.prescribed(time), strict=True):
                self.low[index] = self.high[index] = known
        if self._config.start == "known":
            for index, known in zip(self.state[0], (self._task.start.q, self._task.start.v), strict=True):
                self.low[index] = self.high[index] = known

    def _make_solver(self, objective: Expression) -> Any:
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
                deviation = each.deviation if each.log else each.deviation / each.scale
                total += 0.5 * ((z[i] - each.coordinate(each.prior)) / deviation) ** 2
        return total

    def _misfit(self, states: Sequence[_Instant]) -> Expression:
        """Return the first sum of (1), with linear interpolation of the coordinates between instants."""
        total: Expression = ca.SX(0.0)
        for time, position in zip(self._observed.time, self._observed.position, strict=True):
            k, fraction = self.between(float(time))
            q = states[k][0]
            if fraction > 0.0:
                q = q + fraction * (states[k + 1][0] - q)
            markers = self.motion.markers(q)
            for i, axis in zip(*np.nonzero(np.isfinite(position)), strict=True):
                error = markers[int(axis), int(i)] - float(position[i, axis])
                total += 0.5 * (error / self._config.markers.deviation) ** 2
        return total

    def between(self, time: float) -> tuple[int, float]:
        """Return the instant before a time [s], and the fraction of the step after it."""
        k = min(max(int(time / self._task.step + 1e-6), 0), len(self.times) - 1)
        fraction = time / self._task.step - k
        return k, fraction if abs(fraction) > 1e-6 else 0.0

    def solve(self, guess: Array, *, duals: tuple[Array, Array] | None = None) -> Solution:
        """Solve from a guess with the present bounds."""
        arguments: dict[str, Any] = {
            "x0": np.clip(guess, self.low, self.high),
            "lbx": self.low,
            "ubx": self.high,
        }
        if duals is not None:
            arguments["lam_x0"], arguments["lam_g0"] = duals
        solution = self._solver(lbg=0.0, ubg=0.0, **arguments)
        statistics = self._solver.stats()
        g = np.array(solution["g"]).ravel()
        return Solution(
            x=np.array(solution["x"]).ravel(),
            dual_x=np.array(solution["lam_x"]).ravel(),
            dual_g=np.array(solution["lam_g"]).ravel(),
            objective=float(solution["f"]),
            status=str(statistics["return_status"]),
            iterations=int(statistics["iter_count"]),
            violation=float(np.abs(g).max(initial=0.0)),
        )

    def derivatives(self, at: Solution) -> tuple[Any, Any]:
        """Return the Hessian of the Lagrangian and the Jacobian of the constraints, as SciPy CSC matrices."""
        hessian = self._solver.get_function("nlp_hess_l")(at.x, [], 1.0, at.dual_g)
        jacobian = self._solver.get_function("nlp_jac_g")(at.x, [])[1]
        upper = hessian.sparse()
        from scipy import sparse

        full = upper + sparse.triu(upper, 1).T
        return sparse.csc_matrix(full), sparse.csc_matrix(jacobian.sparse())

    def values(self, x: Array) -> Array:
        """Return θ of a point."""
        return np.array(
            [float(each.value(float(x[p]))) for p, each in zip(self.parameters, self.unknowns, strict=True)]
        )
