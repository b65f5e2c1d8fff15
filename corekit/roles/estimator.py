"""The estimator role: parameters and inputs from observed motion."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from corekit.data.status import SolveInfo
from corekit.roles.component import Component

__all__ = ["Estimator"]


class Estimator(Component):
    """Fits parameters or input schedules of a model to observations."""

    @abstractmethod
    def estimate(self, task: Any, progress: Callable[[Mapping[str, float]], None]) -> tuple[Any, SolveInfo]:
        """Solve the fit (the estimator's own attrs class); returns the estimate and how the solve went."""
