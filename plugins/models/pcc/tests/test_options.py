import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from corekit.data.state import State
from corekit.errors import ConfigError
from corekit.roles.component import BuildContext
from corekit_pcc.config import PCCConfig, PCCInitial
from corekit_pcc.model import PCC
from corekit_testing.rounding import rounding


def test_one_number_counts_for_every_section():
    options: dict[str, Any] = {"sections": 4, "mass": 0.5, "disks": 2, "stiffness": [100, 200, 300, 400]}
    config = PCCConfig(**options)
    assert config.spread("mass") == (0.5, 0.5, 0.5, 0.5)
    assert config.spread("disks") == (2, 2, 2, 2)
    assert config.spread("stiffness") == (100.0, 200.0, 300.0, 400.0)


def test_lists_of_the_wrong_length_are_all_named_at_once():
    with pytest.raises(ConfigError) as caught:
        PCCConfig(sections=2, stiffness=(1.0, 2.0, 3.0))
    assert [mistake.path for mistake in caught.value.mistakes] == ["mass", "stiffness"]
    assert "give one number, or 2: one a section" in str(caught.value)
    assert "left out, it is the CUSP arm's" in caught.value.mistakes[0].hint
    assert not caught.value.mistakes[1].hint


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"chambers": 2}, "≥ 3"),
        ({"chambers": 3.5}, "whole number"),
        ({"sections": 0}, "≥ 1"),
        ({"sections": 2.5}, "whole number"),
        ({"mass": 0.0}, "> 0"),
        ({"mass": (1.0, -1.0, 1.0)}, "> 0"),
        ({"mass": "heavy"}, "give one number"),
        ({"mass": ()}, "give one number"),
        ({"mass": float("nan")}, "finite"),
        ({"mass": float("inf")}, "finite"),
        ({"length": True}, "give one number"),
        ({"damping": -1.0}, "≥ 0"),
        ({"chamber_radius": 0.0}, "> 0"),
        ({"disks": -1}, "≥ 0"),
        ({"mass_nodes": 0}, "≥ 1"),
    ],
)
def test_bad_options_say_what_is_allowed(options, said):
    with pytest.raises(ValueError, match=said) as caught:
        PCCConfig(**options)
    assert next(iter(options)) in str(caught.value)


@pytest.mark.parametrize("chambers", [3, 5])
def test_initial_extension_may_be_one_number_or_one_a_section(chambers):
    model = PCC(PCCConfig(chambers=chambers))
    for elongation, lengths in ((0.02, [0.17, 0.17, 0.17]), ((0.0, 0.03, 0.05), [0.15, 0.18, 0.20])):
        state = State.zeros(9, 9)
        given: dict[str, Any] = {"elongation": elongation, "velocity": 0.1}
        model.compute_initial_state(PCCInitial(**given), state)
        position, rotation = np.zeros((13, 3)), np.zeros((13, 3, 3))
        model.compute_frame_poses(state, position, rotation)
        assert np.diff(position[[0, 4, 8, 12], 2]) == pytest.approx(lengths)
        assert rotation == pytest.approx(np.broadcast_to(np.eye(3), (13, 3, 3)), abs=rounding(64))
        assert state.v.reshape(3, 3)[:, 0] == pytest.approx([0.1, 0.1, 0.1])


def test_initial_coordinates_are_taken_as_they_are():
    state, given = State.zeros(9, 9), tuple(0.001 * k for k in range(9))
    PCC(PCCConfig()).compute_initial_state(PCCInitial(elongation=given), state)
    assert tuple(state.q) == given
    assert not state.v.any()


def test_rest_state_is_straight_and_still():
    state = State.zeros(9, 9)
    state.q[:], state.v[:], state.time = 1.0, 1.0, 5.0
    PCC(PCCConfig()).compute_initial_state(None, state)
    assert not state.q.any()
    assert not state.v.any()
    assert state.time == 0.0


@pytest.mark.parametrize(
    ("initial", "said"),
    [
        (
            PCCInitial(elongation=(0.1, 0.2)),
            r"bodies\.arm\.initial\.elongation.*2 entries.*3 \(one a section\) or 9",
        ),
        (PCCInitial(velocity=(0.1,) * 4), r"bodies\.arm\.initial\.velocity.*4 entries"),
        (PCCInitial(elongation=(0.0, -0.15, 0.0)), "section 2'; lengths must be > 0"),
    ],
)
def test_impossible_initial_states_are_refused_where_they_stand(initial, said):
    with pytest.raises(ConfigError, match=said):
        PCC(PCCConfig(), BuildContext(path="bodies.arm")).compute_initial_state(initial, State.zeros(9, 9))


@pytest.mark.parametrize(("chambers", "size"), [(3, 9), (4, 12), ((3, 4, 6), 13)])
def test_inputs_are_one_force_a_chamber(chambers, size):
    (channel,) = PCC(PCCConfig(chambers=chambers)).description.inputs
    assert (channel.name, channel.unit, channel.size) == ("chamber-force", "N", size)


def test_coordinates_are_named_by_what_they_are():
    names = [
        each.name for each in PCC(PCCConfig(sections=2, mass=(1.0,), chambers=(3, 4))).description.coordinates
    ]
    assert names == [
        "section-1-chamber-1",
        "section-1-chamber-2",
        "section-1-chamber-3",
        "section-2-extension",
        "section-2-bend-x",
        "section-2-bend-y",
    ]


def test_the_spec_imports_nothing_heavy():
    code = "import sys, corekit_pcc._spec; print('numpy' in sys.modules, 'numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]
