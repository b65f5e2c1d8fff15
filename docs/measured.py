"""The page of what was reproduced, and the front page's table of measures, from one report.

    corekit reproduce --all --jobs 2 --out FOLDER --json REPORT.json     where nothing else runs
    python docs/measured.py REPORT.json

writes `reproduced.json` with every row of the report, and from that `reproduced.md` and README's table; without a
report both anew, of the rows that are there. The table's text is `measures.md`. In it `{case @ quantity @ format}`
stands for a value of ours: the format is Python's, after it a factor may follow, `.2g*1000` for ms of a value in s. The
other figures are of runs that the report has not; their rows name the day and what measures them.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from corekit_study.reproduce_summary import page

__all__ = ["PLACE", "Values", "find_value", "is_whole", "main", "page_of", "table"]

DOCS = Path(__file__).parent
README, TEXT = DOCS.parent / "README.md", DOCS / "measures.md"
PAGE, VALUES = DOCS / "reproduced.md", DOCS / "reproduced.json"
PLACE = re.compile(r"\{([^{}]+?) @ ([^{}]+?)(?: @ ([^{}]+?))?\}")
"""A value's place in the text: case, quantity and format."""
_BEGIN, _END = "<!-- measures: by docs/measured.py -->\n", "<!-- end of measures -->\n"

Values = Mapping[str, Any]
"""`date`, `machine`, and `cases`: what the page needs of each report."""
_KEPT = ("case", "source", "citation", "verdict", "error", "wall_s", "rows")


def _machine() -> str:
    """Cores and name of this machine's processor."""
    name = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        found = re.search(r"^model name\s*:\s*(.+)$", information.read_text(encoding="utf-8"), re.MULTILINE)
        name = found[1] if found else name
    return f"{os.cpu_count()} cores, {name}"


def _distil(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is stored of a report."""
    cases = [{name: report[name] for name in _KEPT} for report in reports]
    return {"date": f"{datetime.now().astimezone():%Y-%m-%d}", "machine": _machine(), "cases": cases}


def is_whole(values: Values) -> bool:
    """Whether rows are there as the page needs them, and not their values alone."""
    return all("kind" in row for report in values["cases"] for row in report["rows"])


def page_of(values: Values) -> str:
    """The page, in Markdown."""
    return page(values["cases"], day=values["date"])


def find_value(values: Values, case: str, quantity: str) -> Any:
    """Ours of a quantity; of rows with one name the first.

    Raises:
        SystemExit: there is none.
    """
    rows = (row for report in values["cases"] if report["case"] == case for row in report["rows"])
    found = next((row["ours"] for row in rows if row["quantity"] == quantity), None)
    if found is None:
        raise SystemExit(f"measures.md asks for {quantity!r} of {case!r}, which the report has not")
    return found


def _value(values: Values, case: str, quantity: str, form: str | None) -> str:
    value = find_value(values, case, quantity)
    if isinstance(value, str) or form is None:
        return str(value)
    digits, _, factor = form.partition("*")
    # `.2g` of 112 is 1.1e+02: round by it, and write in full
    return f"{float(format(float(value) * float(factor or 1.0), digits)):.10g}"


def table(text: str, values: Values) -> str:
    """The table with its values, in Markdown."""
    about = {"{date}": values["date"], "{machine}": values["machine"]}
    for name, word in about.items():
        text = text.replace(name, word)
    return PLACE.sub(lambda found: _value(values, found[1], found[2], found[3]), text)


def main(arguments: Sequence[str]) -> None:
    """Write the files; `arguments` may name a report."""
    if arguments:
        values = _distil(json.loads(Path(arguments[0]).read_text(encoding="utf-8"))["cases"])
        VALUES.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        values = json.loads(VALUES.read_text(encoding="utf-8"))
    if not is_whole(values):
        raise SystemExit(f"{VALUES} holds no whole rows, of which the page is made: give it a report")
    PAGE.write_text(page_of(values), encoding="utf-8")
    made = table(TEXT.read_text(encoding="utf-8"), values)
    before, _, rest = README.read_text(encoding="utf-8").partition(_BEGIN)
    _, _, after = rest.partition(_END)
    README.write_text(before + _BEGIN + made + _END + after, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
