"""Options in lines that a terminal shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from corekit.cli.terminal import make_console

__all__ = ["print_options"]


def print_options(title: str, options: Sequence[Mapping[str, str]]) -> None:
    """Print options, as `corekit_inspect.option_table` describes them, under a title."""
    from rich.padding import Padding
    from rich.text import Text

    console = make_console()
    if options:
        console.print(f"\n{title}")
    for option in options:
        unit = f" [{option['unit']}]" if option["unit"] else ""
        value = "required" if option["default"] == "required" else f"default {option['default']}"
        facts = [option["type"], value, *filter(None, [option["allowed"]])]
        console.print(Text.assemble("  ", (option["name"], "bold"), unit, f"  {', '.join(facts)}"))
        if option["help"]:
            console.print(Padding(Text(option["help"]), (0, 0, 0, 6)))
