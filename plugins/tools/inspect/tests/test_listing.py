"""`corekit list` answers fast, imports nothing of a plugin, and names what is wrong with each."""

from __future__ import annotations

import json

RAISES = "raise RuntimeError('this module must not be imported')\n"


def rows(site):
    result = site.corekit("list", "--json")
    assert result.returncode == 0, result.stderr
    return {(row["distribution"], row["name"]): row for row in json.loads(result.stdout)["components"]}


def test_listing_imports_neither_numpy_nor_casadi_nor_any_plugin(site):
    site.add("fake-loud", {"models": {"loud": "fake_loud._spec:spec"}}, {"fake_loud/__init__.py": RAISES})
    code = (
        "import sys\n"
        "from importlib.metadata import entry_points\n"
        "from corekit.cli import main\n"
        "code = main(['list'])\n"
        "tools = tuple(entry.module.partition('.')[0] for entry in entry_points(group='corekit.hooks'))\n"
        "heavy = ('numpy', 'scipy', 'casadi', 'h5py', 'cyclopts', 'corekit_', 'fake_')\n"
        "print(code, [name for name in sys.modules if name.startswith(heavy) and not name.startswith(tools)])\n"
    )
    result = site.run("-c", code)
    assert result.stdout.splitlines()[-1] == "0 []", result.stdout + result.stderr
    assert "loud" in result.stdout


def test_listing_takes_no_more_than_twice_what_its_libraries_take_to_import(site, processor_time):
    # They take 0.09 to 0.12 s of the 0.13 s of a listing; NumPy alone would be another 0.14 s.
    libraries = "import attrs, email.message, importlib.metadata, packaging.requirements"
    imports = processor_time(lambda: site.run("-c", libraries))
    assert processor_time(lambda: site.run("-m", "corekit.cli", "list")) < 2 * imports


def test_installed_scenarios_are_listed_with_what_their_first_line_says(site):
    files = {
        "fake_worlds/__init__.py": "from pathlib import Path\nfiles = lambda: Path(__file__).with_name('files')\n",
        "fake_worlds/files/zoo/soft_arm.toml": "# A soft arm waves.\nformat = 1\n",
        "fake_worlds/files/zoo/other.toml": "format = 1\n",
    }
    site.add("fake-worlds", {"scenarios": {"zoo": "fake_worlds:files"}}, files)
    result = site.corekit("list", "--scenarios")
    assert ["zoo/soft-arm", "A", "soft", "arm", "waves."] in [
        line.split() for line in result.stdout.splitlines()
    ]
    assert json.loads(site.corekit("list", "--scenarios", "--json").stdout)["zoo/other"] == ""


def test_good_plugin_is_listed_as_ok(site):
    site.add_good("fake-good", "fake_good")
    row = rows(site)["fake-good", "good"]
    assert (row["role"], row["version"], row["status"], row["reason"]) == ("models", "1.0", "ok", "")


def test_missing_module_is_a_row_with_the_module_named(site):
    site.add("fake-gone", {"models": {"gone": "fake_gone._spec:spec"}})
    row = rows(site)["fake-gone", "gone"]
    assert row["status"] == "unusable"
    assert "fake_gone cannot be found" in row["reason"]


def test_plugin_for_a_newer_kernel_says_so(site):
    site.add(
        "fake-new", {"models": {"new": "fake_new:spec"}}, {"fake_new.py": RAISES}, ["corekit-kernel>=9,<10"]
    )
    reason = rows(site)["fake-new", "new"]["reason"]
    assert reason == "made for a newer kernel: needs corekit-kernel<10,>=9, this is 0.2.0"


def test_plugin_for_an_older_kernel_says_so(site):
    site.add(
        "fake-old", {"models": {"old": "fake_old:spec"}}, {"fake_old.py": RAISES}, ["corekit-kernel<0.1"]
    )
    assert rows(site)["fake-old", "old"]["reason"].startswith("made for an older kernel: needs")


def test_missing_requirement_is_named_with_its_install_line(site):
    site.add(
        "fake-poor",
        {"models": {"poor": "fake_poor:spec"}},
        {"fake_poor.py": RAISES},
        ["corekit-kernel>=0.1", "no-such-thing>=2", 'other-thing; extra == "more"'],
    )
    reason = rows(site)["fake-poor", "poor"]["reason"]
    assert reason == 'needs no-such-thing>=2, which is not installed: pip install "no-such-thing>=2"'


def test_requirement_too_old_is_named_with_both_versions(site):
    site.add("fake-base", {}, version="1.0")
    site.add("fake-top", {"models": {"top": "fake_top:spec"}}, {"fake_top.py": RAISES}, ["fake-base>=2"])
    reason = rows(site)["fake-top", "top"]["reason"]
    assert reason.startswith("needs fake-base>=2, but 1.0 is installed")


def test_name_taken_twice_lists_both_and_how_to_select(site):
    site.add_good("fake-one", "fake_one", "twin")
    site.add_good("fake-two", "fake_two", "twin")
    listed = rows(site)
    for distribution in ("fake-one", "fake-two"):
        row = listed[distribution, "twin"]
        assert row["status"] == "ambiguous"
        assert "fake-one and fake-two" in row["reason"]
        assert f"`{distribution}:twin`" in row["reason"]


def test_group_that_is_no_role_is_a_row_not_a_silence(site):
    site.add("fake-typo", {"model": {"typo": "fake_typo:spec"}}, {"fake_typo.py": RAISES})
    assert "no role 'model'" in rows(site)["fake-typo", "typo"]["reason"]


def test_a_plugin_of_an_older_api_is_refused_by_name(site):
    site.add_good("fake-old", "fake_old", "old-arm", api="'0.0'")
    (site.folder / "fake_old" / "model.py").write_text(RAISES)
    row = rows(site)["fake-old", "old-arm"]
    assert row["status"] == "unusable"
    assert row["reason"].startswith("it was written for kernel API '0.0', this kernel")
    assert f"models.old-arm of fake-old: {row['reason']}" in site.corekit("list").stdout


def test_unreadable_metadata_breaks_nothing(site):
    site.add("fake-odd", {"models": {"odd": "fake_odd:spec"}}, {"fake_odd.py": RAISES}, ["not a requirement"])
    site.add("fake-dated", {}, version="nineteen")
    site.add("fake-user", {"models": {"user": "fake_user:s"}}, {"fake_user.py": RAISES}, ["fake-dated>=2"])
    nameless = site.folder / "nameless-1.0.dist-info"
    nameless.mkdir()
    (nameless / "entry_points.txt").write_text("[corekit.models]\nnameless = nameless:spec\n")
    listed = rows(site)
    assert "cannot be read" in listed["fake-odd", "odd"]["reason"]
    assert "nineteen is installed" in listed["fake-user", "user"]["reason"]
    assert "METADATA are missing" in listed["nameless", "nameless"]["reason"]


def test_table_shows_every_reason_and_absent_first_party_components_have_install_lines(site):
    site.add("fake-gone", {"viewers": {"gone": "fake_gone._spec:spec"}})
    code = (
        "from importlib import metadata\n"
        "from corekit.registry import discover\n"
        "real = metadata.distributions\n"
        "discover.metadata.distributions = lambda: [d for d in real() if d.name.startswith('fake')]\n"
        "from corekit_inspect.cli.listing import list_components\n"
        "list_components()\n"
    )
    result = site.run("-c", code)
    assert "fake_gone cannot be found" in result.stdout
    assert "model pcc: pip install corekit-pcc" in result.stdout
