"""The estimator `simulation-fit`: parameters by least squares over simulated motion.

The misfit (1) of `run_misfit` is minimised within bounds by the trust-region method of Branch, Coleman and Li, with
Jacobians by differences of simulations. Whatever can be simulated can be fitted: any model, contact and integrator, of
any size; what is stored is one row of numbers a marker.

It has many minima where motions get out of phase. Then several starts, spread between the bounds, find the best one.

Source: Branch, Coleman, Li (1999), SIAM J. Sci. Comput. 21(1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import final

import numpy as np

from corekit.data.status import SolveInfo
from corekit.roles.component import BuildContext
from corekit.roles.estimator import Estimate, EstimationTask, Estimator
from corekit_fit.config import SimulationFitConfig
from corekit_fit.run_estimate import Found, answer
from corekit_fit.run_misfit import RunMisfit

__all__ = ["SimulationFit"]


@final
class SimulationFit(Estimator):
    """Least squares over whole simulations, for any model, with or without contact."""

    def __init__(self, config: SimulationFitConfig, context: BuildContext | None = None) -> None:
        self._config = config

    def estimate(
        self, task: EstimationTask, progress: Callable[[Mapping[str, float | str]], None]
    ) -> tuple[Estimate, SolveInfo]:
        """Fit from every start; the best is the answer.

        Raises:
            ConfigError: inconsistent markers, frames or parameters; no bounds to spread the starts over.
            StepFailed: the scenario cannot be simulated with the first start.
        """
        from scipy.optimize import least_squares

        config, misfit, answers = self._config, RunMisfit(task, self._config, progress), []
        for z in misfit.starts():
            answers.append(
                least_squares(
                    misfit.try_residual, z, misfit.jacobian, (misfit.low, misfit.high), ftol=config.tolerance,
                    xtol=config.tolerance, gtol=None, max_nfev=config.max_iterations,
                )
            )  # fmt: skip
            misfit.costs.append(float(answers[-1].cost))
        best = min(answers, key=lambda each: float(each.cost))
        found = Found(
            np.asarray(best.x), best.fun, float(best.optimality), int(best.njev), best.status > 0,
            "SciPy: trust-region reflective",
        )  # fmt: skip
        return answer(misfit, found)
