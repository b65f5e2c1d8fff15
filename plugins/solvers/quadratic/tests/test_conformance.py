"""What every QP solver promises."""

from importlib.util import find_spec

import pytest

from corekit.testing.conformance import conformance

test_banded = conformance("qp_solvers", "banded")
test_osqp = pytest.mark.skipif(find_spec("osqp") is None, reason="osqp is not installed")(
    conformance("qp_solvers", "osqp")
)
test_piqp = pytest.mark.skipif(find_spec("piqp") is None, reason="piqp is not installed")(
    conformance("qp_solvers", "piqp")
)
test_proxqp = pytest.mark.skipif(find_spec("proxsuite") is None, reason="proxsuite is not installed")(
    conformance("qp_solvers", "proxqp")
)
