"""Attack everything, and write the counts into docs/reliability.md.

``cd tests/tools && python -m attack N [DAMAGES [KILLS [NAME ...]]]`` calls every public function, or those of the
names, N times, damages every format and kills every writer as often as is said (500 and 50 are usual), and rewrites the
tables of what was tried.
"""

from __future__ import annotations

import platform
import re
import sys
from collections import Counter

import xcurves
from attack import outcomes
from damage import FORMATS, try_damage
from kills import try_kills
from places import ROOT

PAGE_OF_COUNTS = ROOT / "docs" / "reliability.md"


def attack(name: str, number: int) -> Counter[str]:
    """Return how many calls gave a result, were refused, or did what they must not, which is printed."""
    counts = Counter(result=0, refused=0, fault=0)
    for seed in range(number):
        try:
            counts[outcomes.attempt(name, seed)] += 1
        except outcomes.Fault as fault:
            counts["fault"] += 1
            print(f"seed {seed}: {fault}", file=sys.stderr, flush=True)
    return counts


def table(head: list[str], rows: list[list[object]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def write(part: str, text: str) -> None:
    """Replace a part of the page, which stands between two comments."""
    page = PAGE_OF_COUNTS.read_text()
    begin, end = f"<!-- {part} -->\n", f"\n<!-- end of {part} -->"
    pattern = re.escape(begin) + ".*?" + re.escape(end)
    assert re.search(pattern, page, re.DOTALL), part
    PAGE_OF_COUNTS.write_text(re.sub(pattern, lambda _: begin + text + end, page, flags=re.DOTALL))


def rows_of_calls() -> dict[str, list[object]]:
    """Return the rows of functions that the page has."""
    lines = re.findall(r"^\| `(\w+)` \|(.*) \|$", PAGE_OF_COUNTS.read_text(), re.MULTILINE)
    return {name: [f"`{name}`", *counts.split()[::2]] for name, counts in lines}


def main(calls: int, damages: int = 0, kills: int = 0, *names: str) -> int:
    """Attack, write the page; return the number of faults."""
    versions = f"{platform.system()}, Python {platform.python_version()}, xcurves {xcurves.__version__}"
    n_faults = 0
    if calls:
        for name in names or outcomes.CALLABLE:
            counts = attack(name, calls)
            n_faults += counts["fault"]
            known = rows_of_calls() | {name: [f"`{name}`", counts.total(), *counts.values()]}
            rows = [known[each] for each in outcomes.CALLABLE if each in known]
            write(
                "calls",
                f"{versions}.\n\n{table(['function', 'calls', 'results', 'refused', 'faults'], rows)}",
            )
    if damages:
        found = {kind: try_damage(kind, damages) for kind in FORMATS}
        rows = [[kind, damages, *each.values()] for kind, each in found.items()]
        head = [
            "format",
            "bits flipped, files cut or lost",
            "refused",
            "unchanged",
            "changed",
        ]
        write("damage", f"{versions}.\n\n{table(head, rows)}")
        n_faults += sum(each["changed"] for each in found.values())
    if kills:
        rows = []
        for kind in [*FORMATS, "page"]:
            each = try_kills(kind, kills)
            name = "report, without pictures" if kind == "page" else kind
            rows.append([name, kills, *each.values(), kills - sum(each.values())])
        head = [
            "writer",
            "killed (SIGKILL)",
            "old archive at its path",
            "new archive at its path",
        ]
        write("kills", f"{versions}.\n\n{table([*head, 'none', 'damaged'], rows)}")
    return n_faults


if __name__ == "__main__":
    sys.exit(min(1, main(*map(int, sys.argv[1:4]), *sys.argv[4:])))
