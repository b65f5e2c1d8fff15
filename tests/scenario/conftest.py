"""A made-up distribution on the path, so that scenarios can name components without any real plugin."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from corekit.registry.discover import discover

_SPEC = """
from corekit.registry.spec import ComponentSpec

def _spec(role, name, config, **more):
    return ComponentSpec(
        role=role, name=name, api="0.2", target="madeup_parts.heavy:Part",
        config=f"madeup_parts.config:{config}", summary="made up", **more,
    )

arm = _spec("models", "made-arm", "Arm", initial="madeup_parts.config:ArmInitial")
still = _spec("models", "made-still", "HeldSignal")
near = _spec("contact_detectors", "made-near", "Near")
far = _spec("contact_detectors", "made-far", "HeldSignal")
pivot = _spec("contact_solvers", "made-pivot", "Pivot")
spring = _spec("contact_solvers", "made-spring", "Spring")
euler = _spec("integrators", "made-euler", "Euler")
lemke = _spec("lcp_solvers", "made-lemke", "Lemke")
chain = _spec("lcp_solvers", "made-chain", "Chain")
broken = _spec("integrators", "made-broken", "NotThere")
wild = _spec("integrators", "made-wild", "Wild")
"""

_CONFIG = """
from __future__ import annotations

import enum
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from attrs import field, frozen

from corekit.roles.options import ComponentRef, component_option, component_list_option, option


def _tuple(value):
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


class Tip(enum.Enum):
    ROUND = "round"
    FLAT = "flat"


@frozen(kw_only=True)
class Section:
    length: float = option(help="rest length", unit="m", above=0)
    chambers: int = option(3, "chambers around", low=1, high=9)


@frozen(kw_only=True)
class Arm:
    sections: tuple[Section, ...] = field(metadata={"help": "from the base on"})
    radius: float | tuple[float, ...] = option(0.02, "one, or one a section", unit="m", above=0)
    disks: tuple[int, ...] = option((6,), "one, or one a section", converter=_tuple, low=0)
    basis: Literal["linear", "constant"] = "constant"
    tip: Tip = Tip.ROUND
    mesh: Path | None = None
    names: Mapping[str, float] = field(factory=dict)
    fast: bool = option(default=False, help="skip the check")
    begin: float = field(default=0.0, metadata={"key": "from"})


@frozen(kw_only=True)
class ArmInitial:
    bend: tuple[float, ...] = option((0.0,), "bend of the sections", unit="rad")


@frozen(kw_only=True)
class HeldSignal:
    pass


@frozen(kw_only=True)
class Near:
    margin: float = option(1e-3, "search distance", unit="m", above=0)


@frozen(kw_only=True)
class Pivot:
    friction_directions: int = option(8, "of the pyramid", low=4, high=64)
    lcp_solver: ComponentRef = component_option("lcp_solvers", "made-lemke", "who solves")


@frozen(kw_only=True)
class Spring:
    stiffness: float = option(1e4, "of contact", unit="N/m", above=0, infinite=True)


@frozen(kw_only=True)
class Euler:
    form: str = option("plain", "which", choices=("plain", "linearised"))


@frozen(kw_only=True)
class Lemke:
    max_iterations: int = option(500, "pivots", low=1)


@frozen(kw_only=True)
class Chain:
    solvers: tuple[ComponentRef, ...] = component_list_option(
        "lcp_solvers", ("made-lemke", "made-lemke"), "tried in order"
    )


@frozen(kw_only=True)
class Wild:
    number: float = 1.0

    def __attrs_post_init__(self):
        if self.number < 0:
            raise KeyError("wild number")
"""

_ENTRY_POINTS = """
[corekit.models]
made-arm = madeup_parts._spec:arm
made-still = madeup_parts._spec:still
[corekit.contact_detectors]
made-near = madeup_parts._spec:near
made-far = madeup_parts._spec:far
[corekit.contact_solvers]
made-pivot = madeup_parts._spec:pivot
made-spring = madeup_parts._spec:spring
[corekit.integrators]
made-euler = madeup_parts._spec:euler
made-broken = madeup_parts._spec:broken
made-wild = madeup_parts._spec:wild
[corekit.lcp_solvers]
made-lemke = madeup_parts._spec:lemke
made-chain = madeup_parts._spec:chain
"""

SCENARIO = """
format = "corekit-scenario/1"
name = "made-up"
seed = 3

[time]
duration = 2.0
step = 1e-3

[world]
gravity = [0, 0, -9.81]

[[world.obstacles]]
name = "box"
shape = "box"
size = [0.4, 0.4, 0.1]
position = [0.0, 0.2, -0.3]
rotation_rpy = [0.7853981633974483, 0, 0]
friction = 0.6

[[world.obstacles]]
name = "piston"
shape = "cylinder"
size = [0.1, 0.2]
position = { kind = "sine", amplitude = [0, 0, 0.1], frequency = 0.5, from = 0.25 }

[[world.friction]]
between = ["arm", "piston"]
value = 0.1

[[bodies]]
name = "arm"
use = "made-arm"
base = { position = [0, 0, 0.5], rotation_rpy = [3.141592653589793, 0, 0] }
[bodies.options]
sections = [{ length = 0.2 }, { length = 0.1, chambers = 4 }]
mesh = "meshes/tip.stl"
[bodies.initial]
bend = [0.1, 0.2]
[[bodies.inputs]]
channel = "force"
signal = { kind = "ramp", from = 1.0, to = 2.0, value = [0, 0, 40] }

[contact]
stabilisation = { push_out = inf, cap = inf }
detector = ["made-near", { use = "made-far" }]
solver = { use = "made-pivot", options = { friction_directions = 12, lcp_solver = "made-chain" } }

[integrator]
use = "made-euler"

[output]
every = 0.01
"""


@pytest.fixture(scope="module", autouse=True)
def made_up_plugins(tmp_path_factory):
    """Put the distribution `madeup-parts` on the path; its component module fails if it is imported.

    Tests of other folders must find what is really installed, so each module removes the distribution again.
    """
    site = tmp_path_factory.mktemp("site")
    package = site / "madeup_parts"
    package.mkdir()
    (package / "__init__.py").write_text('"""Made-up parts."""\n')
    (package / "_spec.py").write_text(_SPEC)
    (package / "config.py").write_text(_CONFIG)
    (package / "heavy.py").write_text("raise RuntimeError('a scenario must not import its components')\n")
    info = site / "madeup_parts-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: madeup-parts\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(_ENTRY_POINTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        rows = discover()  # once: hundreds of loads need not search the environment again
        patch.setattr("corekit.registry.resolve.discover", lambda: rows)
        patch.setattr("corekit.scenario.structure.discover", lambda: rows)
        yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "madeup_parts"]:
        del sys.modules[name]


@pytest.fixture
def text() -> str:
    """A scenario text without mistakes."""
    return SCENARIO


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The same in a file."""
    path = tmp_path / "made_up.toml"
    path.write_text(SCENARIO)
    return path
