"""An arm whose elastic law its file states: at rest by statics, swinging by integrators, its energy counted."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

from corekit.cli import main
from corekit.errors import StepFailed
from corekit.scenario.load import load
from corekit_gvs.model import GVS
from corekit_statics.equilibria import move_to_equilibrium

README = Path(__file__).parents[2] / "plugins" / "models" / "gvs" / "README.md"
MOMENT, LENGTH, RADIUS, YOUNG = 0.02, 0.3, 0.01, 1e6
BENDING = YOUNG * np.pi * RADIUS**4 / 4
FILE = """
format = "corekit-scenario/1"
name = "yielding-arm"
world = {{ gravity = [0.0, 0.0, 0.0] }}
time = {{ duration = {duration}, step = 1e-3 }}
output = {{ every = 0.01 }}
integrator = {{ use = "implicit-midpoint" }}
[[bodies]]
name = "arm"
use = "gvs"
initial = {{ coordinates = [{initial}] }}
[[bodies.options.links]]
name = "arm"
[[bodies.options.links.divisions]]
length = 0.3
radius = 0.01
young = 1e6
{law}
[[bodies.options.cables]]
name = "top"
link = "arm"
z = 0.005
[[bodies.inputs]]
channel = "tension-top"
signal = {{ kind = "constant", value = {tension} }}
"""


def printed():
    """The lines of the README's example."""
    (found,) = re.findall(r"```toml\n *(strain = .*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return "\n".join(line.strip() for line in found.splitlines())


@pytest.fixture
def arm(tmp_path):
    def made(law, tension=0.0, initial="", duration=0.1):
        file = tmp_path / "yielding.toml"
        text = FILE.format(law=law, tension=tension, initial=initial, duration=duration)
        file.write_text(text, encoding="utf-8")
        return file

    return made


def test_a_cable_bends_the_printed_arm_as_its_law_says(arm):
    """A cable at d bends by T·d = M(k) everywhere: M = B·k/√(1 + (B·k/M₀)²)."""
    tension = 3.0
    file = arm(printed(), tension)
    assert main(["check", str(file), "--strict"]) == 0
    simulation = load(file).compose()
    move_to_equilibrium(simulation)
    bend = brentq(
        lambda k: BENDING * k / np.sqrt(1 + (BENDING * k / MOMENT) ** 2) - tension * 0.005,
        0.0,
        20.0,
        xtol=1e-14,
    )
    assert bend > 1.4 * tension * 0.005 / BENDING
    # an even curvature is the first function's alone; what statics leaves is below 1e-9 of the moment
    expected = np.zeros(7)
    expected[0] = bend * LENGTH
    np.testing.assert_allclose(np.abs(simulation.state.q), expected, rtol=0, atol=1e-7)


def test_the_printed_arm_keeps_its_energy_while_it_swings(arm):
    """Implicit midpoint errs by h² where it resolves the waves that yielding sends along the arm: below 2.5e-4 s."""
    lost = []
    for step in (2.5e-4, 1.25e-4):
        file = arm(printed(), initial="2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0")
        file.write_text(file.read_text().replace("step = 1e-3", f"step = {step}"), encoding="utf-8")
        simulation = load(file).compose()
        model, state = simulation.bodies[0].model, simulation.state.body_states[0]
        assert isinstance(model, GVS)
        start = sum(model.compute_energies(state))
        kinetic, totals = [], []
        for _ in range(round(0.1 / step)):
            simulation.step()
            parts = model.compute_energies(simulation.state.body_states[0])
            kinetic.append(parts[0])
            totals.append(sum(parts))
        assert max(kinetic) > 0.3 * start
        lost.append(np.abs(np.array(totals) / start - 1.0).max())
    assert lost[1] < 1e-3  # measured 3.9e-4
    assert lost[1] < lost[0] / 3.5


def test_a_law_from_a_file_needs_leave(arm, tmp_path, capsys):
    (tmp_path / "laws.py").write_text(
        "def soft(e, X, s):\n    return s[1] * e[1] ** 2 / 2\n", encoding="utf-8"
    )
    file = arm('strain = [{ kind = "constant", modes = ["bend-y"] }]\nstrain_energy = "laws.py:soft"')
    assert main(["check", str(file)]) != 0
    said = capsys.readouterr()
    assert "divisions[0].strain_energy" in said.out + said.err
    assert "--allow-code" in said.out + said.err
    assert main(["check", str(file), "--strict", "--allow-code"]) == 0


def test_a_strain_out_of_the_law_s_range_stops_the_run_and_is_named(arm):
    law = 'strain = [{ kind = "constant", modes = ["stretch"] }]\nstrain_energy = "EA*(stretch - log(1 + stretch))"'
    simulation = load(arm(law, initial="-1.5")).compose()
    with pytest.raises(StepFailed, match="elastic"):
        simulation.step()
