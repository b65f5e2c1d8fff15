"""Overrides `--set path=value`."""

from __future__ import annotations

import math
import tomllib

import pytest

from corekit.errors import ConfigError
from corekit.roles.options import ComponentRef
from corekit.scenario.load import load, loads


def mistakes_of(text, *overrides):
    with pytest.raises(ConfigError) as caught:
        loads(text, overrides)
    return {mistake.path: mistake for mistake in caught.value.mistakes}


def test_one_override_may_stand_alone(text):
    assert loads(text, "time.duration=0.5").time.duration == 0.5


def test_a_number_a_word_a_list_and_a_table_can_be_set(text):
    scenario = loads(
        text,
        [
            "time.duration = 0.5",
            "name=other",
            "world.gravity=[0, 0, 0]",
            "contact.stabilisation={ approach = 0.5 }",
            "contact.stabilisation.cap=inf",
            "integrator.options.form='linearised'",
        ],
    )
    assert scenario.time.duration == 0.5
    assert scenario.name == "other"
    assert scenario.world.gravity == (0.0, 0.0, 0.0)
    assert scenario.contact is not None
    assert scenario.contact.stabilisation.approach == 0.5
    assert scenario.contact.stabilisation.push_out == 20.0
    assert scenario.contact.stabilisation.cap == math.inf
    assert scenario.integrator == ComponentRef("made-euler", {"form": "linearised"})


def test_overrides_from_the_command_line_equal_the_edited_file(file, text):
    edited = text.replace("frequency = 0.5", "frequency = 0.7").replace("chambers = 4", "chambers = 5")
    overrides = ["world.obstacles[1].position.frequency=0.7", "bodies[0].options.sections[1].chambers=5"]
    assert loads(text, overrides) == loads(edited)
    assert load(file, overrides).document == tomllib.loads(edited)


def test_list_entries_are_found_by_name(text):
    scenario = loads(text, ["bodies.arm.options.radius=0.03", "world.obstacles.piston.friction=0.2"])
    assert scenario.bodies[0].options["radius"] == 0.03
    assert scenario.world.obstacles[1].friction == 0.2


def test_another_component_drops_the_options_of_the_one_it_replaces(text):
    scenario = loads(text, ["contact.solver.use=made-spring"])
    assert scenario.contact is not None
    assert scenario.contact.solver == ComponentRef("made-spring", {"stiffness": 1e4})
    assert loads(text, ["bodies.arm.use=made-still"]).bodies[0].initial is None


def test_what_another_component_drops_is_said(text):
    scenario = loads(text, ["bodies.arm.use=made-still", "time.step=0.002"])
    options, initial = scenario.dropped
    assert options.startswith("bodies[0].use is 'made-still' now, without the options of 'made-arm': ")
    assert "sections" in options
    assert initial.startswith("bodies[0].use is 'made-still' now, without the initial state of 'made-arm': ")
    assert loads(text, ["bodies.arm.options.radius=0.03"]).dropped == ()


def test_the_same_component_keeps_its_options(text):
    assert loads(text, ["contact.solver.use=made-pivot"]) == loads(text)


def test_options_of_the_new_component_may_be_set_before_its_name(text):
    scenario = loads(text, ["contact.solver.options.stiffness=5", "contact.solver.use=made-spring"])
    assert scenario.contact is not None
    assert scenario.contact.solver == ComponentRef("made-spring", {"stiffness": 5.0})


def test_a_whole_table_is_set_before_its_entries(text):
    whole = "contact.solver={ use = 'made-pyramid', options = { directions = 6 } }"
    entry = "contact.solver.use=made-spring"
    for overrides in ([whole, entry], [entry, whole]):
        scenario = loads(text, overrides)
        assert scenario.contact == loads(text, [entry]).contact
        assert scenario.dropped == (
            "contact.solver.use is 'made-spring' now, without the options of 'made-pyramid': directions",
        )


def test_the_short_form_of_a_component_can_be_extended(text):
    scenario = loads(
        text, ["contact.solver.options.lcp_solver=made-lemke", "contact.detector[0].options.margin=0.5"]
    )
    assert scenario.contact is not None
    assert scenario.contact.solver is not None
    assert scenario.contact.solver.options["lcp_solver"]["use"] == "made-lemke"
    assert scenario.contact.detector[0] == ComponentRef("made-near", {"margin": 0.5})


def test_tables_on_the_way_are_made(text):
    head, _, rest = text.partition("[contact]")
    scenario = loads(
        head + rest[rest.index("[integrator]") :],
        ["contact.solver.use=made-spring", "contact.detector=made-near"],
    )
    assert scenario.contact is not None
    assert scenario.contact.solver is not None
    assert scenario.contact.solver.use == "made-spring"


@pytest.mark.parametrize(
    ("override", "path", "says"),
    [
        ("contct.solver.use=made-spring", "contct", "did you mean 'contact'?"),
        ("contact.solvr.use=made-spring", "contact.solvr", "did you mean 'solver'?"),
        ("time.stp=1e-4", "time.stp", "did you mean 'step'?"),
        ("bodies.arn.options.radius=1", "bodies.arn", "did you mean 'arm'?"),
        ("bodies[1].friction=1", "bodies[1]", "there are 1 entries"),
        ("world[0].gravity=1", "world", "is not a list"),
        ("time.step.x=1", "time.step", "is not a table"),
        ("contact.detector.use=made-near", "contact.detector.use", "must be an index"),
        ("contact.solver.use=made-sprung", "contact.solver.use", "did you mean 'made-spring'?"),
        ("bodies.arm.options.radius=-1", "bodies[0].options.radius", "> 0"),
        ("time.step", "--set time.step", "must be PATH=VALUE"),
        ("=3", "--set ", "must be PATH=VALUE"),
        ("a b=3", "--set a b", "must be PATH=VALUE"),
        ("name=two words", "--set name", "quote other texts"),
        ("name=", "--set name", "quote other texts"),
        ("seed=[1,", "--set seed", "quote other texts"),
        ("seed=1\nname=2", "--set seed", "quote other texts"),
    ],
)
def test_a_wrong_override_is_reported_where_it_is_wrong(text, override, path, says):
    mistakes = mistakes_of(text, override)
    assert list(mistakes) == [path]
    assert says in str(mistakes[path])


def test_wrong_overrides_are_reported_beside_the_mistakes_of_the_file(text):
    mistakes = mistakes_of(text.replace("seed = 3", "sed = 3"), "time", "bodies.leg.use=x", "time.step=0")
    assert set(mistakes) == {"--set time", "bodies.leg", "time.step", "sed"}
