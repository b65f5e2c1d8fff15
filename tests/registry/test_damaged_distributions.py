"""A distribution whose files are damaged costs what cannot be read of it, and one sentence; all else goes on."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from corekit.distributions import distributions, entry_points
from corekit.errors import PluginError
from corekit.registry.discover import discover
from corekit.registry.first_party import FIRST_PARTY, is_ours
from corekit.registry.resolve import resolve
from corekit.registry.spec import ROLES

ROOT = Path(__file__).resolve().parents[2]
SOUND = b"[corekit.models]\nsound = fake_hurt._spec:spec\n"


def damaged(site, entries: bytes, *, metadata=True):
    """A distribution with a sound model `sound` whose `entry_points.txt` holds these bytes."""
    site.add_good("fake-hurt", "fake_hurt", "sound")
    info = site.folder / "fake_hurt-1.0.dist-info"
    (info / "entry_points.txt").write_bytes(entries)
    if not metadata:
        (info / "METADATA").unlink()


def told(name="fake-hurt"):
    (found,) = [each for each in distributions() if each.name == name]
    return found


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        (SOUND + b"othe", "line 3 of its entry_points.txt, 'othe', is no entry point"),
        (SOUND + b"other = fake_hurt.", "line 3 of its entry_points.txt, 'other = fake_hurt.', is no entry"),
        (SOUND + b"other = fake_hurt._spec:", "line 3"),
        (SOUND + b"[corekit.vie", "line 3 of its entry_points.txt, '[corekit.vie', is no entry point"),
        (SOUND + b"\xff\xfe\x00 = x:y\n", "line 3"),
        (b"no group = yet:there\n" + SOUND + b"\x80\x81", "line 4"),
    ],
)
def test_what_can_be_read_of_a_truncated_or_garbled_list_counts(local_site, entries, says):
    damaged(local_site, entries)
    assert resolve("models", "sound").name == "sound"
    assert says in told().damage
    assert told().damage.endswith(": pip install --force-reinstall fake-hurt")


@pytest.mark.parametrize("entries", [b"", b"[corek", b"\x00\x01\x02\xff"])
def test_a_list_without_anything_left_is_told_where_the_distribution_needs_this_kernel(local_site, entries):
    local_site.add("fake-hurt", {}, requires=["corekit-kernel>=0.1"])
    local_site.add("fake-foreign", {}, requires=["attrs"])
    for name in ("fake_hurt", "fake_foreign"):
        (local_site.folder / f"{name}-1.0.dist-info" / "entry_points.txt").write_bytes(entries)
    assert "its entry_points.txt declares nothing: pip install" in told().damage
    assert "fake-foreign" not in {each.name for each in distributions()}


def test_what_others_declare_elsewhere_is_no_damage(local_site):
    entries = (
        b"; a comment\n[console_scripts]\nodd = not a target\n" + SOUND + b"extra = fake_hurt:x [more]\n"
    )
    damaged(local_site, entries)
    assert told().damage == ""
    assert [entry.name for entry in told().entries] == ["sound", "extra"]


def test_without_metadata_a_component_is_refused_with_the_reason_and_hooks_are_named_by_the_folder(
    local_site,
):
    damaged(local_site, SOUND + b"[corekit.hooks]\nhurt = fake_hurt\n", metadata=False)
    with pytest.raises(
        PluginError, match=r"of fake-hurt 1.0 cannot be used: its METADATA are missing.*reinstall"
    ):
        resolve("models", "sound")
    (hooks,) = [entry for entry in entry_points("corekit.hooks") if entry.name == "hurt"]
    assert (hooks.distribution, hooks.version) == ("fake-hurt", "1.0")


def test_a_module_that_its_package_should_hold_is_missed_before_it_is_imported(local_site):
    raises = {"fake_lost/__init__.py": "raise RuntimeError('imported')\n"}
    local_site.add("fake-lost", {"models": {"lost": "fake_lost._spe:spec"}}, raises)
    with pytest.raises(
        PluginError, match=r"module fake_lost\._spe cannot be found; reinstall it: pip install --force"
    ):
        resolve("models", "lost")


def test_a_component_of_ours_that_its_installed_distribution_lost_is_to_be_installed_again(monkeypatch):
    monkeypatch.setattr("corekit.registry.resolve.version_of", {"corekit-pcc": "0.2.0"}.get)
    said = "though corekit-pcc 0.2.0 is installed; reinstall it: pip install --force-reinstall corekit-pcc"
    with pytest.raises(PluginError, match=said):
        resolve("models", "pcc", installed=())


@pytest.mark.parametrize("is_broken", [True, False])
def test_a_stranger_cannot_take_a_name_of_this_project(local_site, is_broken):
    (row,) = [each for each in discover() if (each.role, each.name) == ("models", "pcc")]
    local_site.add_good("fake-thief", "fake_thief", "pcc")
    if is_broken:
        (local_site.folder / "fake_thief" / "_spec.py").write_text("raise RuntimeError('broken')\n")
    rows = {each.distribution: each for each in discover() if (each.role, each.name) == ("models", "pcc")}
    assert rows["corekit-pcc"] == row
    thief = rows["fake-thief"]
    assert thief.remark == "the name is corekit-pcc's: select this one as `fake-thief:pcc`"
    assert resolve("models", "pcc").target.startswith("corekit_pcc.")
    if is_broken:
        with pytest.raises(PluginError, match=r"model 'pcc' of fake-thief 1.0: .*RuntimeError: broken"):
            resolve("models", "fake-thief:pcc")
    else:
        assert resolve("models", "fake-thief:pcc").target == "fake_thief.model:Model"
    # nor where ours is not there: another model than the one meant would run
    with pytest.raises(PluginError, match=r"'pcc' .*; the one of another distribution is `fake-thief:pcc`"):
        resolve("models", "pcc", installed=[thief])


def test_every_command_tells_of_the_damage_in_one_line_and_does_its_work(site):
    damaged(site, SOUND + b"othe")
    line = (
        "corekit: fake-hurt 1.0 is damaged: line 3 of its entry_points.txt, 'othe', is no entry point: "
        "pip install --force-reinstall fake-hurt\n"
    )
    listed = site.corekit("list", "--json")
    assert (listed.returncode, listed.stderr) == (0, line)
    (told,) = json.loads(listed.stdout)["damaged"]
    assert (told["distribution"], told["version"]) == ("fake-hurt", "1.0")
    assert ("sound", "ok") in {
        (row["name"], row["status"]) for row in json.loads(listed.stdout)["components"]
    }


def test_this_project_knows_its_distributions_and_their_components():
    files = [
        ROOT / "pyproject.toml",
        ROOT / "scenarios/pyproject.toml",
        *ROOT.glob("plugins/*/*/pyproject.toml"),
    ]
    projects = [tomllib.loads(file.read_text())["project"] for file in files]
    assert all(is_ours(project["name"]) for project in projects)
    declared = {
        (role, name, project["name"])
        for project in projects
        for group, names in project.get("entry-points", {}).items()
        for name in names
        if project["name"] != "corekit-testing" and (role := group.removeprefix("corekit.")) in ROLES
    }
    assert declared == set(FIRST_PARTY)
