"""Conformance of the QP solvers."""

from importlib.util import find_spec

import pytest

from corekit_testing.conformance import conformance


def where_installed(module, make):
    """Return the kit's tests of a back-end, or one skipped test that names the missing module."""
    if find_spec(module) is None:
        return pytest.mark.skip(reason=f"{module} is not installed")(lambda: None)
    return make()


test_banded = conformance("qp_solvers", "banded")
test_osqp = where_installed("osqp", lambda: conformance("qp_solvers", "osqp"))
test_piqp = where_installed("piqp", lambda: conformance("qp_solvers", "piqp"))
test_proxqp = where_installed("proxsuite", lambda: conformance("qp_solvers", "proxqp"))
