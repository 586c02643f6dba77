"""Messages as a shell's user can follow them: calls and arguments of Python become options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

from xcurves.cli.column_names import command_with
from xcurves.cli.options import repeats_scores

_ARGUMENTS = (
    "names|folders|source|algorithm|run|training|extra|value|duplicates|n_resamples|confidence_level|tolerance|"
    "method|rng|missing_scores|decimal"
)
# Options that a message may name with all that they need.
_WHOLE = re.compile(
    r"--align (?:budget(?::\d+)?|intersection|final|union|[\d.][-\d.,:e+]*(?: --method \w+)?)(?![\w(])"
    r"(?: --runs-short (?:failed|drop|cut)(?: --fill-failed worst)?)?"
    r"|--runs-short (?:failed|drop|cut)(?: --fill-failed worst)?"
    r"|--fill-failed (?:worst|[-\d.]*\d)(?: --lower-is-better)?"
    r"|--extra [^()]+(?=\))|--extra (?:'[^']+'|[^\s,;.]+)(?=\.)"
    r"|--drop-incomplete|--normalize minmax|--duplicates (?:first|last|mean|purge)|--resumed|--decimal [,.]"
    r"|--max-expanded [\d.e+]+(?=,)"
    r"|--(?:names|source|algorithm|run|training) (?:'[^']+'|[^\s,;|<]+)(?=$|[\s,;)])"
)
# Options of one value that a cure replaces, with those that do not go with it.
_GIVES_WAY = {
    "--align": ("--method", "--tolerance", "--runs-short"),
    "--runs-short": (),
    "--names": ("--folders",),
}
_OF_SEVERAL = ("--folders",)
_Written = str | Callable[[re.Match[str]], str]


def _option(match: re.Match[str]) -> str:
    return f"--{match['name'].replace('_', '-')} {_argument(match['value'])}".rstrip()


def _argument(value: str) -> str:
    """Return a literal of Python as a shell takes it."""
    labels = re.findall(r"'([^']*)'", value)
    if not labels:
        return value
    if value[:1] in "[(":
        return " ".join(map(_quoted, labels))
    return _quoted(labels[0])


def _quoted(text: str) -> str:
    """Return a word as a shell takes it."""
    if re.fullmatch(r"[\w./:=,%+@-]+", text):
        return text
    return f"'{text}'"


def _levels(match: re.Match[str]) -> str:
    return f"--align {re.sub(r'[ ]', '', match['levels'])}"


def _with_short_runs(match: re.Match[str]) -> str:
    """Return the options that bring runs to common levels and say what short ones are."""
    levels = re.sub(r"^'(\w+)'$", r"\1", match["levels"])
    levels = re.sub(r"^(\d+), relative_to='budget'$", r"budget:\1", levels)
    options = f"--align {levels} --runs-short {match['how']}"
    if match["filled"]:
        options += " --fill-failed worst"
    return options


_FILL = r"fill_failed\('worst'(?P<lower>, higher_is_better=False)?\)"


def _failed(match: re.Match[str]) -> str:
    """Return the option that says what failed runs count as, with the direction that makes them failures."""
    if match["lower"]:
        return "--fill-failed worst --lower-is-better"
    return "--fill-failed worst"


def _selected(match: re.Match[str]) -> str:
    """Return the option that keeps one label of a dim or column."""
    return f"--select {_quoted(match['dim'] + '=' + match['label'])}"


def _after_colon(match: re.Match[str]) -> str:
    return f": {_failed(match)}"


_CURES: tuple[tuple[str, _Written], ...] = (
    (
        r"(?:\w+)?\.?(?:curves\.)?align\((?P<levels>[^()]*|np\.linspace\([^()]*\)[^()]*), runs_short='(?P<how>\w+)'\)"
        r"(?P<filled>\.curves\.fill_failed\('worst'\))?",
        _with_short_runs,
    ),
    (r"(?:\w+)?\.?(?:curves\.)?align\(20, relative_to='budget'\)", "--align budget"),
    (
        r"(?:\w+)?\.?(?:curves\.)?align\((?P<levels>\d+), relative_to='budget'\)",
        r"--align budget:\g<levels>",
    ),
    (r"(?:\w+)?\.?(?:curves\.)?align\('(?P<levels>\w+)'\)", r"--align \g<levels>"),
    (
        r"(?:\w+)?\.?(?:curves\.)?align\(\[(?P<levels>[-\d., e+]+)\](?:, method='(?P<how>\w+)')?\)",
        _levels,
    ),
    (r"(?:\w+)?\.?(?:curves\.)?drop_incomplete\(\)", "--drop-incomplete"),
    (r"\w*\.?(?:curves\.)?normalize\([^()]*\)", "--normalize minmax"),
    (
        rf" with \.curves\.{_FILL} or compare ranks with [^()]*\([^()]*\)",
        _after_colon,
    ),
    (rf"(?:scores)?\.curves\.{_FILL}", _failed),
    (r"\.curves\.fill_failed\((?P<number>[-\d.]+)\)", r"--fill-failed \g<number>"),
    (
        r"leave either out(?!.*drop.incomplete)",
        "keep those that reach the same levels: --align START:STOP:STEP --drop-incomplete",
    ),
    (r"on='(?P<levels>\w+)' with", r"--align \g<levels> with"),
    (r"make gaps of such rows: pd\.to_numeric\(.*?\)", "leave it empty for a gap"),
    (
        r"Drop them: frame\.dropna\(.*?\), or name them: frame\.fillna\(.*?\)",
        "Delete these rows, or write a label",
    ),
    (r"with no on= and ", "with "),
    (r"(?<!, )\brelative_to='budget'", "--align budget"),
    (r"\bon=\[\.\.\.\]", "--align START:STOP:STEP"),
    (
        r"compare fewer with reference=(?:'[^']*')?",
        "compare fewer with --select algorithm=NAME",
    ),
    (
        rf"\b(?P<name>{_ARGUMENTS})=(?P<value>\[[^\]]*\]|\([^)]*\)|'[^']*'|\d+\b|(?=[\s,.;:)]|$))",
        _option,
    ),
    (r"task='(?P<task>[^']+)'", lambda match: f"--extra {_quoted(match['task'])}"),
    (
        r"da\.rename\((?P<dim>\w+)='training'\)",
        lambda match: f"--training {match['dim']}",
    ),
    (r"\bmax_expanded=(?P<bytes>[\d.e+]+)", r"--max-expanded \g<bytes>"),
    (r"curves\.attrs\['higher_is_better'\]", "--lower-is-better or --higher-is-better"),
    (r"\bhigher_is_better=False", "--lower-is-better"),
    (r"\bresumed=True", "--resumed"),
    (r"(?<!\w)\.sel\((?P<dim>\w+)='(?P<label>[^']*)'\)", _selected),
    (r"frame\[frame\['(?P<dim>[^']*)'\] == '?(?P<label>[^'\]]*)'?\]", _selected),
)


def in_shell(message: str) -> str:
    """Return a message whose cures are options."""
    for pattern, written in _CURES:
        message = re.sub(pattern, written, message)
    return message


def as_option(message: str, options: argparse.Namespace) -> str:
    """Return a message in one line; the argument that it begins with is written as its option."""
    if repeats_scores(options):
        message = re.sub(
            rf"(?:scores)?\.curves\.{_FILL}",
            "--fill-failed SCORE, a number that no later run changes",
            message,
        )
    first, _, rest = " ".join(message.split()).partition(" ")
    name, equals, value = first.partition("=")
    if first == "path":
        return in_shell(rest.replace("'", "", 2))
    if name not in options or not (equals or rest.startswith("must ")):
        return in_shell(f"{first} {rest}".strip())
    return in_shell(
        " ".join(filter(None, [f"--{name.replace('_', '-')}", value.strip("'"), rest]))
    )


def command_that_cures(message: str, options: argparse.Namespace) -> str:
    """Return the whole command with the first option that a message names, "" if it names none that stands alone."""
    given: list[str] = getattr(options, "given", [])
    if "Type" in message or "START:STOP:STEP" in message or not given:
        return ""
    for match in _WHOLE.finditer(message):
        option, _, value = match[0].partition(" ")
        if "'" in value:
            added = [option, value.strip("'")]
        else:
            added = [option, *value.split()]
        # What failed runs count as was said already.
        if "--fill-failed" in given and "--fill-failed" in added[1:]:
            added = added[: added.index("--fill-failed")]
        # An option that was given is replaced where it takes one value; what the message says of it is no cure.
        if option in given and (
            option not in _GIVES_WAY or added[1:] == _values_of(given, option)
        ):
            continue
        kept = given
        if option in _GIVES_WAY:
            kept = _without(given, [option, *_GIVES_WAY[option]])
        command = command_with(
            argparse.Namespace(archive=options.archive, given=kept), added
        )
        if message.endswith((".", "!")):
            return f" Type: {command}"
        return f". Type: {command}"
    return ""


def _values_of(given: list[str], option: str) -> list[str]:
    """Return the one value of an option, if it has one."""
    after = given.index(option) + 1
    return [value for value in given[after : after + 1] if not value.startswith("--")]


def _without(given: list[str], gone: list[str]) -> list[str]:
    """Return arguments without some options and what follows them."""
    kept = list(given)
    for option in gone:
        while option in kept:
            begin = kept.index(option)
            end = begin + 1 + len(_values_of(kept, option))
            if option in _OF_SEVERAL:
                end = begin + 1
                while end < len(kept) and not kept[end].startswith("--"):
                    end += 1
            del kept[begin:end]
    return kept
