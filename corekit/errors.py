"""The errors a user or author can meet: each says what was wrong, where, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "CompositionError",
    "ConfigError",
    "ControlError",
    "CorekitError",
    "ExtraNotInstalled",
    "Mistake",
    "PluginError",
    "PluginFailed",
    "ResultsError",
    "StaticsFailed",
    "StepFailed",
    "Terminated",
]


class CorekitError(Exception):
    """Base of every error that corekit raises on purpose."""


_LONGEST = 2000
"""Characters of a part of a mistake; of longer ones the middle is left out."""


class Mistake:
    """One mistake in a configuration: where, what was found, what is allowed, and a hint.

    `path` is dotted with indices, for example `bodies[0].options.sections`.
    """

    __slots__ = ("allowed", "found", "hint", "path")

    def __init__(self, path: str, found: object, allowed: str, hint: str = "") -> None:
        self.path = path
        self.found = found
        self.allowed = allowed
        self.hint = hint

    def __str__(self) -> str:
        # a name of a file may be of any length, and is no longer read then
        parts = (self.path, repr(self.found), self.allowed, self.hint)
        path, found, allowed, hint = (
            each if len(each) <= _LONGEST else f"{each[: _LONGEST // 2]} … {each[-_LONGEST // 2 :]}"
            for each in parts
        )
        text = f"{path}: found {found}; {allowed}"
        return f"{text} — {hint}" if hint else text

    def __repr__(self) -> str:
        return f"Mistake({str(self)!r})"


class ConfigError(CorekitError):
    """A configuration with mistakes, all of them at once in `mistakes`."""

    def __init__(self, mistakes: Iterable[Mistake], source: str = "configuration") -> None:
        self.mistakes = tuple(mistakes)
        self.source = source
        count = len(self.mistakes)
        head = f"{source} has {count} mistake{'s' if count != 1 else ''}:"
        super().__init__("\n".join([head, *(f"  {mistake}" for mistake in self.mistakes)]))


class PluginError(CorekitError):
    """A plugin is missing, ambiguous, made for another kernel, or fails to import."""


class PluginFailed(CorekitError):
    """A plugin, or a user's function, raised an error of its own while it was used."""


class ExtraNotInstalled(PluginError):
    """A component needs a module that an extra of its distribution brings, and that is not installed."""


class CompositionError(CorekitError):
    """Components that cannot work together, refused before anything heavy is imported."""


class ControlError(CorekitError):
    """An unknown channel or frame, an input that does not fit, or two sources of one input."""


class GradientError(CorekitError):
    """A derivative of a step or a run does not exist or is not supported; the message names what stands in its way."""


class StepFailed(CorekitError):
    """A time step that has no usable answer; the run stops there and keeps what it has.

    Attributes:
        step: index of the failed step.
        time: time at its start [s].
        reason: what failed, in one sentence.
        body, coordinate, term: the culprit where it could be named, else empty.
    """

    def __init__(
        self,
        reason: str,
        *,
        step: int = -1,
        time: float = float("nan"),
        body: str = "",
        coordinate: str = "",
        term: str = "",
    ) -> None:
        self.reason, self.step, self.time = reason, step, time
        self.body, self.coordinate, self.term = body, coordinate, term
        super().__init__(reason if step < 0 else f"step {step} from t = {time:.6g} s: {reason}")


class StaticsFailed(CorekitError):
    """No equilibrium was found: there is none, or it could not be reached.

    Attributes:
        load: load factor at which it failed.
        residual: largest unbalanced force there [N or N·m].
        coordinate: where that acts, in words.
    """

    def __init__(
        self, reason: str, *, load: float = 1.0, residual: float = float("nan"), coordinate: str = ""
    ) -> None:
        self.load, self.residual, self.coordinate = load, residual, coordinate
        super().__init__(reason)


class ResultsError(CorekitError):
    """A run folder or results file that is missing, foreign or cannot be written."""


class Terminated(KeyboardInterrupt):
    """The user, or the queue of a cluster, stopped this process by SIGTERM."""

    def __init__(self, said: str = "stopped by SIGTERM") -> None:
        super().__init__(said)
