"""What planners and estimators answer with: a result, and how the solve went."""

from __future__ import annotations

from typing import Any

from corekit.data.status import SolveInfo
from corekit.errors import PluginError

__all__ = ["answer_of"]


def answer_of(answer: Any, who: str, what: str) -> tuple[Any, SolveInfo]:
    """Return both parts of an answer.

    Args:
        who: `the planner 'name'`. what: what the first part should be, in words.
    Raises:
        PluginError: it has other parts.
    """
    if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], SolveInfo):
        return answer
    found = f"({', '.join(type(each).__name__ for each in answer)})" if isinstance(answer, tuple) else answer
    raise PluginError(f"{who} must answer with {what} and a `SolveInfo`, and answered with {found!s:.80}")
