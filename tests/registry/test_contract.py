"""A class that is not what its spec promises is refused in one sentence, by composition and by `doctor`."""

from __future__ import annotations

import re
import textwrap

import pytest

from corekit.errors import PluginError
from corekit.registry.contract import contract_problem
from corekit.registry.discover import discover
from corekit.registry.resolve import load_spec, load_target
from corekit.scenario.load import loads

SCENARIO = """
format = "corekit-scenario/1"
name = "broken"
time = {{ duration = 0.1, step = 0.01 }}
integrator = {{ use = "reference-semi-implicit-euler" }}
output = {{ every = 0.05 }}
[[bodies]]
name = "arm"
use = "{name}"
"""
SOUND = """
from corekit_testing.pendulum import Pendulum, Pendulum as Model, PendulumConfig as Config
"""
BROKEN = {
    "function": (
        "def Model(config, context=None): return Pendulum(config, context)\n",
        "is no model: it is a function, not a class",
    ),
    "foreign": ("class Model: pass\n", "is no model: it does not derive from corekit.roles.model.Model"),
    "old": (
        """
        from corekit.roles.model import Model as Role
        class Model(Role):
            description = Pendulum.description
            compute_outline = Pendulum.compute_outline
        """,
        "lacks compute_frame_poses, .* and new_mass_matrix, which every model of this kernel has",
    ),
    "shorter": (
        """
        class Model(Pendulum):
            def integrate(self, start, velocity, step, out): pass
        """,
        (
            r"takes integrate\(self, start, velocity, step, out\), "
            r"the model of this kernel has integrate\(.*previous, out\)"
        ),
    ),
    "longer": (
        """
        class Model(Pendulum):
            def compute_frame_poses(self, state, position, rotation, velocity): pass
        """,
        (
            r"takes compute_frame_poses\(.*velocity\), "
            r"the model of this kernel has compute_frame_poses\(self, state, position, rotation\)"
        ),
    ),
    "boastful": (
        "class Model(Pendulum): pass\n",
        "promises 'constraints' and lacks new_constraints, compute_constraints and compute_constraint_force_gradient",
    ),
    "forgetful": (
        """
        class Model(Pendulum):
            def internal_state(self): return {}
        """,
        "has internal_state, which nothing saves: it does not derive from Stateful",
    ),
    "modest": (
        "class Model(Pendulum): pass\n",
        (
            "has compute_dynamics_residual and compute_residual_derivatives, which nothing calls: "
            "its spec does not promise 'inverse-dynamics'"
        ),
    ),
    "closed": (
        """
        class Model(Pendulum):
            def __init__(self, config): super().__init__(config)
        """,
        r"cannot be built as Model\(config, context\)",
    ),
    "raising": (
        """
        class Model(Pendulum):
            def __init__(self, config, context=None): {}["stiffness"]
        """,
        "building fake_raising.model:Model raised KeyError: 'stiffness': this is a mistake in the plugin",
    ),
}
OWN = {
    "point-jacobian",
    "force-derivatives",
    "inverse-dynamics",
    "mass-gradient",
    "energy",
    "force-terms",
    "input-jacobian",
}
"""The abilities of the reference pendulum."""
BUILT = {"raising"}
"""What only building shows."""


@pytest.fixture
def plugin(local_site):
    """Install one of `BROKEN`; its name."""

    def install(name):
        package = f"fake_{name}"
        optional = "ability_modules={'inverse-dynamics': ('no_such_module',)}, " if name == "optional" else ""
        abilities = {"boastful": {"constraints"} | OWN, "modest": OWN - {"inverse-dynamics"}}.get(name, OWN)
        spec = (
            "from corekit.registry.spec import ComponentSpec\n"
            f"spec = ComponentSpec(role='models', name={name!r}, api='0.2', target='{package}.model:Model', "
            f"config='{package}.model:Config', summary='A model.', {optional}provides={abilities})\n"
        )
        modules = {
            f"{package}/__init__.py": "",
            f"{package}/_spec.py": spec,
            f"{package}/model.py": SOUND + textwrap.dedent(BROKEN[name][0] if name in BROKEN else ""),
        }
        local_site.add(f"fake-{name}", {"models": {name: f"{package}._spec:spec"}}, modules)
        return name

    return install


@pytest.mark.parametrize("name", list(BROKEN))
def test_composition_refuses_it_by_name_in_one_sentence(plugin, name):
    with pytest.raises(PluginError) as caught:
        loads(SCENARIO.format(name=plugin(name))).compose()
    said = str(caught.value)
    assert said.startswith("bodies.arm: ")
    assert re.search(BROKEN[name][1], said), said
    assert "\n" not in said


@pytest.mark.parametrize("name", [name for name in BROKEN if name not in BUILT])
def test_it_is_known_from_the_class_alone(plugin, name):
    plugin(name)
    (row,) = [row for row in discover() if row.name == name]
    spec = load_spec(row)
    assert re.search(BROKEN[name][1], contract_problem(load_target(spec.target), spec))


@pytest.mark.parametrize("name", ["sound", "optional"])
def test_a_sound_one_is_composed_also_without_the_modules_of_an_ability(plugin, name):
    assert loads(SCENARIO.format(name=plugin(name))).compose().bodies[0].name == "arm"


def test_a_module_that_does_not_import_is_blamed_on_its_own_component_alone(local_site):
    package = {"fake_two/__init__.py": ""}
    for name, source in (("fine", SOUND), ("bad", "import no_such_module\n")):
        package[f"fake_two/{name}.py"] = source
        package[f"fake_two/spec_{name}.py"] = (
            "from corekit.registry.spec import ComponentSpec\n"
            f"spec = ComponentSpec(role='models', name={name!r}, api='0.2', target='fake_two.{name}:Model', "
            f"config='fake_two.{name}:Config', summary='A model.')\n"
        )
    entries = {"models": {name: f"fake_two.spec_{name}:spec" for name in ("fine", "bad")}}
    local_site.add("fake-two", entries, package)
    with pytest.raises(PluginError, match=r"plugin bad of fake-two 1\.0: importing fake_two\.bad:Model"):
        load_target("fake_two.bad:Model")
