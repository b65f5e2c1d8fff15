"""What the kernel calls, by the names under which users call it."""

from __future__ import annotations

from typing import Any

from corekit_gradients.frame_gradient import find_frame_gradient
from corekit_gradients.linearisation import linearise
from corekit_gradients.objective import Objective
from corekit_gradients.run_gradient import find_gradient
from corekit_gradients.search import minimise

__all__ = ["GradientTool"]


class GradientTool:
    """The functions of this distribution."""

    find_gradient = staticmethod(find_gradient)
    find_frame_gradient = staticmethod(find_frame_gradient)
    linearise = staticmethod(linearise)
    minimise = staticmethod(minimise)

    @staticmethod
    def objective(scenario: Any, loss: Any, variables: Any, **options: Any) -> Objective:
        """An `Objective`."""
        return Objective(scenario, loss, variables, **options)
