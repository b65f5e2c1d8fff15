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
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"corekit {release}"
exclude_patterns = ["requirements.txt"]
