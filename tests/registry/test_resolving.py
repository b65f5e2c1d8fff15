"""From a name to a spec: what is light, what is refused, and what the refusal says."""

from __future__ import annotations

import sys

import pytest

from corekit.errors import ExtraNotInstalled, PluginError
from corekit.registry.resolve import load_target, missing_abilities, resolve


def test_resolving_imports_the_light_spec_and_not_the_model(local_site):
    local_site.add_good("fake-light", "fake_light", "light")
    spec = resolve("models", "light")
    assert spec.target == "fake_light.model:Model"
    assert "fake_light.model" not in sys.modules


def test_misspelt_name_is_answered_with_the_closest_installed_one(local_site):
    local_site.add_good("fake-octopus", "fake_octopus", "octopus-arm")
    with pytest.raises(PluginError, match=r"unknown model 'octopus-amr', did you mean 'octopus-arm'\?"):
        resolve("models", "octopus-amr")


def test_misspelt_role_is_answered_with_the_closest_role():
    with pytest.raises(PluginError, match="unknown role 'modles', did you mean 'models'"):
        resolve("modles", "pcc")


def test_first_party_component_that_is_absent_is_answered_with_its_install_line(monkeypatch):
    monkeypatch.setattr("corekit.registry.resolve.version_of", lambda _: None)
    with pytest.raises(PluginError, match="model 'pcc' is not installed: pip install corekit-pcc"):
        resolve("models", "pcc", installed=())


def test_misspelt_first_party_component_is_answered_with_its_install_line():
    with pytest.raises(
        PluginError, match=r"did you mean 'lemke'\? \(not installed: pip install corekit-complementarity\)"
    ):
        resolve("lcp_solvers", "lemkee", installed=())


def test_name_taken_twice_is_refused_bare_and_selected_with_its_distribution(local_site):
    local_site.add_good("fake-left", "fake_left", "twin")
    local_site.add_good("fake-right", "fake_right", "twin")
    with pytest.raises(PluginError, match="`fake-left:twin` or `fake-right:twin`"):
        resolve("models", "twin")
    assert resolve("models", "fake-right:twin").target == "fake_right.model:Model"
    with pytest.raises(PluginError, match="fake-rihgt offers no model 'twin', did you mean 'fake-right'"):
        resolve("models", "fake-rihgt:twin")


def test_spec_that_raises_at_import_names_plugin_distribution_and_exception(local_site):
    local_site.add_good("fake-sound", "fake_sound", "sound")
    local_site.add(
        "fake-broken",
        {"models": {"broken": "fake_broken._spec:spec"}},
        {"fake_broken/__init__.py": "", "fake_broken/_spec.py": "raise ZeroDivisionError('at import')\n"},
    )
    with pytest.raises(PluginError, match=r"model 'broken' of fake-broken 1.0.*ZeroDivisionError: at import"):
        resolve("models", "broken")
    assert resolve("models", "sound").name == "sound"


@pytest.mark.parametrize("source", ["import sys; sys.exit(3)", "spec = 3", "other = 1"])
def test_spec_that_is_no_spec_is_refused_in_one_sentence(local_site, source):
    local_site.add("fake-wrong", {"models": {"wrong": "fake_wrong:spec"}}, {"fake_wrong.py": source})
    with pytest.raises(PluginError, match="'wrong' of fake-wrong"):
        resolve("models", "wrong")


def test_spec_and_entry_point_must_agree(local_site):
    local_site.add_good("fake-alias", "fake_alias", "alias")
    local_site.add("fake-thief", {"models": {"stolen": "fake_alias._spec:spec"}})
    with pytest.raises(PluginError, match="entry point and spec must agree"):
        resolve("models", "stolen")


def test_missing_module_of_the_component_is_refused_by_name(local_site):
    local_site.add_good("fake-needy", "fake_needy", "needy", modules="('no_such_module', 'attrs')")
    with pytest.raises(PluginError, match="needs the module no_such_module, which is not installed"):
        resolve("models", "needy")


def test_a_module_that_an_extra_brings_is_asked_for_by_that_extra_and_not_by_that_of_its_tests(local_site):
    local_site.add_good(
        "fake-quick", "fake_quick", "quick", modules="('no_such_module', 'attrs')",
        requires=["attrs", "other; extra == 'a'", "no-such-module; extra == 'test'", "no-such-module; extra == 'fast'"],
        extras=["a", "test", "fast"],
    )  # fmt: skip
    with pytest.raises(ExtraNotInstalled, match=r"no_such_module, .*: pip install 'fake-quick\[fast\]'"):
        resolve("models", "quick")


def test_missing_module_of_an_ability_drops_the_ability_and_says_why(local_site):
    local_site.add_good(
        "fake-part",
        "fake_part",
        "part",
        provides="{'energy', 'symbolic'}",
        ability_modules="{'symbolic': ('no_such_module',), 'energy': ('attrs',)}",
    )
    spec = resolve("models", "part")
    assert spec.provides == {"energy"}
    assert missing_abilities(spec) == {
        "symbolic": "needs the module no_such_module, which is not installed: install it"
    }


def test_target_that_raises_at_import_names_plugin_distribution_and_exception(local_site):
    local_site.add_good("fake-late", "fake_late", "late")
    (local_site.folder / "fake_late" / "model.py").write_text("import no_such_module\n")
    with pytest.raises(PluginError, match=r"plugin late of fake-late 1.0.*ModuleNotFoundError"):
        load_target("fake_late.model:Model")
    with pytest.raises(PluginError, match=r"AttributeError"):
        load_target("fake_late._spec:Model")
