"""Imported by every interpreter that a test in a directed rounding mode starts: it rounds as the test does."""

import os

if mode := os.environ.get("COREKIT_ROUNDING"):
    from importlib.util import module_from_spec, spec_from_file_location
    from pathlib import Path

    # by its place: environments that tests make need not have this distribution
    spec = spec_from_file_location("corekit_rounding_mode", Path(__file__).parents[1] / "rounding_mode.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.enter(mode)
