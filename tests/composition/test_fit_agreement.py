"""All estimators of parameters on one film with gaps, from file to file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import corekit
from corekit.cli import main
from corekit_study.fit import fit
from corekit_study.fit_file import load_fit

pytest.importorskip("corekit_fit", reason="corekit-fit is not installed")
pytest.importorskip("casadi", reason="casadi is not installed")

ARM = """
format = "corekit-scenario/1"
name = "arm"
time = { duration = 0.2, step = 0.01 }
[[bodies]]
name = "arm"
use = "pcc"
base = { position = [0.0, 0.0, 0.5], rotation_rpy = [3.141592653589793, 0.0, 0.0] }
options = { sections = 1, mass = 0.5, stiffness = 300.0, damping = 4.0 }
initial = { elongation = [0.01, 0.0, -0.01] }
[integrator]
use = "semi-implicit-euler"
[output]
every = 0.01
"""


def filmed_with_gaps(folder: Path, noise: float) -> dict[str, str]:
    """The arm's film with noise and gaps, as three files: rows left out, cells left empty, cells that say nan."""
    (folder / "arm.toml").write_text(ARM)
    simulation = corekit.load(folder / "arm.toml").compose()
    frames, rng = simulation.bodies[0].description.frames, np.random.default_rng(4)
    rows: list[tuple[str, bool]] = []
    for _ in range(18):
        simulation.step()
        for name in (frames[2], frames[-1]):
            place = simulation.frame(f"arm.{name}").position + noise * rng.normal(size=3)
            cells = ",".join(repr(float(each)) for each in place)
            rows.append((f"{simulation.time!r},{name},{cells}", bool(rng.random() < 0.8)))
    made = {}
    for kind, gap in (("absent", None), ("empty", ",,"), ("nan", "nan,nan,nan")):
        lines = [
            text if seen else f"{','.join(text.split(',')[:2])},{gap}"
            for text, seen in rows
            if seen or gap is not None
        ]
        (folder / f"{kind}.csv").write_text("time,marker,x,y,z\n" + "\n".join(lines) + "\n")
        attached = ", ".join(f'{{ marker = "{each}", frame = "{each}" }}' for each in (frames[2], frames[-1]))
        made[kind] = f'markers = {{ file = "{kind}.csv", deviation = {noise}, attached = [{attached}] }}\n'
    return made


def write_arm_fit(folder: Path, use: str, options: str) -> Path:
    path = folder / f"{use}.toml"
    path.write_text(
        f'format = "corekit-fit/1"\nname = "arm"\nscenario = "arm.toml"\nuse = "{use}"\n'
        'set = ["bodies.arm.options.stiffness=150.0", "bodies.arm.options.damping=1.0"]\n'
        f"[options]\n{options}"
        'parameters = [{ name = "stiffness", low = 10.0, high = 1e4 }, { name = "damping", low = 0.1, high = 100.0 }]\n'
    )
    return path


def test_all_estimators_give_the_same_values_and_intervals(tmp_path):
    """One solves for all steps at once, one simulates and takes differences, one sweeps back through its runs."""
    pytest.importorskip("corekit_gradients", reason="corekit-gradients is not installed")
    markers = filmed_with_gaps(tmp_path, 5e-4)
    made = {
        use: fit(load_fit(write_arm_fit(tmp_path, use, options + markers["absent"])))
        for use, options in (
            ("simulation-fit", ""),
            ("ipopt-fit", 'start = "known"\nhessian = "gauss-newton"\n'),
            ("adjoint", ""),
        )
    }
    one, *others = (each.estimate for each in made.values())
    assert [each.metrics["objective"] for each in others] == pytest.approx(
        [one.metrics["objective"]] * 2, rel=1e-6
    )
    for mine, theirs in ((a, b) for other in others for a, b in zip(one.fitted, other.fitted, strict=True)):
        width = np.log(mine.high / mine.low)
        assert np.log(theirs.value / mine.value) == pytest.approx(0.0, abs=1e-3 * width)
        # differences over 1e-4 of a parameter tell derivatives to about that
        assert np.log(theirs.high / theirs.low) == pytest.approx(width, rel=1e-3)
        assert mine.verdict == theirs.verdict == "identified"


def test_a_gap_is_a_gap_however_it_is_written(tmp_path):
    markers = filmed_with_gaps(tmp_path, 5e-4)
    values = [
        [
            each.value
            for each in fit(load_fit(write_arm_fit(tmp_path, "ipopt-fit", markers[kind]))).estimate.fitted
        ]
        for kind in ("absent", "empty", "nan")
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    assert values[0] == pytest.approx(values[2], rel=1e-9)


def test_a_quiet_fit_prints_nothing(tmp_path, capfd):
    markers = filmed_with_gaps(tmp_path, 5e-4)
    file = write_arm_fit(tmp_path, "ipopt-fit", markers["absent"])
    assert main(["fit", str(file), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    assert capfd.readouterr() == ("", "")
