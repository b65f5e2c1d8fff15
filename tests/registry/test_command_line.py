"""Exit codes and error messages."""

from __future__ import annotations

import errno
from typing import get_type_hints

import pytest

from corekit.cli import main
from corekit.errors import CompositionError, ConfigError, CorekitError, Mistake, PluginError, StepFailed
from corekit.hooks.installed import installed_hooks
from corekit.registry.resolve import load_target


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check"], "requires an argument"),
        (["check", "good", "--jsn"], "--jsn"),
        (["lsit"], "lsit"),
    ],
)
def test_misuse_exits_with_two_and_a_message_without_traceback(site, arguments, words):
    result = site.corekit(*arguments)
    assert result.returncode == 2
    assert words in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"], ["check", "--help"]])
def test_asking_for_help_exits_with_zero(site, arguments):
    assert site.run("-m", "corekit.cli", *arguments).returncode == 0


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError([Mistake("time.step", -1, "must be > 0")]), 2),
        (PluginError("no such plugin"), 2),
        (CompositionError("these two do not fit"), 2),
        (StepFailed("the solver stopped", step=3, time=0.5), 1),
        (CorekitError("something else"), 1),
    ],
)
def test_each_error_has_its_exit_code_and_is_printed_whole(monkeypatch, capsys, error, code):
    def fail():
        raise error

    monkeypatch.setattr("corekit.cli.check.check", fail)
    assert main(["check"]) == code
    assert capsys.readouterr().err.strip() == str(error)


@pytest.mark.parametrize(("file", "named"), [("runs/x", "runs/x"), (None, "a file")])
def test_what_the_system_refuses_is_one_sentence(file, named, monkeypatch, capsys):
    def fail():
        raise OSError(errno.ENOSPC, "No space left on device", file)

    monkeypatch.setattr("corekit.cli.check.check", fail)
    assert main(["check"]) == 1
    assert capsys.readouterr().err == f"cannot read or write {named}: No space left on device\n"


def _options(number: type) -> list[tuple[str, str]]:
    """Verb and word of every option that is a number of this kind, of what is installed."""
    found = []
    for _, verb in installed_hooks().verbs():
        kinds = get_type_hints(load_target(verb.function))
        names = [name for name, kind in kinds.items() if kind in (number, number | None) and name != "return"]
        found += [(verb.name, f"--{name.replace('_', '-')}") for name in names]
    return sorted(found)


@pytest.mark.parametrize("word", ["2.5", "1.0", "2e1", "nan", "many"])
@pytest.mark.parametrize(("verb", "option"), _options(int))
def test_a_fraction_is_no_whole_number(verb, option, word, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([verb, "cusp/inclined-box", option, word]) == 2
    assert f"{option}: found '{word}'; must be a whole number" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("word", ["nan", "inf", "-inf", "1e999", "1,5", "many"])
@pytest.mark.parametrize(("verb", "option"), _options(float))
def test_what_is_not_finite_is_no_number(verb, option, word, capsys):
    assert main([verb, "cusp/inclined-box", f"{option}={word}"]) == 2
    assert f"{option}: found '{word}'; must be a finite number" in capsys.readouterr().err


def _stop():
    interrupt = KeyboardInterrupt()
    interrupt.add_note("To go on: corekit run --resume runs/arm")
    raise interrupt


def _stop_with_an_option(*, json: bool = False):
    _stop()


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [(_stop, ["check"]), (_stop_with_an_option, ["check", "--json"])],
    ids=["without the option parser", "with it"],
)
def test_a_verb_that_is_stopped_says_how_to_go_on(verb, arguments, monkeypatch, capsys):
    monkeypatch.setattr("corekit.cli.check.check", verb)
    assert main(arguments) == 130
    assert capsys.readouterr().err.splitlines() == ["stopped", "To go on: corekit run --resume runs/arm"]


def test_help_describes_every_verb_without_importing_one(site):
    code = (
        "import sys\n"
        "from corekit.cli import VERBS, main\n"
        "from corekit.hooks.installed import installed_hooks\n"
        "main(['--help'])\n"
        "verbs = [*VERBS, *(verb for _, verb in installed_hooks().verbs())]\n"
        "print(len(verbs) > len(VERBS), [f for _, f, _ in verbs if f.partition(':')[0] in sys.modules])\n"
    )
    result = site.run("-c", code)
    assert result.stdout.splitlines()[-1] == "True []"


def test_import_corekit_is_light(site):
    code = "import sys, corekit; print([n for n in ('numpy', 'attrs', 'rich') if n in sys.modules])"
    assert site.run("-c", code).stdout.strip() == "[]"
