"""A distribution from outside brings a shape, a torus, and the detector that finds balls on it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from corekit.errors import CompositionError, ConfigError
from corekit.geometry.shape_specs import shape_spec
from corekit.geometry.shapes import Shape
from corekit.registry.resolve import resolve
from corekit.scenario.load import load
from corekit_record.results import Results
from corekit_testing.conformance import Subject, checks_of, run_checks
from corekit_testing.conformance.check import Verdict
from corekit_testing.conformance.common import PAPER, light_spec, spec_true
from corekit_view.shape_surface import shape_surface

SPEC = """
from corekit.geometry.shape_specs import ShapeSpec
from corekit.registry.spec import ComponentSpec

torus = ShapeSpec(
    kind="torus", sizes=("ring_radius", "tube_radius"), bounding_radius=lambda size, vertices: sum(size),
    file_sizes={"ring_diameter": 0.5, "tube_diameter": 0.5}, surface="lab_shapes.surface:triangles",
)
detector = ComponentSpec(
    role="contact_detectors", name="torus-detector", target="lab_shapes.detector:TorusDetector",
    config="lab_shapes.detector:Config", summary="Balls on tori.", api="0.2",
)
"""

DETECTOR = '''
"""phi = |(rho - R, z)| - r - b for a ball of radius b at (rho, z) of a torus."""

from typing import final

import numpy as np
from attrs import frozen
from corekit.roles.detector import ContactDetector

@frozen(kw_only=True)
class Config:
    pass

@final
class TorusDetector(ContactDetector):
    def __init__(self, config, context):
        self._table = self._pairs = None

    @property
    def supported_pairs(self):
        return frozenset({("sphere", "torus")})

    def prepare(self, table, served):
        self._table, self._pairs = table, table.pairs(served)
        self._bound = table.bounding_radii()

    def find_candidates(self, poses, margin, out):
        out.count = 0
        out.reserve(len(self._pairs))
        for i, j in self._pairs:
            distance = np.linalg.norm(poses.position[i] - poses.position[j])
            if distance < self._bound[i] + self._bound[j] + margin:
                out.pairs[out.count] = i, j
                out.count += 1

    def compute_contacts(self, candidates, poses, margin, out):
        out.reserve(out.count + candidates.count)
        for i, j in candidates.pairs[: candidates.count]:
            ball, torus, side = (i, j, 1.0) if self._table.kind[j] == "torus" else (j, i, -1.0)
            ring, tube = self._table.size[torus, :2]
            x = (poses.position[ball] - poses.position[torus]) @ poses.rotation[torus]
            rho = np.hypot(x[0], x[1])
            across = np.array([(rho - ring) * x[0] / rho, (rho - ring) * x[1] / rho, x[2]])
            distance, radius = np.linalg.norm(across), self._table.size[ball, 0]
            gap = distance - tube - radius
            if gap >= margin:
                continue
            c = out.count
            out.count += 1
            normal = poses.rotation[torus] @ across / distance
            point = poses.position[ball] - (radius + 0.5 * gap) * normal
            out.id[c], out.shape[c], out.gap[c] = i * len(self._table) + j, (i, j), gap
            out.normal[c], out.point[c] = side * normal, point
            out.frame[c], out.local_point[c], out.weight[c] = -1, 0.0, 0.0
            for slot, (shape, weight) in enumerate(((i, 1.0), (j, -1.0))):
                frame = self._table.frame[shape]
                if frame >= 0:
                    out.frame[c, slot], out.weight[c, slot] = frame, weight
                    place = point - poses.frame_position[frame]
                    out.local_point[c, slot] = place @ poses.frame_rotation[frame]
'''

SURFACE = """
import numpy as np

def triangles(size, vertices, sides=12):
    angle = np.linspace(0.0, 2.0 * np.pi, sides + 1)
    u, v = np.meshgrid(angle, angle, indexing="ij")
    rho = size[0] + size[1] * np.cos(v)
    points = np.stack([rho * np.cos(u), rho * np.sin(u), size[1] * np.sin(v)], axis=-1)
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    return np.stack([a, b, c, a, c, d], axis=2).reshape(-1, 3)
"""

SCENARIO = """
format = "corekit-scenario/1"
name = "on-a-torus"
time = { duration = 0.2, step = 1e-3 }
integrator = { use = "reference-semi-implicit-euler" }
output = { every = 0.01 }
contact = { detector = ["sdf", "torus-detector"], solver = { use = "reference-gauss-seidel" } }

[[world.obstacles]]
name = "floor"
shape = "half-space"
position = [0.0, 0.0, -0.2]

[[world.obstacles]]
name = "ring"
shape = "torus"
size = [1.0, 0.2]
position = [0.3, 0.0, 0.0]
rotation_rpy = [0.0, 0.0, 0.7]

[[bodies]]
name = "above"
use = "reference-point-chain"
options = { masses = [2.0], positions = [[0.8, 0.0, 0.3]], shape = "sphere", radius = 0.05 }

[[bodies]]
name = "below"
use = "reference-point-chain"
options = { masses = [1.0], positions = [[0.32, 0.0, -0.15]], shape = "sphere", radius = 0.05 }
"""

G = 9.81


@pytest.fixture
def lab(tmp_path, monkeypatch) -> Path:
    """The distribution `lab-shapes` on the import path."""
    site = tmp_path / "site"
    package, info = site / "lab_shapes", site / "lab_shapes-1.0.dist-info"
    for folder in (package, info):
        folder.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lab-shapes\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[corekit.shapes]\ntorus = lab_shapes._spec:torus\nhollow = lab_shapes._spec:missing\n"
        "[corekit.contact_detectors]\ntorus-detector = lab_shapes._spec:detector\n"
    )
    sources = {"__init__": "", "_spec": SPEC, "detector": DETECTOR, "surface": SURFACE}
    for name, source in sources.items():
        (package / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(str(site))
    (tmp_path / "torus.toml").write_text(SCENARIO)
    return tmp_path


def test_a_ball_falls_on_the_tube_at_its_time_and_rests_on_it_with_its_weight(lab):
    """0.15 m above the tube: it meets it after √(2·0.15/g); the other ball lies on the floor all the time."""
    simulation = load(lab / "torus.toml", ["time.duration=0.6"]).compose()
    touched, pushed = [], np.zeros(2)

    def watch(simulation, report):
        record = simulation.contacts()
        carried = record.normal_impulse[record.shape[:, 0] == 0]
        touched.extend([simulation.time] * bool(np.any(carried > 0)))
        if simulation.time > 0.5:
            pushed[:] = [
                record.normal_impulse[record.shape[:, 0] == body].sum() / report.step_size for body in (0, 1)
            ]

    simulation.observe(watch)
    simulation.run(0.6)
    assert touched[0] == pytest.approx(math.sqrt(2 * 0.15 / G), abs=2e-3)
    assert np.allclose(simulation.state.q, [0.8, 0.0, 0.15, 0.32, 0.0, -0.15], atol=1e-6)
    assert np.allclose(pushed, [2.0 * G, G], rtol=1e-6)


def test_a_spec_that_states_the_kind_too_is_light_and_true_to_the_kit(lab):
    subject = Subject.installed("contact_detectors", "torus-detector")
    light_spec.run(subject)
    spec_true.run(subject)


def test_its_detector_keeps_what_its_role_promises(lab):
    subject = Subject.installed("contact_detectors", "torus-detector")
    own = checks_of("contact_detectors")[len(PAPER) :]
    failed = [each for each in run_checks(subject, checks=own) if each.verdict is Verdict.FAILED]
    assert not failed


def test_its_run_is_kept_replayed_and_drawn(lab):
    load(lab / "torus.toml").run(directory=lab / "out")
    (ring,) = [each for each in Results(lab / "out").replay().obstacles if each.name == "ring"]
    assert (ring.shape.kind, ring.shape.size) == ("torus", (0.5, 0.1))
    surface = shape_surface(ring.shape, 1.0)
    assert surface is not None
    distance = np.hypot(np.hypot(*surface.vertices[:, :2].T) - 0.5, surface.vertices[:, 2])
    assert np.allclose(distance, 0.1, rtol=1e-12)
    assert ring.shape.bounding_radius == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("world.obstacles.ring.size=[1.0]", r"\[ring_diameter, tube_diameter\]"),
        ("world.obstacles.ring.shape=torsu", "did you mean 'torus'"),
        ("world.obstacles.ring.shape=edge", "must be one of .*'torus'"),
        ("world.obstacles.ring.shape=hollow", "lab-shapes 1.0: loading lab_shapes._spec:missing failed"),
        (
            "contact.detector=sdf",
            (
                r"no chosen contact detector serves sphere \(of body 'above'\) against torus "
                r"\(installed and able: torus-detector\): name a further detector"
            ),
        ),
        (
            "contact.detector=torus-detector",
            (
                r"sphere \(of body 'above'\) against sphere \(installed and able: mpr, sdf.*\); "
                r"sphere \(of body 'above'\) against half-space \(installed and able: mpr, sdf.*\):"
            ),
        ),
    ],
)
def test_mistakes_about_it_are_reported_as_those_about_ours(lab, change, words):
    with pytest.raises((ConfigError, CompositionError), match=words):
        load(lab / "torus.toml", [change]).compose()


def test_the_shape_is_known_only_where_its_distribution_is(lab, monkeypatch):
    assert Shape("torus", (0.5, 0.1)).bounding_radius == pytest.approx(0.6)
    with pytest.raises(ValueError, match=r"takes the sizes \(ring_radius, tube_radius\)"):
        Shape("torus", (0.5,))
    assert resolve("contact_detectors", "torus-detector").name == "torus-detector"
    monkeypatch.undo()
    with pytest.raises(ValueError, match="unknown shape 'torus'; shapes are half-space, sphere"):
        shape_spec("torus")
