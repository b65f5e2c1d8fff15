"""The planner role: motions through contact."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from corekit.data.status import SolveInfo
from corekit.roles.component import Component

__all__ = ["Planner"]


class Planner(Component):
    """Finds trajectories of state, input and contact force that fulfil a task."""

    @abstractmethod
    def plan(self, task: Any, progress: Callable[[Mapping[str, float]], None]) -> tuple[Any, SolveInfo]:
        """Solve the task (the planner's own attrs class); returns the plan and how the solve went.

        `progress` is told iteration, objective, infeasibility and complementarity by name.
        """
