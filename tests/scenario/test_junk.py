"""Whatever stands in a file, the answer is a scenario or a ConfigError with printable mistakes."""

from __future__ import annotations

import contextlib
import copy
import tomllib

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from corekit.errors import ConfigError
from corekit.scenario.load import from_document, loads

WORDS = [
    "format", "name", "time", "step", "duration", "world", "obstacles", "shape", "size", "position", "kind",
    "ramp", "sine", "bodies", "use", "options", "initial", "inputs", "channel", "signal", "contact", "detector",
    "solver", "integrator", "output", "every", "friction", "between", "box", "polytope", "vertices", "made-arm",
    "made-pivot", "made-chain", "made-euler", "sections", "lcp_solver", "solvers", "corekit-scenario/1",
]  # fmt: skip

leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.sampled_from(WORDS),
    st.dates(), st.binary(max_size=3),
)  # fmt: skip
keys = st.one_of(st.sampled_from(WORDS), st.text(max_size=6))
junk = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=5)),
    max_leaves=25,
)
relaxed = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def only_config_errors(document, overrides=()):
    refused = None
    try:
        from_document(document, overrides).resolved_text()
    except ConfigError as error:
        refused = error
    if refused is not None:
        assert refused.mistakes
        assert all(mistake.path and mistake.allowed and str(mistake) for mistake in refused.mistakes)


@relaxed
@given(junk)
@example({1: 2})
@example([])
@example({"seed": 10**5000, "time": {"step": -(10**400), "duration": 1e308}})
@example({"bodies": [{"name": "a", "use": "made-euler:made-arm"}, 3, None]})
@example({"bodies": [{"use": ""}], "integrator": {"use": "\x00"}})
def test_junk_documents_raise_nothing_but_config_errors(document):
    only_config_errors(document)


@relaxed
@given(st.data(), junk)
def test_junk_anywhere_in_a_right_document_raises_nothing_but_config_errors(text, data, value):
    document = tomllib.loads(text)
    place = document
    while True:
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
        inner = place[key]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.booleans()):
            break
        place = inner
    place[key] = value
    only_config_errors(document)


@relaxed
@given(st.lists(st.one_of(st.text(max_size=20), st.builds("{}.{}={}".format, keys, keys, keys)), max_size=3))
def test_junk_overrides_raise_nothing_but_config_errors(text, overrides):
    only_config_errors(tomllib.loads(text), overrides)


@relaxed
@given(st.text(max_size=60))
@example("a = " + "[" * 5000)
@example("a = " + "9" * 5000)
@example("\ufeff")
def test_junk_texts_raise_nothing_but_config_errors(text):
    with contextlib.suppress(ConfigError):
        loads(text)


def test_tables_nested_too_deeply_are_refused(text):
    document = deep = tomllib.loads(text)
    for _ in range(5000):
        deep["deep"] = {}
        deep = deep["deep"]
    with pytest.raises(ConfigError, match="too deeply"):
        from_document(document)


def test_a_document_is_left_as_it_is(text):
    document = tomllib.loads(text)
    before = copy.deepcopy(document)
    from_document(document, ["contact.solver.use=made-spring", "time.step=1e-4"])
    assert document == before
