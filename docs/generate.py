"""The reference pages, written from what the code says of itself: option classes and component specs.

`generate(folder)` writes `scenario.md`, one page a component in `plugins/`, their list `plugins.md`, and in
`new/ROLE/` the sources of what `corekit new ROLE mine` makes, which the pages of the roles show.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

from corekit.data.signals import SIGNALS
from corekit.geometry.shape_specs import obstacle_kinds, shape_spec
from corekit.registry.discover import Installed, discover
from corekit.registry.resolve import load_target, read_spec
from corekit.registry.spec import ABILITIES, ROLES, ComponentSpec
from corekit.scenario.scenario import Scenario
from corekit_inspect.option_table import Option, describe_options
from corekit_testing.cli.new import Role, distribution_files

__all__ = ["component_page", "generate", "new_sources", "option_table", "plugin_list", "scenario_page"]

_SCENARIO = """\
A scenario is a TOML file. Reading one executes nothing of it; all its mistakes are reported at once
(`corekit check FILE`). `[]` marks an entry of a list, in TOML `[[world.obstacles]]`. The keys of
`options` and `initial` are the component's own: see [](plugins.md)."""


def generate(folder: Path) -> None:
    """Write every reference page; pages of components that are gone are removed."""
    rows = [row for row in discover() if row.usable and not row.reference]
    pages = {"scenario.md": scenario_page(), "plugins.md": plugin_list(rows)}
    pages |= {f"plugins/{_page(row)}.md": component_page(row) for row in rows}
    for stale in {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")} - pages.keys():
        (folder / stale).unlink()
    for name, text in (pages | new_sources()).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # an unchanged page keeps its date, so that Sphinx need not read it again
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def option_table(options: Iterable[Option]) -> str:
    """A table of options: key, unit, default, what is allowed, what it means."""
    lines = ["| option | unit | default | allowed | meaning |", "|---|---|---|---|---|"]
    for option in options:
        plain = option.default in {"required", "see below"}
        default = option.default if plain else _code(option.default)
        allowed = option.allowed or _code(option.type)
        cells = [_code(option.name), option.unit, default, allowed, option.help]
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(lines)


def new_sources() -> dict[str, str]:
    """Path → text of the modules and scenarios that `corekit new` writes for every role."""
    return {
        f"new/{role}/{path}": text
        for role in get_args(Role)
        for path, text in distribution_files(role, "mine").items()
        if path.endswith((".py", ".toml"))
    }


def scenario_page() -> str:
    """Every key of a scenario file."""
    options = describe_options(Scenario)
    parts = [
        "# Scenario files",
        _SCENARIO,
        *_sections(options),
        "## Sizes of obstacles",
        "\n".join(
            ["| shape | `size` [m] |", "|---|---|"]
            + [
                f"| `{kind}` | {', '.join(shape_spec(kind).file_sizes) or 'none'} |"
                for kind in obstacle_kinds()
            ]
        ),
        "## Signals",
        "Inputs, and the places of obstacles that move, are signals: numbers (constant), or a table with a `kind`.",
    ]
    for kind, signal in SIGNALS.items():
        parts += [f"### `{kind}`", _docstring(signal), option_table(describe_options(signal))]
    return "\n\n".join(parts) + "\n"


def plugin_list(rows: Iterable[Installed]) -> str:
    """The list of all components, by role, and the meaning of abilities."""
    rows = list(rows)
    parts = ["# Plugins", "What the distributions of this repository bring, one page a component."]
    for role, words in ROLES.items():
        of_role = [row for row in rows if row.role == role]
        if of_role:
            parts.append(f"## {words[0].upper()}{words[1:]}s")
            lines = [
                f"| [`{row.name}`](plugins/{_page(row)}.md) | {read_spec(row).summary} |" for row in of_role
            ]
            parts.append("\n".join(["| name | what it is |", "|---|---|", *lines]))
    parts += [
        "## Abilities",
        "What only some components can do; a combination is refused if a needed one is missing.",
        "\n".join(
            [
                "| ability | meaning |",
                "|---|---|",
                *(f"| `{name}` | {text} |" for name, text in ABILITIES.items()),
            ]
        ),
        "```{toctree}\n:hidden:\n\n" + "\n".join(f"plugins/{_page(row)}" for row in rows) + "\n```",
    ]
    return "\n\n".join(parts) + "\n"


def component_page(row: Installed) -> str:
    """One component: what it is, what it can and needs, its options, its source."""
    spec = read_spec(row)
    parts = [
        f"# {spec.name}",
        f"{ROLES[spec.role]}: {spec.summary}",
        f'From `{row.distribution}`; in a scenario `use = "{spec.name}"`.',
        *_facts(spec),
    ]
    for title, target in (("Options", spec.config), ("Initial state", spec.initial)):
        if target:
            options = describe_options(load_target(target))
            parts += [f"## {title}", option_table(options) if options else "There are none."]
    if spec.citation:
        parts += ["## Source", spec.citation]
    return "\n\n".join(parts) + "\n"


def _facts(spec: ComponentSpec) -> Iterator[str]:
    lines = [
        f"- can `{ability}`" + (f": {ABILITIES[ability]}" if ability in ABILITIES else "")
        for ability in sorted(spec.provides)
    ]
    for role, needed in spec.requires.items():
        that_can = f" that can {', '.join(f'`{each}`' for each in sorted(needed))}" if needed else ""
        lines.append(f"- needs beside it: {ROLES[role]}{that_can}")
    if lines:
        yield "\n".join(lines)


def _sections(options: Iterable[Option]) -> Iterator[str]:
    """The options of a scenario under a heading a table of the file."""
    groups: dict[str, list[Option]] = {}
    for option in options:
        groups.setdefault(option.name.partition(".")[0].removesuffix("[]"), []).append(option)
    single = [group[0] for group in groups.values() if len(group) == 1]
    yield "## Top level"
    yield option_table(single)
    for name, group in groups.items():
        if len(group) > 1:
            yield f"## `{name}`"
            yield f"{group[0].help[0].upper()}{group[0].help[1:]}."
            yield option_table(group[1:])


def _docstring(cls: type) -> str:
    lines = (cls.__doc__ or "").strip().splitlines()
    indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    cut = min(indents, default=0)
    body = "\n".join(line[cut:] for line in lines[1:]).strip("\n")
    return f"{lines[0]}\n\n```text\n{body}\n```" if body else lines[0]


def _page(row: Installed) -> str:
    return f"{row.role}.{row.name}"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
