"""`corekit info RUNDIR --step K`: the solver of one step, its residual, and every contact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from corekit.cli.terminal import make_console
from corekit.data.contacts import ContactMode
from corekit.errors import ResultsError
from corekit_record.results import Results

__all__ = ["print_step", "step_sheet"]


def step_sheet(results: Results, step: int | None, at: float | None) -> dict[str, Any]:
    """Return what is stored of a step, as JSON can hold it.

    Contacts are stored once per record: they are those of the last record that is no later than the step.

    Args:
        results: of the run. step: counted from 0, as in messages. at: or an instant within the step [s].
    Raises:
        ResultsError: there is no such step.
    """
    solves = results.solves
    ends, steps, first = solves.time, len(solves.time), results.first_step
    if step is None:
        instant = 0.0 if at is None else at
        step = int(np.searchsorted(ends, instant + 1e-9 * max(1.0, abs(instant)), side="right"))
        # an instant between two steps belongs to the one that ends, whose end is recorded
        step -= bool(step and abs(ends[step - 1] - instant) <= 1e-9 * max(1.0, abs(instant)))
        wanted = f"at {instant:g} s"
    else:
        wanted = str(step)
        step -= first
    if not 0 <= step < steps or (at is not None and at < results.time[0]):
        said = (
            f"{first} to {first + steps - 1}, t = {results.time[0]:g} to {ends[-1]:g} s" if steps else "none"
        )
        raise ResultsError(f"{results.path} has no step {wanted}: it has {said}")
    end = float(ends[step])
    record = int(np.searchsorted(results.time, end + 1e-9 * max(1.0, abs(end)), side="right")) - 1
    return {
        "step": first + step,
        "steps": first + steps,
        "ends_s": end,
        "answered_by": solves.answered_by[step].replace("_", " "),
        "iterations": int(solves.iterations[step]),
        "status": solves.status[step].name.lower(),
        "says": solves.status[step].value,
        "residual": float(solves.residual[step]),
        "contact_count": int(solves.contacts[step]),
        "record_s": float(results.time[record]),
        "contacts": _contacts(results, record),
    }


def _contacts(results: Results, record: int) -> list[dict[str, Any]]:
    """Return the contacts of a record; forces are impulses divided by the length of the step that ends there."""
    found, length = results.contacts(record), float(results["step_length"][record])
    names = results["shape"] if found.count else ()
    return [
        {
            "between": [str(names[shape]) for shape in found.shape[i]],
            "mode": ContactMode(int(found.mode[i])).name.lower(),
            "gap_m": float(found.gap[i]),
            "point_m": [float(x) for x in found.point[i]],
            "normal_force_N": float(found.normal_impulse[i]) / length,
            "friction_N": float(np.linalg.norm(found.tangential_impulse[i])) / length,
            "residual": float(found.residual[i]),
        }
        for i in range(found.count)
    ]


def print_step(sheet: Mapping[str, Any]) -> None:
    """Print the sheet for a reader."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    console = make_console()
    print(f"step {sheet['step']} of {sheet['steps']}, ends at t = {sheet['ends_s']:.9g} s")
    print(f"  answered by {sheet['answered_by']}, iterations: {sheet['iterations']}. {sheet['says']}")
    print(
        f"  residual {sheet['residual']:.1e} (physical: m/s, N·s or N·m·s), {sheet['contact_count']} contacts"
    )
    if not sheet["contacts"]:
        print(f"  no contact in the record at t = {sheet['record_s']:.9g} s")
        return
    print(f"  contacts as recorded at t = {sheet['record_s']:.9g} s:")
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head in ("between", "mode"):
        table.add_column(head, overflow="fold")
    for head in ("normal force", "friction", "gap", "point", "residual"):
        table.add_column(head, justify="right")
    for each in sheet["contacts"]:
        table.add_row(
            " | ".join(each["between"]),
            each["mode"],
            f"{each['normal_force_N']:.4g} N",
            f"{each['friction_N']:.4g} N",
            f"{1e3 * each['gap_m']:.3g} mm",
            # rounded first: no minus before a zero
            "({:.3f}, {:.3f}, {:.3f}) m".format(*(round(x, 3) + 0.0 for x in each["point_m"])),
            f"{each['residual']:.1e}",
        )
    if not console.is_terminal:
        console.width = 140
    console.print(table)
