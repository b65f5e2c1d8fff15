"""What a release says of itself agrees with what it is."""

from __future__ import annotations

import re
from pathlib import Path

from corekit.cli import VERBS
from corekit.registry.first_party import FIRST_PARTY_VERBS

ROOT = Path(__file__).resolve().parents[2]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_distribution_and_the_citation_have_one_version(distributions):
    versions = {each.project["version"] for each in distributions.values()}
    assert versions == set(re.findall(r"^version: (\S+)$", read("CITATION.cff"), re.MULTILINE))


def test_the_changelog_begins_with_what_is_not_released_yet():
    headings = re.findall(r"^## (.+)$", read("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ – \d{4}-\d\d-\d\d", each) for each in headings[1:])


def test_the_hosted_checks_call_what_developers_call():
    text = read(".github/workflows/test.yml")
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    commands = re.findall(r'command: "make ([a-z ]+?)(?: [A-Z]+=1)?"', text)
    assert commands
    for words in commands:
        assert set(words.split()) <= targets, words
    for path in re.findall(r"-r (\S+)", text):
        assert (ROOT / path).is_file(), path
    make = re.search(r"PYTEST_ARGS \?= (.+)", read("Makefile"))
    assert make is not None
    assert f"pytest {make[1]}" in text


def test_the_changelog_names_every_verb():
    text = read("CHANGELOG.md")
    verbs = {name for name, _, _ in VERBS} | set(FIRST_PARTY_VERBS)
    assert [name for name in sorted(verbs) if f"`{name}`" not in text] == []
