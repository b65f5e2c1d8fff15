"""The specifications do not import the drawing libraries."""

import importlib
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from corekit.roles.viewer import Viewer
from corekit_view import _spec


@pytest.mark.parametrize("spec", [_spec.matplotlib, _spec.video, _spec.viser])
def test_targets_and_options_exist(spec):
    for reference in (spec.target, spec.config):
        module, name = reference.split(":")
        assert hasattr(importlib.import_module(module), name)
    module, name = spec.target.split(":")
    component, config = (
        getattr(importlib.import_module(module), name),
        importlib.import_module("corekit_view.config"),
    )
    viewer = component(getattr(config, spec.config.split(":")[1])())
    assert isinstance(viewer, Viewer)
    assert component.__final__


def test_entry_points_name_the_specs_when_installed():
    found = {point.name: point for point in entry_points(group="corekit.viewers")}
    if "matplotlib" not in found:
        pytest.skip("corekit-view is not installed as a distribution")
    assert found["matplotlib"].load() is _spec.matplotlib
    assert found["video"].load() is _spec.video
    assert found["viser"].load() is _spec.viser


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("corekit_view._spec", ("numpy", "scipy", "matplotlib", "viser")),
        ("corekit_view.picture", ("matplotlib", "viser", "scipy")),
        ("corekit_view.viser_viewer", ("matplotlib", "viser", "scipy")),
        ("corekit_view.video", ("matplotlib", "viser", "scipy", "imageio_ffmpeg")),
    ],
)
def test_importing_stays_light(module, absent):
    code = f"import sys, {module}; print(*(set({absent!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
