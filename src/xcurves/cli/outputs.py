"""What a command prints for programs: one JSON object, a summary for GitHub, and the exit status of `--better`."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import xarray as xr

from xcurves.core.labels import did_you_mean
from xcurves.core.refusal import DATA, UNSAID, Refusal
from xcurves.core.scales import NULLS
from xcurves.say.numbers import decimals_of, interval, p_text, rounded

# Exit statuses, besides 2 of input that cannot be used.
DONE, NOT_BETTER, UNDECIDED, UNEXPECTED = 0, 1, 3, 4
_SUMMARY = "GITHUB_STEP_SUMMARY"
_MOST_PAIRS = 20  # of a summary


def check_outputs(options: argparse.Namespace) -> None:
    """Refuse options of output that do not go together."""
    several = len(getattr(options, "value", None) or []) > 1
    if several and getattr(options, "better", None):
        raise Refusal("better", options.better, "--better is about one score, and --value names several", "Name one")
    if options.github and options.json and _SUMMARY not in os.environ:
        raise Refusal(
            "github", UNSAID, f"--github prints to stdout without {_SUMMARY}, as --json does", "Leave one out"
        )


@contextmanager
def silent(options: argparse.Namespace) -> Iterator[None]:
    """Print no sentences where stdout is for JSON only."""
    options.stdout = sys.stdout
    if not options.json:
        yield
        return
    with redirect_stdout(io.StringIO()):
        yield


def keep_answer(tree: xr.DataTree, options: argparse.Namespace) -> None:
    """Make the answer for programs of an analysis, where something is to be written or decided of it."""
    if options.json or options.github or options.better is not None:
        from xcurves.reporting.answer import to_dict

        options.answers.append(to_dict(tree))


def text_of_error(error: Exception, options: argparse.Namespace) -> str:
    """Return why a command was refused as JSON in one line, with the option at fault and what was typed for it."""
    if not isinstance(error, Refusal):
        error = Refusal("", UNSAID, str(error.args[0] if isinstance(error, KeyError) and error.args else error))
    from xcurves.reporting.answer import of_refusal

    answer = of_refusal(error)
    told = answer["error"]
    if told["argument"] in DATA:
        told["argument"] = "archive"
    typed = getattr(options, told["argument"] or "", None)
    if told["value"] is None and isinstance(typed, str | float | int | Path) and not isinstance(typed, bool):
        told["value"] = typed if isinstance(typed, str | float | int) else str(typed)
    return text_of_json(answer)


def text_of_json(answer: Mapping[str, Any]) -> str:
    """Return an object as JSON in one line."""
    return json.dumps(answer, allow_nan=False)


def print_at_once(answer: Mapping[str, Any], options: argparse.Namespace) -> None:
    """Print an answer while its command goes on, if JSON is asked for; it is not printed again at the end."""
    options.is_printed = True
    if options.json:
        print(text_of_json(answer), file=options.stdout, flush=True)


def print_outputs(answers: Sequence[Mapping[str, Any]], options: argparse.Namespace, status: int) -> None:
    """Print answers as JSON, an object a line, and write the summary for GitHub, where they are asked for."""
    if options.json and not getattr(options, "is_printed", False):
        for answer in answers:
            print(text_of_json(answer))
    if not options.github:
        return
    text = "".join(f"{as_markdown(answer, status)}\n" for answer in answers)
    place = os.environ.get(_SUMMARY)
    if place is None:
        print(text, end="")
        return
    with Path(place).open("a", encoding="utf-8") as file:
        file.write(text)


def as_markdown(answer: Mapping[str, Any], status: int) -> str:
    """Return an answer as Markdown: the verdict, its pairs, and what the exit status means."""
    lines = [f"**{_escaped(answer['verdict'])}**", ""]
    pairs = answer["pairs"][:_MOST_PAIRS]
    if pairs:
        lines += ["| pair | difference | interval | p | shown |", "|:--|--:|--:|--:|:--|"]
        lines += [_row(pair) for pair in pairs]
        more = len(answer["pairs"]) - len(pairs)
        lines += [f"{more} more pairs."] * (more > 0) + [""]
    lines += [f"{_escaped(caution)}\n" for caution in answer["cautions"]]
    lines.append(f"Exit status {status}: {meaning(status)}.")
    return "\n".join(lines) + "\n"


def _row(pair: Mapping[str, Any]) -> str:
    """Return a pair as a row of a table."""
    low, high = (float("nan") if end is None else end for end in pair["ci"] or (None, None))
    difference, p = (float("nan") if pair[name] is None else pair[name] for name in ("difference", "p"))
    cells = [
        _escaped(f"{pair['first']} and {pair['second']}"),
        rounded(difference, decimals_of(low, high, difference)),
        interval(low, high, estimate=difference, null=NULLS[pair["scale"]] if pair["shown"] else None),
        p_text(p),
        "yes" if pair["shown"] else "",
    ]
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Return text that Markdown takes as it is, in one line."""
    plain = " ".join(text.split())
    return "".join(f"\\{letter}" if letter in "\\`*_<>|[]#" else letter for letter in plain)


def meaning(status: int) -> str:
    """Return what an exit status says."""
    return {
        DONE: "done, or shown",
        NOT_BETTER: "shown not to be better, or dropped",
        UNDECIDED: "neither is shown, or more runs are needed",
    }[status]


def check_better(name: str | None, curves: xr.DataArray) -> None:
    """Refuse a name that is no algorithm before anything is compared or written."""
    if name is not None:
        check_name(name, [str(label) for label in curves["algorithm"].to_numpy().tolist()])


def check_name(name: str, known: Collection[str]) -> None:
    """Refuse a name that is no algorithm."""
    if name not in known:
        cure = f"There are {', '.join(known)}{did_you_mean(name, known)}"
        raise Refusal("better", name, "must be an algorithm", cure)


def status_of_better(answer: Mapping[str, Any], name: str) -> int:
    """Return whether an algorithm is shown to be better than every other (0), not to be (1), or neither (3)."""
    names = list(dict.fromkeys(each["name"] for each in answer["algorithms"]))
    check_name(name, names)
    if not answer["pairs"] or any("task" in pair for pair in answer["pairs"]):
        what = f"--better {name} needs pairs of algorithms, over all tasks where there are several"
        raise Refusal("better", name, what, "Leave --include out")
    ahead = behind = 0
    for pair in answer["pairs"]:
        better, worse = better_first(pair, answer)
        if pair["shown"] and name == better:
            ahead += 1
        if pair["shown"] and name == worse:
            behind += 1
    if behind:
        return NOT_BETTER
    if ahead == len(names) - 1:
        return DONE
    return UNDECIDED


def better_first(pair: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[str, str]:
    """Return both of a pair, the better one first: pairs with a reference keep their order and sign."""
    first, second = pair["first"], pair["second"]
    if "reference" not in answer["settings"] or pair["difference"] is None:
        return first, second
    higher = answer["settings"].get("higher_is_better", 1) == 1
    if (pair["difference"] > 0) == higher:
        return first, second
    return second, first
