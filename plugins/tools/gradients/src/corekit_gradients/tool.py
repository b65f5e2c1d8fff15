"""What the kernel calls, by the names under which users call it."""

from __future__ import annotations

from typing import Any

from corekit_gradients.linearisation import linearise
from corekit_gradients.objective import Objective
from corekit_gradients.run_gradient import find_gradient

__all__ = ["GradientTool"]


class GradientTool:
    """The functions of this distribution."""

    find_gradient = staticmethod(find_gradient)
    linearise = staticmethod(linearise)

    @staticmethod
    def objective(scenario: Any, loss: Any, variables: Any, **options: Any) -> Objective:
        """An `Objective`."""
        return Objective(scenario, loss, variables, **options)
