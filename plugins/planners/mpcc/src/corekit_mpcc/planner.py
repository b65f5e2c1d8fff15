"""The planner `ipopt-mpcc`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from corekit.data.status import SolveInfo
from corekit.roles.component import BuildContext, Memory
from corekit.roles.planner import Planner
from corekit_mpcc.config import MpccConfig

__all__ = ["IpoptMpcc"]


@final
class IpoptMpcc(Planner):
    """Motions through contact.

    Args:
        config: how the search goes.
        context: not needed.
    """

    def __init__(self, config: MpccConfig, context: BuildContext | None = None) -> None:
        self._config = config

    def memory(self) -> Memory:
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        pass

    def plan(self, task: Any, progress: Callable[[Mapping[str, float]], None]) -> tuple[Any, SolveInfo]:
        """Solve the task."""
        return task.solve(self._config, progress)
