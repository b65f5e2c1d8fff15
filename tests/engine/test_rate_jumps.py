"""A given motion that begins smoothly has no jump of its rate, at whatever time and in whatever unit."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.data.instants import same_instant
from corekit.engine.bodies.prescribed_motion import rate_jumps


def smooth(begin, lasts, way):
    """ṗ(t) of a cubic that moves by `way` and begins and ends at rest."""

    def rates_at(time):
        share = np.clip((time - begin) / lasts, 0.0, 1.0)
        return np.array([6.0 * way / lasts * share * (1.0 - share), 0.0])

    return rates_at


@pytest.mark.parametrize("unit", [1.0, 2.0**-40, 2.0**40])
@pytest.mark.parametrize(("begin", "lasts"), [(0.1, 0.2), (0.0, 0.3), (10.0, 0.3), (1000.0, 0.05)])
def test_a_cubic_that_begins_and_ends_at_rest_jumps_nowhere(begin, lasts, unit):
    begin, lasts = begin * unit, lasts * unit
    rates_at = smooth(begin, lasts, 0.4)
    for knot, before in ((begin, 0.0), (begin + lasts, 0.0), (begin + lasts, 1e-16 * 0.4 / lasts)):
        behind = knot + 2.0 * same_instant(knot)
        # at the last knot also what Horner's rule leaves
        assert not rate_jumps(np.array([before, 0.0]), knot, behind, rates_at)


@pytest.mark.parametrize("unit", [1.0, 2.0**-40, 2.0**40])
@pytest.mark.parametrize("begin", [0.0, 0.1, 1000.0])
def test_a_ramp_jumps_at_its_begin_by_little_as_by_much(begin, unit):
    begin *= unit
    behind = begin + 2.0 * same_instant(begin)
    for rate in (1.0 / unit, 1e-12 / unit):
        assert rate_jumps(np.zeros(1), begin, behind, lambda t, rate=rate: np.array([rate * (t > begin)]))
        assert not rate_jumps(np.array([rate]), begin, behind, lambda t, rate=rate: np.array([rate]))
