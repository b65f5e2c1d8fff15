"""From an optimisation file to a better scenario: search by gradients of runs, write what was found, and run it.

The folder holds `optimise.toml` (as given), `progress.csv` (a line an iteration) and `variables.csv` (the best so far),
which grow with the search; in the end `report.json`, `optimised.toml` (the scenario with what was found in it, ready to
run), `inputs-BODY-CHANNEL.csv` for each channel that was searched for, a picture of the search, and the run `replay`.
"""

from __future__ import annotations

import csv
import io
import time as clock
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake, StepFailed
from corekit.roles.derivatives import StateCovector
from corekit.roles.viewer import Line, LineChart, Panel
from corekit.scenario.dump import resolved_document
from corekit.scenario.load import from_document, with_values
from corekit.simulation.arguments import FUNCTION, PATH, Kind, check_arguments, or_none
from corekit.simulation.loop import Simulation
from corekit_gradients.gauss_newton import minimise_squares
from corekit_gradients.losses import ContactForces, Instant, Loss, differentiate, evaluate
from corekit_gradients.objective import Held, Objective
from corekit_gradients.optimise_file import OptimiseFile, Variable
from corekit_gradients.search import Minimum, minimise
from corekit_gradients.terms import loss_of, residuals_of
from corekit_record.cli.pictures import draw_chart
from corekit_run.output_file import write_json, write_text
from corekit_run.running import run
from corekit_study.stoppable import stoppable

__all__ = ["Optimised", "Problem", "optimise"]

OPTIMISED = "optimised.toml"
_PROGRESS = ("iteration", "runs", "loss", "gradient")


@frozen(eq=False)
class Optimised:
    """What was found.

    Args:
        file: what was asked. minimum: where the search ended, in scaled variables.
        names, start, found: of the variables; shapes (n,). first: the loss at the start. failed: runs that failed.
        report: what the sweep of the last run met; see `SweepReport`.
        wall: time of the search [s]. folder: what was written, or None.
        replay: the end's terms of the loss in the replay, beside those of the search; None where there is none.
        picture: of the search, or None. notes: sentences for the user.
    """

    file: OptimiseFile
    minimum: Minimum
    names: tuple[str, ...]
    start: Array
    found: Array
    first: float
    failed: int
    report: Any
    wall: float
    folder: Path | None
    replay: tuple[float, float] | None
    picture: Path | None
    notes: tuple[str, ...]

    def as_data(self) -> dict[str, Any]:
        """Everything as JSON can hold it."""
        minimum = self.minimum
        return {
            "name": self.file.name,
            "status": "finished" if minimum.converged else "failed",
            "reason": minimum.reason,
            "loss": {"start": self.first, "end": minimum.value},
            "iterations": minimum.iterations,
            "runs": minimum.calls,
            "failed_runs": self.failed,
            "gradient": float(np.abs(minimum.gradient).max()),
            "stationarity": minimum.stationarity,
            "variables": {
                name: {"start": float(start), "value": float(value)}
                for name, start, value in zip(self.names, self.start, self.found, strict=True)
            },
            "kinks": self.report.degenerate,
            "impacts": self.report.impacts,
            "replay": None if self.replay is None else dict(zip(("run", "search"), self.replay, strict=True)),
            "wall_s": self.wall,
            "folder": None if self.folder is None else str(self.folder),
            "picture": None if self.picture is None else str(self.picture),
            "notes": list(self.notes),
        }


_FILE: Kind = (
    "what `load_optimise` returned",
    lambda value: isinstance(value, OptimiseFile) and value.loaded is not None,
)


def optimise(
    file: OptimiseFile,
    folder: str | Path | None = None,
    progress: Callable[[Mapping[str, Any]], None] | None = None,
    *,
    replay: bool = True,
) -> Optimised:
    """Search for the variables of a file.

    Args:
        file: as `load_optimise` gives it. folder: existing and empty, for what is found; None: nothing is written.
        progress: called after every iteration with its number, the runs, the loss and the scaled gradient.
        replay: whether to run what was found.
    Raises:
        GradientError: a variable or a step without a derivative. StepFailed: the run of the start fails.
    """
    check_arguments(
        "optimise", file=(file, _FILE), folder=(folder, or_none(PATH)), progress=(progress, or_none(FUNCTION))
    )
    folder = None if folder is None else Path(folder)
    began = clock.perf_counter()
    problem = Problem(file)
    if folder is not None:
        write_text(folder / "optimise.toml", file.given)
    first, gradient = problem.loss(problem.start)
    table = _Table(problem, folder)
    table.add(0, 1, first, float(np.abs(gradient * problem.scale).max()), problem.start / problem.scale)
    with stoppable(progress) as reported:

        def note(*numbers: Any) -> None:
            table.add(*numbers)
            reported(dict(zip(_PROGRESS, numbers, strict=False)))

        minimum = problem.search(note)
    found, wall = problem.unscaled(minimum.x), clock.perf_counter() - began
    problem.loss(found)
    picture, told, notes = None, None, []
    if folder is not None:
        ready = _write(problem, found, folder)
        picture, said = _draw(table.rows, folder / "search", file.name)
        notes += [said] if said else []
        if replay:
            told = problem.replay(ready, folder / "replay")
    assert problem.objective.last is not None
    made = Optimised(
        file, minimum, problem.objective.names, problem.start, found, first, problem.failed,
        problem.objective.last.report, wall, folder, told, picture, tuple(notes),
    )  # fmt: skip
    if folder is not None:
        write_json(folder / "report.json", made.as_data())
    return made


@final
class Problem:
    """The loss of a file as a function of its variables x.

    Attributes:
        start, low, high, scale: of x, shapes (n,). objective: the loss without what counts changes.
    """

    def __init__(self, file: OptimiseFile) -> None:
        assert file.loaded is not None
        self.file, scenario = file, file.loaded
        simulation = scenario.compose()
        ends = self._ends = [each for each in file.terms if each.when == "end" and each.kind != "change"]
        self._count = sum(len(each.axes) for each in ends)
        whole = [each for each in file.terms if each.when == "always"]
        self._change = sum(each.weight for each in file.terms if each.kind == "change")
        self.until = scenario.time.duration if file.until is None else file.until
        self._of_end = loss_of(ends, simulation, allow_code=scenario.allow_code)
        running = loss_of(whole, simulation, allow_code=scenario.allow_code) if whole else None
        variables = [each.path or Held(each.body, each.channel, each.intervals) for each in file.variables]
        self.objective = Objective(scenario, self._of_end, variables, running=running, until=self.until)
        parts = self.objective.parts
        self.start = self.objective.start.copy()
        self.low, self.high, self.scale = (np.empty(len(self.start)) for _ in range(3))
        for each, where in zip(file.variables, parts, strict=True):
            if each.channel:
                self.start[where] = _begin(each, where.stop - where.start, file.name)
            self.low[where], self.high[where] = each.low, each.high
            self.scale[where] = _scale(each, self.start[where])
        outside = (self.start < self.low) | (self.start > self.high)
        if outside.any():
            i = int(np.argmax(outside))
            said = f"starts outside of its bounds {self.low[i]:g} … {self.high[i]:g}"
            raise ConfigError([Mistake(self.objective.names[i], float(self.start[i]), said)], file.name)
        self.failed = 0

    def value(self, x: Array) -> float:
        """The loss alone, by a run without its gradient."""
        moved = (x - self.start) / self.scale
        return self.objective.value(x) + self._change * float(moved @ moved)

    def loss(self, x: Array) -> tuple[float, Array]:
        """The loss and its gradient."""
        value, gradient = self.objective(x)
        moved = (x - self.start) / self.scale
        return value + self._change * float(moved @ moved), gradient + 2.0 * self._change * moved / self.scale

    def unscaled(self, y: Array) -> Array:
        """x of scaled variables y, within the bounds."""
        return np.clip(y * self.scale, self.low, self.high)

    def _scaled(self, y: Array) -> tuple[float, Array]:
        try:
            value, gradient = self.loss(y * self.scale)
        except StepFailed:
            self.failed += 1
            return np.nan, np.full(len(y), np.nan)
        return value, gradient * self.scale

    def search(self, note: Callable[..., object]) -> Minimum:
        """Search by the method of the file."""
        file, begin = self.file, self.start / self.scale
        low, high = self.low / self.scale, self.high / self.scale
        bounds = {"iterations": file.iterations, "tolerance": file.tolerance, "progress": note}
        if file.method == "bfgs":
            return minimise(self._scaled, begin, low, high, **bounds)
        if file.method == "gauss-newton":
            return minimise_squares(self._squares, begin, low, high, **bounds)
        return _by_scipy(self._scaled, begin, low, high, file, note)

    def _squares(self, y: Array) -> tuple[Array, Callable[[], Array]]:
        """The residuals whose squares are the loss, and what sweeps back for their Jacobian."""
        change = np.sqrt(self._change) * np.eye(len(y))
        moved = change @ (y - self.start / self.scale)
        try:
            run = self.objective.record(y * self.scale)
        except StepFailed:
            self.failed += 1
            return np.full(self._count + len(y), np.nan), lambda: change
        simulation, last = run.simulation, len(run.states) - 1
        squares = residuals_of(self._ends, simulation)
        found = [evaluate(each, Instant(simulation, run.states[last])) for each in squares]

        def slope(each: Loss) -> Array:
            def at_end(k: int) -> StateCovector | None:
                return (
                    differentiate(each, simulation, run.derivatives, run.states[k].copy())
                    if k == last
                    else None
                )

            def held(world: Simulation) -> float:
                return evaluate(each, Instant(world, run.states[last]))

            return self.objective.pull(run, at_end, held) * self.scale

        return np.concatenate([found, moved]), lambda: np.vstack([*map(slope, squares), change])

    def replay(self, ready: Any, folder: Path) -> tuple[float, float]:
        """Run what was written; the loss of the end there, and in the search."""
        run(ready, directory=folder)
        simulation = ready.compose()
        simulation.run(self.until)
        assert self.objective.last is not None
        at_end = Instant(simulation, simulation.state, ContactForces.of(simulation))
        return evaluate(self._of_end, at_end), self.objective.last.end


@final
class _Table:
    """The iterations so far, in a folder, if there is one, as they come."""

    def __init__(self, problem: Problem, folder: Path | None) -> None:
        self._problem, self._folder = problem, folder
        self.rows: list[tuple[float, ...]] = []

    def add(self, iteration: int, runs: int, loss: float, gradient: float, y: Array) -> None:
        """Add an iteration that ended at scaled variables y."""
        self.rows.append((iteration, runs, loss, gradient))
        if self._folder is None:
            return
        write_text(self._folder / "progress.csv", _csv(_PROGRESS, self.rows))
        names, x = self._problem.objective.names, self._problem.unscaled(y)
        rows = zip(names, self._problem.start.tolist(), x.tolist(), strict=True)
        write_text(self._folder / "variables.csv", _csv(("name", "start", "value"), rows))


def _csv(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(heads)
    table.writerows(rows)
    return out.getvalue()


def _begin(variable: Variable, count: int, name: str) -> Array:
    """Where a channel begins, in every interval, shape (count,).

    Raises:
        ConfigError: there are as many numbers as it has not.
    """
    size = count // variable.intervals
    if len(variable.start) not in (1, size):
        said = f"has one number, or one for each of the channel's {size}"
        raise ConfigError([Mistake(f"{variable.name}: start", list(variable.start), said)], name)
    return np.tile(np.resize(variable.start, size), variable.intervals)


def _scale(variable: Variable, start: Array) -> Array:
    if variable.scale is not None:
        return np.full(len(start), variable.scale)
    width = 0.5 * (variable.high - variable.low)
    if np.isfinite(width):
        return np.full(len(start), width)
    return np.where(start != 0.0, np.abs(start), np.abs(start).max(initial=0.0) or 1.0)


def _by_scipy(
    function: Callable[[Array], tuple[float, Array]],
    start: Array,
    low: Array,
    high: Array,
    file: OptimiseFile,
    note: Callable[..., object],
) -> Minimum:
    from scipy.optimize import minimize

    calls = iterations = 0
    best: tuple[float, Array] = (np.inf, start)

    def counted(y: Array) -> tuple[float, Array]:
        nonlocal calls, best
        calls += 1
        value, gradient = function(y)
        if not np.isfinite(value):
            raise StepFailed("a run of the search failed: l-bfgs-b cannot go round it, bfgs can")
        if value <= best[0]:
            best = value, gradient
        return value, gradient

    def each(y: Array) -> None:
        nonlocal iterations
        iterations += 1
        note(iterations, calls, best[0], float(np.abs(best[1]).max()), y)

    settings: dict[str, Any] = {
        "jac": True,
        "method": "L-BFGS-B",
        "bounds": list(zip(low, high, strict=True)),
        "callback": each,
        "options": {"maxiter": file.iterations, "ftol": file.tolerance, "gtol": 0.0},
    }
    done = minimize(counted, start, **settings)
    gradient = np.asarray(done.jac)
    return Minimum(
        np.asarray(done.x), float(done.fun), gradient, iterations, calls, bool(done.success),
        f"L-BFGS-B: {str(done.message).lower()}", float(np.linalg.norm(gradient)),
    )  # fmt: skip


def _write(problem: Problem, found: Array, folder: Path) -> Any:
    """Write what was found; return the scenario that was written."""
    import tomli_w

    file, objective = problem.file, problem.objective
    assert file.loaded is not None
    document = resolved_document(with_values(file.loaded, objective.values(found)))
    document["name"] = f"{document['name']}-optimised"
    document["time"]["duration"] = problem.until
    step = float(document["time"]["step"])
    grid = np.arange(round(problem.until / step) + 1) * step
    for (body, channel), values in objective.schedules(found, len(grid) - 1).items():
        path = folder / f"inputs-{body}-{channel}.csv"
        heads = ["time", *(f"value_{i}" for i in range(values.shape[1]))]
        write_text(path, _csv(heads, np.column_stack([grid, values]).tolist()))
        (entry,) = [each for each in document["bodies"] if each["name"] == body]
        kept = [each for each in entry.get("inputs", []) if each["channel"] != channel]
        entry["inputs"] = [*kept, {"channel": channel, "signal": {"kind": "csv", "file": path.name}}]
    path = folder / OPTIMISED
    write_text(path, tomli_w.dumps(document))
    return from_document(document, source=path, allow_code=file.loaded.allow_code)


def _draw(rows: list[tuple[float, ...]], stem: Path, name: str) -> tuple[Path | None, str]:
    """Draw the loss over the runs, and its logarithm where it has one."""
    runs, losses = np.array(rows, dtype=float)[:, 1:3].T
    panels = [Panel("runs", "loss", (Line("loss", runs, losses),))]
    if (losses > 0.0).all():
        panels.append(Panel("runs", "log₁₀ loss", (Line("loss", runs, np.log10(losses)),)))
    return draw_chart(LineChart(f"{name}: the loss over the runs of the search", tuple(panels)), stem)
