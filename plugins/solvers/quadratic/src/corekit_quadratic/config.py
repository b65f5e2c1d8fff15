"""Options of the quadratic programming solvers."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from corekit.roles.options import option

__all__ = ["BandedConfig", "OsqpConfig", "PiqpConfig", "ProxqpConfig"]


def _polish_option() -> Any:
    return option(True, "solve the active rows exactly in the end if that reduces the residuals")


@frozen(kw_only=True)
class BandedConfig:
    """Options of `banded`."""

    max_iterations: int = option(1000, "changes of the active set, of many rows at once or of one row", low=1)
    patience: int = option(
        4, "unsuccessful changes of many rows at once before rows change one by one", low=0
    )


@frozen(kw_only=True)
class OsqpConfig:
    """Options of `osqp`."""

    max_iterations: int = option(4000, "iterations", low=1)
    tolerance: float = option(1e-6, "primal and dual tolerance of the scaled problem", above=0.0)
    polish: bool = _polish_option()


@frozen(kw_only=True)
class PiqpConfig:
    """Options of `piqp`."""

    max_iterations: int = option(250, "interior point iterations", low=1)
    tolerance: float = option(1e-12, "primal and dual tolerance of the scaled problem", above=0.0)
    polish: bool = _polish_option()


@frozen(kw_only=True)
class ProxqpConfig:
    """Options of `proxqp`."""

    max_iterations: int = option(1000, "outer iterations", low=1)
    tolerance: float = option(1e-12, "primal and dual tolerance of the scaled problem", above=0.0)
    polish: bool = _polish_option()
