"""A plugin written for another kernel API is refused by name, when resolved and when composed."""

from __future__ import annotations

import pytest

from corekit import __version__
from corekit.errors import PluginError
from corekit.registry.resolve import resolve
from corekit.registry.spec import API_VERSION, ComponentSpec

SCENARIO = """
format = "corekit-scenario/1"
name = "old"
[time]
duration = 0.1
step = 1e-3
[[bodies]]
name = "arm"
use = "old-arm"
[integrator]
use = "reference-semi-implicit-euler"
"""
REFUSAL = (
    f"it was written for kernel API '0.0', this kernel ({__version__}) has '{API_VERSION}': "
    "upgrade the plugin (pip install --upgrade fake-old)"
)


def add_old(site):
    """A distribution whose metadata allow every kernel and whose spec was written for an older one."""
    site.add_good("fake-old", "fake_old", "old-arm", api="'0.0'")
    (site.folder / "fake_old" / "model.py").write_text("raise RuntimeError('must not be imported')\n")


@pytest.fixture
def old(site):
    add_old(site)
    return site


def test_the_api_is_the_kernels_major_and_minor():
    assert __version__.split(".")[:2] == API_VERSION.split(".")


def test_a_spec_without_an_api_is_no_spec():
    with pytest.raises(TypeError, match="api"):
        ComponentSpec(role="models", name="x", target="x:X", config="x:C", summary="")  # pyrefly: ignore[missing-argument]


def test_a_scenario_with_an_older_plugin_is_refused_by_name(old, tmp_path):
    file = tmp_path / "old.toml"
    file.write_text(SCENARIO)
    said = old.corekit("check", str(file))
    assert said.returncode == 1
    assert "model 'old-arm' of fake-old 1.0 cannot be used" in said.stderr
    assert REFUSAL in said.stderr.replace("\n", " ")


def test_an_api_that_the_listing_cannot_read_is_refused_when_resolved(local_site):
    local_site.add_good("fake-old", "fake_old", "old-arm", api="'.'.join('00')")
    with pytest.raises(PluginError) as refused:
        resolve("models", "old-arm")
    assert str(refused.value) == f"model 'old-arm' of fake-old 1.0 cannot be used: {REFUSAL}"


@pytest.mark.parametrize(
    ("api", "said"),
    [
        ("0.3", r"upgrade the kernel \(pip install --upgrade corekit-kernel\)"),
        ("1.0", "upgrade the kernel"),
        ("0.0.9", "written major.minor: ask the author of fake-api"),
        ("one", "written major.minor: ask the author of fake-api"),
    ],
)
def test_what_to_do_depends_on_the_api(local_site, api, said):
    local_site.add_good("fake-api", "fake_api", "api", api=repr(api))
    with pytest.raises(PluginError, match=f"model 'api' of fake-api 1.0 cannot be used.*{said}"):
        resolve("models", "api")


def test_a_plugin_of_an_older_minor_is_refused_by_a_newer_kernel(local_site, monkeypatch):
    local_site.add_good("fake-api", "fake_api", "api", api="'1.1'")
    monkeypatch.setattr("corekit.registry.spec.API_VERSION", "1.2")
    with pytest.raises(PluginError, match="upgrade the plugin"):
        resolve("models", "api")
