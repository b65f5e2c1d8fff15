"""A resolved scenario holds every default and loads to an equal scenario."""

from __future__ import annotations

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from corekit.scenario.dump import resolved_document
from corekit.scenario.load import from_document, load, loads
from corekit.scenario.schema import RECORDED


def test_resolved_text_loads_to_an_equal_scenario(file):
    scenario = load(file)
    again = loads(scenario.resolved_text())
    assert again == scenario
    assert again.resolved_text() == scenario.resolved_text()


def test_every_default_is_written(text):
    document = tomllib.loads(loads(text).resolved_text())
    assert document["contact"]["stabilisation"]["approach"] == 1.0
    assert document["contact"]["margin"] > 0
    assert document["contact"]["solver"]["options"]["lcp_solver"]["options"]["solvers"][0]["options"] == {
        "max_iterations": 500
    }
    assert document["bodies"][0]["options"]["sections"][0]["chambers"] == 3
    assert document["output"] == {"every": 0.01, "record": list(RECORDED), "directory": "runs"}
    assert document["world"]["obstacles"][1]["position"] == {
        "kind": "sine", "amplitude": [0.0, 0.0, 0.1], "frequency": 0.5, "phase": 0.0, "offset": 0.0, "from": 0.25,
    }  # fmt: skip


def test_resolved_document_and_scenario_share_nothing(text):
    scenario = loads(text)
    resolved_document(scenario)["bodies"][0]["options"]["sections"].clear()
    assert scenario == loads(text)


positive = st.floats(1e-6, 1e6)
coordinates = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3)
signals = st.one_of(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=4),
    st.builds(
        lambda t0, length, value, start: {
            "kind": "ramp", "from": t0, "to": t0 + length, "value": value, "start": start,
        },
        st.floats(-10, 10), positive, st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=4), st.floats(-1, 1),
    ),
    st.builds(lambda a, f: {"kind": "sine", "amplitude": a, "frequency": f}, coordinates, positive),
)  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(
    position=coordinates,
    size=st.lists(positive, min_size=3, max_size=3),
    signal=signals,
    friction=st.one_of(st.none(), positive),
    push_out=st.one_of(positive, st.just(float("inf"))),
    steps=st.integers(1, 1000),
    step=st.floats(1e-6, 1e-2),
)
def test_any_scenario_survives_the_round_trip(position, size, signal, friction, push_out, steps, step):
    scenario = from_document(
        {
            "format": "corekit-scenario/1",
            "name": "any",
            "time": {"duration": 2000 * step, "step": step},
            "world": {
                "obstacles": [
                    {"name": "b", "shape": "box", "size": size, "position": position, "friction": friction}
                ]
            },
            "bodies": [
                {"name": "arm", "use": "made-still", "inputs": [{"channel": "force", "signal": signal}]}
            ],
            "contact": {"stabilisation": {"push_out": push_out}, "solver": "made-pivot"},
            "integrator": {"use": "made-euler"},
            "output": {"every": steps * step},
        }
    )
    assert loads(scenario.resolved_text()) == scenario
