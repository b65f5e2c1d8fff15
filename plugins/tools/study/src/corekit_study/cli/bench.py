"""`corekit bench`: the benchmarks of a checkout, each a script that measures itself against a reference.

The protocol: `benchmarks/<name>.py --json` prints one JSON object, case → numbers, among them `ratio`, our time
over that of a reference measured in the same process and run. Its docstring's first line says what it measures.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

import corekit
from corekit.cli import FAILED, MISUSE, print_error
from corekit.cli.terminal import make_console
from corekit.interpreters import python_command
from corekit.registry.resolve import did_you_mean

__all__ = ["bench"]


def bench(
    name: str = "",
    /,
    *,
    listing: Annotated[bool, Parameter(name="--list", negative="")] = False,
    json_file: Annotated[Path | None, Parameter(name="--json")] = None,
    files: Annotated[Path | None, Parameter(name="--files")] = None,
    peers: Annotated[bool, Parameter(name="--peers", negative="")] = False,
    dismech: Annotated[str, Parameter(name="--dismech")] = "",
) -> int | None:
    """Run the benchmarks of a checkout, or one of them.

    Parameters
    ----------
    name
        Which; all without it.
    listing
        Only say what there is.
    json_file
        Write all numbers as JSON.
    files
        With `contact`: a folder of contact problems (`*.hdf5`, `*.h5`) of FCLib, on which every installed solver runs.
    peers
        With `rods`: also beside PyElastica, which has to be installed, at equal error.
    dismech
        With `--peers`: also beside this program, a compiled example of DisMech of its paper's Table II; words after its
        name, as one argument in quotes, are the program's own.
    """
    from corekit_run.output_file import check_output, write_json

    check_output(json_file, "--json")
    if files is not None or name == "contact":
        return _bench_contact(name, files, json_file)
    root = Path(corekit.__file__).resolve().parents[1]
    scripts = {path.stem: path for path in sorted((root / "benchmarks").glob("*.py"))}
    if not scripts or not (root / "pyproject.toml").is_file():
        print_error(
            f"corekit bench needs a checkout of the project, with its folder `benchmarks`; this corekit is "
            f"installed in {root}, without it. Clone the project and run `make test` there first."
        )
        return MISUSE
    if name and name not in scripts:
        print_error(
            f"unknown benchmark {name!r}{did_you_mean(name, scripts)}; there are {', '.join(scripts)}"
        )
        return MISUSE
    chosen = [scripts[name]] if name else list(scripts.values())
    if peers or dismech:
        beside = root / "benchmarks" / "peers" / f"{name}.py"
        if not beside.is_file():
            print_error(
                "peers are measured by `corekit bench rods --peers`, with `--dismech PROGRAM` if it is there"
            )
            return MISUSE
        chosen.insert(0, beside)  # what it lacks shows at once, and not after minutes of measuring ours
    if listing:
        for path in chosen:
            print(f"{path.stem}: {_first_line(path)}")
        return None
    more = ["--dismech", dismech] if dismech else []
    measured: dict[str, dict[str, dict[str, Any]]] = {}
    for path in chosen:
        is_peer = path.parent.name == "peers"
        found = _measured(path, more if is_peer else [])
        if found is not None:
            measured["/".join(path.relative_to(root / "benchmarks").with_suffix("").parts)] = found
        elif is_peer:
            return FAILED
    _print(measured)
    write_json(json_file, measured)
    return None if len(measured) == len(chosen) else FAILED


def _bench_contact(name: str, folder: Path | None, json_file: Path | None) -> int | None:
    """Run every installed contact solver on files; FAILED if one was falsely solved or cannot be read."""
    from attrs import asdict

    from corekit_run.output_file import write_json
    from corekit_study.contact_bench import run_solvers

    if name != "contact" or folder is None:
        print_error("contact problems are run by `corekit bench contact --files DIR`")
        return MISUSE
    paths = sorted(path for end in ("*.hdf5", "*.h5") for path in folder.glob(end))
    if not paths:
        print_error(f"{folder} has no files *.hdf5 or *.h5 of contact problems")
        return MISUSE
    results, unread = run_solvers(paths)
    for line in unread:
        print_error(line)
    print(f"{'file':40} {'solver':12} {'outcome':15} {'time [s]':>10} {'cone [m/s]':>11}")
    for each in results:
        print(f"{each.file:40} {each.solver:12} {each.outcome:15} {each.seconds:10.3g} {each.residual:11.2e}")
    write_json(json_file, [asdict(each) for each in results])
    return FAILED if unread or any(each.outcome == "falsely solved" for each in results) else None


def _first_line(path: Path) -> str:
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return said.partition("\n")[0]


def _measured(path: Path, arguments: Sequence[str]) -> dict[str, dict[str, Any]] | None:
    """Case → numbers; None, and a line on the error stream, if the script does not keep the protocol."""
    print(f"{path.stem}: {_first_line(path)}", file=sys.stderr, flush=True)
    done = subprocess.run(
        python_command(str(path), "--json", *arguments), stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        print_error(f"{path.stem} failed with exit code {done.returncode}")
        return None
    try:
        found = json.loads(done.stdout)
    except json.JSONDecodeError as error:
        print_error(f"{path.stem} did not print JSON: {error}")
        return None
    if not isinstance(found, dict) or not all(
        isinstance(each, dict) and "ratio" in each for each in found.values()
    ):
        print_error(f"{path.stem} did not print an object of cases, each with a `ratio`")
        return None
    return found


def _print(measured: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    console = make_console()
    for name, cases in measured.items():
        columns = list(dict.fromkeys(key for numbers in cases.values() for key in numbers if key != "ratio"))
        table = Table(box=SIMPLE_HEAD, title=name, title_justify="left")
        table.add_column("case")
        for column in ("ratio", *columns):
            table.add_column(column, justify="right")
        for case, numbers in cases.items():
            table.add_row(case, *_cells(numbers, ("ratio", *columns)))
        console.print(table)


def _cells(numbers: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    values = [numbers.get(column, "") for column in columns]
    return [f"{value:.4g}" if isinstance(value, float) else str(value) for value in values]
