"""How Sphinx builds these pages: `make docs`, into build/docs."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
runpy.run_path(str(HERE / "generate.py"))["generate"](HERE / "_generated")

_project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "corekit"
author = "corekit authors"
release = version = _project["version"]
extensions = ["myst_parser", "sphinx_gallery.gen_gallery"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_show_copyright = False
html_title = f"corekit {release}"
exclude_patterns = ["requirements.txt"]

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
