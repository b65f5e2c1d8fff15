"""The engine is low: from its top to its bottom few files stand on each other."""

import runpy
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST = 10


def test_no_chain_of_imports_in_the_engine_is_longer_than_ten_files():
    """Of what must be loaded: imports for types alone do not count."""
    needed = runpy.run_path(str(ROOT / "tools/check_imports.py"))["_needed"]
    paths = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path
        for path in ROOT.glob("corekit/engine/**/*.py")
    }
    below = {
        module: sorted({each for each in needed(path) if each in paths}) for module, path in paths.items()
    }

    @cache
    def floors(module: str) -> int:
        return 1 + max((floors(each) for each in below[module]), default=0)

    def chain(module: str) -> Iterator[str]:
        yield module
        if below[module]:
            yield from chain(max(below[module], key=floors))

    longest = max(paths, key=floors)
    assert len(paths) > 40
    assert floors(longest) <= MOST, " -> ".join(chain(longest))
