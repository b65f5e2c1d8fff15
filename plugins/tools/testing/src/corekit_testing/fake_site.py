"""Distributions that are not real: directories with `*.dist-info` beside their modules, as pip would leave them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from corekit.interpreters import python_command

__all__ = ["FakeSite"]


class FakeSite:
    """A folder of fake distributions, seen by subprocesses through PYTHONPATH and, within `seen_here`, by this process.

    Args:
        folder: where they are.
        forked: starts command lines, with a method `run(*arguments, folder, environment)`.
    """

    def __init__(self, folder: Path, forked: Any) -> None:
        self.folder, self._forked = folder, forked

    def add(
        self,
        distribution: str,
        entries: Mapping[str, Mapping[str, str]],
        modules: Mapping[str, str] | None = None,
        requires: Sequence[str] = (),
        version: str = "1.0",
        extras: Sequence[str] = (),
    ) -> None:
        """Install a distribution: `entries` is role → name → `module:object`, `modules` path → source."""
        info = self.folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        metadata = ["Metadata-Version: 2.1", f"Name: {distribution}", f"Version: {version}"]
        metadata += [f"Provides-Extra: {extra}" for extra in extras]
        metadata += [f"Requires-Dist: {line}" for line in requires]
        (info / "METADATA").write_text("\n".join(metadata) + "\n")
        lines: list[str] = []
        for role, names in entries.items():
            lines += [f"[corekit.{role}]", *(f"{name} = {value}" for name, value in names.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        for path, source in (modules or {}).items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(source)

    def add_good(
        self,
        distribution: str,
        package: str,
        name: str = "good",
        *,
        requires: Sequence[str] = (),
        extras: Sequence[str] = (),
        **fields: str,
    ) -> None:
        """Install a plugin with one sound model; `fields` are further fields of its spec, as code."""
        extra = "".join(f", {key}={value}" for key, value in {"api": "'0.2'", **fields}.items())
        spec = (
            "from corekit.registry.spec import ComponentSpec\n"
            f"spec = ComponentSpec(role='models', name={name!r}, target='{package}.model:Model', "
            f"config='{package}.config:Config', summary='A good model.'{extra})\n"
        )
        modules = {f"{package}/__init__.py": "", f"{package}/_spec.py": spec}
        entries = {"models": {name: f"{package}._spec:spec"}}
        self.add(distribution, entries, modules, requires, extras=extras)

    def run(self, *code_or_arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a fresh interpreter that sees the fake plugins."""
        return subprocess.run(
            python_command(*code_or_arguments),
            env=self._environment, capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip

    def corekit(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command line, in a process of its own that sees them too."""
        return self._forked.run(*arguments, folder=Path.cwd(), environment=self._environment)

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.folder), "COLUMNS": "200", "NO_COLOR": "1"}

    @contextmanager
    def seen_here(self) -> Iterator[None]:
        """Show the distributions to this process until the end of the block, and forget their modules then."""
        self.folder.mkdir()
        sys.path.insert(0, str(self.folder))
        before = set(sys.modules)
        try:
            yield
        finally:
            sys.path.remove(str(self.folder))
            for name in set(sys.modules) - before:
                origin = getattr(sys.modules[name], "__file__", None)
                if origin and origin.startswith(str(self.folder)):
                    del sys.modules[name]
