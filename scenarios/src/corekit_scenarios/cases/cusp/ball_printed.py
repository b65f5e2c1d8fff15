"""The planning problem of CUSP as the paper prints it, with its contact kept closed and free to break.

Cost (20) with its weights, f_z ≥ 0, Scholtes' products, the terminal cost alone at the end, two stages. Where the
optimum of (20) stops short of the target, this follows from (20): near the target the error is (θ/2)², θ what is
missing, and a last bit of θ costs effort at a rate a that hardly depends on the weight w of the terminal cost, so that

    w·θ/2 = a,   error = (a/w)²                                                              (1)

and ten times the weight leaves a hundredth of the error. That is checked where the contact is kept. Where it is free
to break, the ball is flicked in a few steps and coasts, ω falling by 1/(1 + h·d/I) = 1/1.4 a step; nothing corrects it
on the way. About y it is pressed in five steps of 0.04 s, in all of them at the bound of 5 rad/s that we set, and
coasts on by 0.04·5/0.4 = 0.5 rad: 1.5 rad together, and (0.07/2)² = 1.2e-3 is missing. The paper prints no such bound,
and it is checked that one of 50 rad/s, which is not met, leaves less than a tenth of the error. About z the ball is
pressed ten times over half a second and no bound is met. Such flicks have many local optima: with w of 100, 200, 400
and 1000 the search ends at costs of 12.9, 21.0, 28.9 and 12.2, and by (1) at a of 1.1, 1.0, 1.6 and 2.4. So a
hundredth is no prediction there, but what the paper prints is: ten times the weight leaves less than 1e-5, unless a
grew threefold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from corekit.data.arrays import Array
from corekit_study.case_run import CaseRun, Difference, Row
from corekit_study.new_folder import new_folder
from corekit_study.plan import PlanResult, make_plan, simulate
from corekit_study.plan_file import PlanFile, load_plan_file
from corekit_study.reference import OWN, paper, printed_time, setting

__all__ = ["arrived_row", "as_printed", "contact_modes", "pushed_at_bound"]

_UNMET = 50.0
"""Bound of the ball's rate that no plan meets [rad/s]."""
_NEAR = 1e-5
"""Orientation error that is the paper's or less."""
_PRESSED = 1e-6
"""Normal force above which a contact is closed [N]."""
_SECONDS = {"x": 20.0, "y": 20.0, "z": 60.0}
"""Processor time that both stages of the printed problem may last [s]."""
_TIME = printed_time("section V-C; a machine that it does not name; (20) with its weights in both")
_ERROR = paper("section V-C: 1e-5 to 1e-6")
_EPSILON = setting("section IV-B (iii): every product is at most ε ≈ 1e-7; a constraint of both programs")
_CONTACT = setting("section V-C: while maintaining continuous contact")
_WHAT = {"printed-closed": "(20), contact kept", "printed": "(20), free to let go"}


def as_printed(case: CaseRun, axis: str) -> list[Row]:
    """Rows of both variants about an axis, and one of the paper's sentence about where the ball ends."""
    rows: list[Row] = []
    errors: dict[str, float] = {}
    reasons: dict[str, Difference] = {}
    for which, about in _WHAT.items():
        made, found = _variant(case, which, axis)
        rows += found
        errors[about] = made.plan.certificate["orientation_error"]
        if errors[about] > _NEAR:
            reasons[about] = _why_short(case, which, axis, made)
    return [*rows, arrived_row(errors, reasons)]


def arrived_row(errors: Mapping[str, float], reasons: Mapping[str, Difference]) -> Row:
    """The paper's sentence about the last orientation, of both variants.

    Args:
        errors: 1 − (qᵀq*)² of a variant. reasons: of those that are above the paper's.
    """
    return Row(
        quantity=f"orientation error 1 − (qᵀq*)² of {' and of '.join(errors)}", against=_ERROR,
        expected="1e-5 … 1e-6", ours="; ".join(f"{each:.3g}" for each in errors.values()),
        tolerance=f"≤ {_NEAR:g} each", passed=all(each <= _NEAR for each in errors.values()),
        difference=Difference(
            "; ".join(f"{about}: {each.reason}" for about, each in reasons.items()),
            "; ".join(each.predicts for each in reasons.values()),
            all(each.holds for each in reasons.values()),
        ) if reasons else None,
    )  # fmt: skip


def _file(which: str, axis: str, *changes: str) -> PlanFile:
    turned = [float(axis == each) for each in "xyz"]
    return load_plan_file(f"cusp/ball-{which}", [f"options.target.rotation.axis={turned}", *changes])


def _variant(case: CaseRun, which: str, axis: str) -> tuple[PlanResult, list[Row]]:
    about, file = _WHAT[which], _file(which, axis)
    folder = new_folder(file.name, case.folder, case.folder / f"{file.name}-{axis}")
    with case.show(f"minimising {about}"):
        made = simulate(make_plan(file, folder))
    certificate, tracks = made.plan.certificate, made.plan.tracks
    pressed, slip = (
        next(track.values for name, track in tracks.items() if name.startswith(kind))[1:]
        for kind in ("f_z", "gamma")
    )
    pairs = certificate["complementarity"].values()
    product, residual = (max(each[key] for each in pairs) for key in ("product", "residual"))
    as_cost, added = certificate["cost_as_printed_in_cusp"], certificate["cost"]
    forces = f"normal force {float(pressed.min()):.2g} to {float(pressed.max()):.3g} N"
    seconds = sum(entry["processor_seconds"] for entry in made.plan.solve_log)
    rows = [
        Row(quantity=f"{about}: solved and certified", against=OWN, expected="yes", tolerance="yes",
            ours="yes" if made.info.status.solved else "no", passed=made.info.status.solved,
            note=f"{certificate['status']} Largest |min(G, H)| {residual:.1e}"),
        Row(quantity=f"{about}: largest product", unit="SI", against=_EPSILON, expected=1e-7, ours=product,
            tolerance="≤ 1e-07", passed=product <= 1e-7),
        Row(quantity=f"{about}: orientation error 1 − (qᵀq*)²", against=OWN, ours=certificate["orientation_error"]),
        Row(quantity=f"{about}: both stages", unit="s", against=_TIME, expected=816.0, ours=seconds,
            tolerance=f"≤ {_SECONDS[axis]:g} s", passed=seconds <= _SECONDS[axis],
            note=f"processor time, {made.info.iterations} iterations"),
        Row(quantity=f"{about}: cost (20)", against=OWN, ours=as_cost,
            note=f"minimised with it: {added - as_cost:.2g} of slip and friction"),
        Row(quantity=f"{about}: contact modes", against=OWN,
            ours=contact_modes(pressed, slip, float(made.plan.time[-1])),
            note=f"{forces}, slip to {float(slip.max()):.2g} m/s"),
        *_worth(made, about),
    ]  # fmt: skip
    if which == "printed-closed":
        gap = max(
            each["residual"] for name, each in certificate["equations"].items() if name.startswith("touch")
        )
        rows.append(
            Row(quantity=f"{about}: largest gap", unit="m", against=_CONTACT, expected=0.0, ours=gap,
                tolerance="≤ 1e-06", passed=gap <= 1e-6)
        )  # fmt: skip
    return made, rows


def _why_short(case: CaseRun, which: str, axis: str, made: PlanResult) -> Difference:
    """Why a plan ends farther from its target than the paper's, and whether what follows from that holds."""
    error = made.plan.certificate["orientation_error"]
    if which == "printed" and pushed_at_bound(made):
        with case.show("minimising (20) with no bound on the ball's rate that it would meet"):
            faster = make_plan(_file(which, axis, f"options.bounds.angular_velocity={_UNMET}"))
        ratio = error / faster.plan.certificate["orientation_error"]
        return Difference(
            reason="the ball is let go at the rate that our bound allows, 5 rad/s, and coasts; the paper has no bound",
            predicts=f"less than a tenth with a bound that is not met, certified too; it is {ratio:.0f} times less",
            holds=faster.info.status.solved and ratio >= 10.0 and not pushed_at_bound(faster),
        )
    with case.show("minimising (20) with ten times its terminal weight"):
        heavier = make_plan(_file(which, axis, "options.cost.terminal=1000.0"))
    left, solved = heavier.plan.certificate["orientation_error"], heavier.info.status.solved
    reason = (
        "the optimum of (20) stops short of the target, where the last bit of the turn costs as much effort as the "
        "terminal cost gives back"
    )
    if which == "printed-closed":
        ratio = error / left
        predicts = (
            f"a hundredth at ten times the terminal weight, within a factor 3; it is {ratio:.0f} times less"
        )
        return Difference(reason, predicts, solved and 100.0 / 3.0 <= ratio <= 300.0)
    predicts = f"the paper's range at ten times the terminal weight, at any local optimum; it is {left:.2g}"
    return Difference(reason, predicts, solved and left <= _NEAR)


def pushed_at_bound(made: PlanResult) -> bool:
    """Whether the ball turns as fast as its bound allows wherever it is pressed."""
    tracks, bound = made.plan.tracks, float(made.file.options["bounds"]["angular_velocity"])
    pressed = next(track.values for name, track in tracks.items() if name.startswith("f_z"))[1:] > _PRESSED
    fastest = np.abs(tracks["omega"].values[1:]).max(axis=1)
    return bool(pressed.any() and (fastest[pressed] >= bound * (1.0 - 1e-6)).all())


def _worth(made: PlanResult, about: str) -> list[Row]:
    said = "; ".join(made.verdict.reasons) or "nothing"
    arrives = ", ".join(
        f"{replay.name} {math.degrees(max(each['angle_from_target'] for each in replay.objects.values())):.3g}°"
        for replay in made.rollouts
    )
    return [
        Row(quantity=f"{about}: what the simulator's own steps say against it", against=OWN, ours=said),
        Row(quantity=f"{about}: simulated", against=OWN, ours=arrives, note="angle from the target; feedback: a model "
            "with twenty times the stiffness"),
    ]  # fmt: skip


def contact_modes(pressed: Array, slip: Array, duration: float) -> str:
    """Say what a contact does over time, the instants of each mode together.

    Args:
        pressed: normal force [N]. slip: its velocity [m/s], shape (N,).
        duration: of the plan [s].
    """
    modes = np.where(pressed <= _PRESSED, "open", np.where(slip > 1e-6, "slides", "sticks"))
    ends = [*(np.flatnonzero(modes[1:] != modes[:-1]) + 1).tolist(), len(modes)]
    count = {name: int((modes == name).sum()) for name in ("sticks", "slides", "open")}
    shares = ", ".join(f"{name} {100.0 * each / len(modes):.0f} %" for name, each in count.items() if each)
    begun = ", ".join(f"{modes[end - 1]} to {duration * end / len(modes):.3g} s" for end in ends[:6])
    return f"{shares} ({begun}{', …' if len(ends) > 6 else ''})"
