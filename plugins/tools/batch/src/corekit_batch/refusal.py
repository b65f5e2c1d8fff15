"""Worlds that the driver does not step, in one sentence each."""

from __future__ import annotations

from corekit.errors import CorekitError

__all__ = ["NotCompiled"]


class NotCompiled(CorekitError):
    """What a world has that only the kernel's ordinary step can do; the message says it with a body's name."""
