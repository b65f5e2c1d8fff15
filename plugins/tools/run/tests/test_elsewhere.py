"""Tasks elsewhere: what they return and raise comes back as data, and a computer that lacks something says so."""

from __future__ import annotations

import json

import pytest

from corekit.distributions import version_of
from corekit.errors import ConfigError, CorekitError, PluginError, ResultsError
from corekit_run import elsewhere
from corekit_run.elsewhere import answer_of, call_elsewhere
from corekit_run.schedulers import Here, Lost, Processes, Task, check_scheduler, open_scheduler

ENCODE = "base64:b64encode"


def test_what_a_function_returns_comes_back():
    needs = {"corekit-run": str(version_of("corekit-run"))}
    assert answer_of(call_elsewhere(ENCODE, b"abc", needs)) == b"YWJj"


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        (
            {"corekit-run": "9.9"},
            r"has corekit-run \S+, not 9\.9: install .*: pip install corekit-run==9\.9",
        ),
        ({"corekit-nothing": "1.0"}, r"the worker on \S+ has no corekit-nothing: install there"),
    ],
)
def test_a_computer_with_another_version_or_without_a_plugin_says_so_in_a_sentence(needs, said):
    with pytest.raises(PluginError, match=said) as caught:
        answer_of(call_elsewhere(ENCODE, b"abc", needs))
    assert "\n" not in str(caught.value)


def test_an_error_of_ours_comes_back_as_it_is_and_another_one_with_its_computer(monkeypatch):
    def fails(_function, argument):
        if argument == b"full":
            error = ResultsError("cannot write x: No space left on device")
            error.add_note("Make room.")
            raise error
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(elsewhere, "call", fails)
    with pytest.raises(ResultsError, match="No space left") as caught:
        answer_of(call_elsewhere("a:b", b"full", {}))
    assert caught.value.__notes__ == ["Make room."]
    with pytest.raises(PluginError, match=r"a task on \S+ raised ZeroDivisionError: by nothing"):
        answer_of(call_elsewhere("a:b", b"", {}))


@pytest.mark.parametrize(
    "data", [b"", b"X", b"E", b"Enull", b"E[]", b'E{"kind": "os.system"}', b"\x80\x04K\x01."]
)
def test_what_is_no_answer_is_refused_and_never_unpickled(data):
    with pytest.raises(PluginError, match="no answer of corekit"):
        answer_of(data)


@pytest.mark.parametrize("kind", ["os", "Mistake", "annotations", "KeyboardInterrupt", ""])
def test_only_errors_of_ours_are_raised_by_name(kind):
    data = b"E" + json.dumps({"kind": kind, "text": "said", "notes": []}).encode()
    with pytest.raises(CorekitError, match="said"):
        answer_of(data)


def test_a_task_that_comes_with_an_answer_is_made_too():
    """As runs that were lost together are made again each alone: no task is left when the answer comes."""
    waiting, answers = [Task(1, b"a")], []
    for key, answer in Here().run(ENCODE, lambda: waiting.pop() if waiting else None, print, {}):
        answers.append((key, answer))
        if key < 3:
            waiting.append(Task(key + 1, b"b"))
    assert [key for key, _ in answers] == [1, 2, 3]
    assert not any(isinstance(answer, Lost) for _, answer in answers)


def test_words_of_schedulers_are_checked_and_one_task_needs_no_process():
    with pytest.raises(ConfigError, match="did you mean 'processes'"):
        check_scheduler("proceses")
    with open_scheduler(jobs=4, most=1) as one, open_scheduler(jobs=4, most=9) as four:
        assert isinstance(one, Here)
        assert isinstance(four, Processes)
        assert four.size == 4
