"""An optimisation file (TOML) read and checked: all mistakes at once, those of its scenario among them.

format = "corekit-optimise/1"
name = "aim"
scenario = "throw.toml"              # beside this file, or the name of a shipped one
set = ["time.step=0.002"]            # as `--set` of `corekit run`
[[variables]]                        # numbers of the scenario, or values of an input channel
path = "bodies.ball.initial.velocity"
low = -3.0
high = 3.0
[[variables]]
body = "arm"
channel = "chamber-force"
intervals = 10                       # each held for a tenth of the run
[[terms]]                            # of the loss
kind = "position"
frame = "ball.body"
target = [0.9, 0.35]
axes = "xy"
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
from attrs import field, frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.code import absolute_name
from corekit.roles.options import option
from corekit.scenario.dump import plain
from corekit.scenario.scenario import Scenario
from corekit.scenario.schema import run_name_problem
from corekit.scenario.structure import structure
from corekit.simulation.arguments import PATH, TRUTH, check_arguments
from corekit_study.toml_file import named_scenario, toml_table

__all__ = ["FORMAT", "OptimiseFile", "Term", "Variable", "load_optimise"]

FORMAT = "corekit-optimise/1"
MOST_SQUARES = 64
KINDS = ("position", "velocity", "change", "function")


def _numbers(given: Any) -> Any:
    """A number as a list of one; what is neither is left for the check to name."""
    return (given,) if isinstance(given, (int, float)) else given


@frozen(kw_only=True)
class Variable:
    """Numbers that the search chooses: at a path of the scenario, or values of an input channel over the run."""

    path: str = option("", "number or list of numbers in the scenario: bodies.arm.options.stiffness")
    body: str = option("", "of an input channel: whose")
    channel: str = option("", "the input channel")
    intervals: int = option(
        1, "of a channel: equal parts of the run, in each of which its values are held", low=1
    )
    start: tuple[float, ...] = option(
        (0.0,),
        "of a channel: where the search begins; a number for all of its values, or one for each",
        converter=_numbers,
    )
    low: float = option(-math.inf, "least value of each number", infinite=True)
    high: float = option(math.inf, "largest value of each number", infinite=True)
    scale: float | None = option(
        None, "a change that matters; left out, half of high − low, else the number itself, else 1", above=0
    )

    def __attrs_post_init__(self) -> None:
        if bool(self.path) == bool(self.body) or bool(self.body) != bool(self.channel):
            raise ValueError("a variable needs a path, or a body and a channel")
        if self.path and (self.intervals != 1 or self.start != (0.0,)):
            raise ValueError(f"variable {self.path!r}: intervals and start are of channels")
        if not self.low < self.high:
            raise ValueError(f"variable {self.name!r}: low must be below high")

    @property
    def name(self) -> str:
        """Path, or body and channel."""
        return self.path or f"{self.body}.{self.channel}"


def _axes_problem(text: str) -> str | None:
    is_sound = text and set(text) <= set("xyz") and len(set(text)) == len(text)
    return None if is_sound else "must be made of x, y and z, each once"


@frozen(kw_only=True)
class Term:
    """A part of the loss, weight·size, at the end of the run, or its integral over the run.

    `size` of position and velocity is |p − target|² over the axes, with p measured from the origin of `relative_to`; of
    change it is Σ ((x − start)/scale)² over all variables; of function it is what that returns.
    """

    kind: str = option(help="what it is", choices=KINDS)
    frame: str = option("", "`body.frame`, of position and velocity")
    relative_to: str = option(
        "", "of position: a frame from which it is measured; left out, the world's origin"
    )
    target: tuple[float, ...] = option((), "one number an axis; left out, 0", converter=tuple)
    axes: str = option("xyz", "of the world, that count", check=_axes_problem)
    function: str | Callable[..., Any] = field(
        default="", metadata={"help": "`file.py:function` of an instant, or in Python a function"}
    )
    when: str = option("end", "end: of the run; always: its integral over the run", choices=("end", "always"))
    weight: float = option(1.0, "what one unit of size counts", low=0)

    def __attrs_post_init__(self) -> None:
        needs_frame = self.kind in ("position", "velocity")
        if needs_frame != bool(self.frame):
            raise ValueError(f"term {self.kind}: {'a frame is missing' if needs_frame else 'has no frame'}")
        if (self.kind == "function") != bool(self.function):
            raise ValueError(f"term {self.kind}: function belongs to the kind function, which needs it")
        if self.relative_to and self.kind != "position":
            raise ValueError(f"term {self.kind}: relative_to is of position")
        if self.target and (not needs_frame or len(self.target) != len(self.axes)):
            raise ValueError(f"term {self.kind}: target has one number for each of axes = {self.axes!r}")
        if self.kind == "change" and self.when != "end":
            raise ValueError("term change: is of the variables, which have no time: leave `when` out")


@frozen(kw_only=True)
class OptimiseFile:
    """Entries of an optimisation file.

    Args:
        loaded: the scenario it names, loaded.
        given: the text of the file.
    """

    format: str = option(help="version of this format", choices=(FORMAT,))
    name: str = option(help="names the folder of results", check=run_name_problem)
    scenario: str = option(help="file of the scenario, relative to this one, or the name of a shipped one")
    overrides: tuple[str, ...] = field(
        default=(), metadata={"help": "changes to the scenario, as `--set` takes them", "key": "set"}
    )
    until: float | None = option(None, "end of the run; left out, its duration", unit="s", above=0)
    method: str = option(
        "bfgs",
        "bfgs: goes on at kinks; l-bfgs-b: SciPy's, for smooth losses of very many variables; gauss-newton: fewer "
        "runs, with a sweep for each axis of positions and velocities at the end",
        choices=("bfgs", "l-bfgs-b", "gauss-newton"),
    )
    iterations: int = option(100, "at most so many", low=1)
    tolerance: float = option(
        1e-6,
        "of the scaled gradient and of what an iteration gains, relative to the loss at the start",
        above=0,
    )
    variables: tuple[Variable, ...] = option((), "what the search chooses", converter=tuple)
    terms: tuple[Term, ...] = option((), "of the loss", converter=tuple)
    loaded: Scenario | None = field(default=None, eq=False, repr=False, metadata={"hidden": True})
    given: str = field(default="", eq=False, repr=False, metadata={"hidden": True})

    def __attrs_post_init__(self) -> None:
        if not self.variables:
            raise ValueError("variables: a search needs at least one")
        if not any(each.kind != "change" for each in self.terms):
            raise ValueError("terms: a loss needs at least one beside change")
        if self.method == "gauss-newton":
            self._check_squares()
        names = [each.name for each in self.variables]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"variables: {twice[0]!r} is named twice")

    def _check_squares(self) -> None:
        """Refuse terms of which gauss-newton would need too many sweeps, or which are none of squares."""
        said = "terms: gauss-newton sweeps back once for each axis of a place or velocity at the end"
        if any(each.kind == "function" for each in self.terms):
            raise ValueError(f"{said}, and a function has none: take bfgs")
        if any(each.when == "always" for each in self.terms):
            raise ValueError(f"{said}, and an integral over the run would have them in each step: take bfgs")
        count = sum(len(each.axes) for each in self.terms if each.kind != "change")
        if count > MOST_SQUARES:
            most = f"at most {MOST_SQUARES}, and there are {count}"
            raise ValueError(f"{said}, {most}: take bfgs, which sweeps once for all")


def load_optimise(path: str | Path, *, allow_code: bool = False) -> OptimiseFile:
    """Load the optimisation in a TOML file, with its scenario; relative paths in it are relative to the file.

    Args:
        path: of the file.
        allow_code: for the scenario and for terms that name functions, as for `corekit.load`.
    Raises:
        ConfigError: every mistake in it and in its scenario at once, or why it cannot be read.
    """
    check_arguments("load_optimise", path=(path, PATH), allow_code=(allow_code, TRUTH))
    path = Path(path)
    text, table = toml_table(path, "optimisation file", FORMAT)
    mistakes: list[Mistake] = []
    document = plain(table, "", mistakes)
    directory = path.resolve().parent
    made = structure(OptimiseFile, document, "", mistakes, directory=directory)
    loaded = named_scenario(document, directory, mistakes, allow_code=allow_code)
    if made is None or loaded is None or mistakes:
        raise ConfigError(mistakes, str(path))
    terms = tuple(
        attrs.evolve(each, function=absolute_name(each.function, directory))
        if isinstance(each.function, str) and each.function
        else each
        for each in made.terms
    )
    return attrs.evolve(made, loaded=loaded, given=text, terms=terms)
