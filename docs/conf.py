"""How Sphinx builds these pages: `make docs`, into build/docs."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
runpy.run_path(str(HERE / "generate.py"))["generate"](HERE / "_generated")

_project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "corekit"
author = "corekit authors"
release = version = _project["version"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_gallery.gen_gallery"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_show_copyright = False
html_title = f"corekit {release}"
exclude_patterns = ["requirements.txt", "measures.md"]  # the text of README's table

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "_generated/gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "abort_on_example_error": True,
}
"""Every example runs while the pages are built, so that what they show is what the code does."""

napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_default_options = {"members": True, "show-inheritance": True}


def setup(app: Any) -> None:
    """Let bars in docstrings be absolute values, which reStructuredText takes for something else."""
    app.connect("autodoc-process-docstring", _bars)


def _bars(_app: Any, _what: str, _name: str, _thing: object, _options: object, lines: list[str]) -> None:
    lines[:] = [line.replace("|", r"\|") for line in lines]
