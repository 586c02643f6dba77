"""How the shell reads refusals: arguments and calls of Python as options, and the command that cures."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shlex import join, quote
from typing import Any

import numpy as np

from xcurves.cli.options import NONE, WORST, command_with, needs_filling, repeats_scores
from xcurves.core.labels import DIMS
from xcurves.core.refusal import UNSAID, Audience, Call, Choices, Proposal, Refusal, Verbatim, Words

_LEVELS = Verbatim("START:STOP:STEP")
_NAME = Verbatim("NAME")
# Options of one value that a cure replaces, with those that do not go with it.
_GIVES_WAY = {
    "--align": ("--method", "--tolerance", "--runs-short"),
    "--runs-short": (),
    "--names": ("--folders",),
    "--not-paired": ("--paired",),
}
_OF_SEVERAL = ("--folders",)
_FLAGS = ("--paired",)  # without a value
_RENAMED = {"on": "align", "coords": "by"}  # arguments whose options have other names


class Shell(Audience):
    """Readers who type the options of one command."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options

    def argument(self, name: str, value: object = UNSAID) -> str:
        """Return an argument as its option, with its value where that is said."""
        name = _RENAMED.get(name, name)
        if name not in self.options:
            return super().argument(name, value)
        if isinstance(value, bool):
            return _flag(name, given=value)
        words = [_dashed(name)]
        if not isinstance(value, Verbatim) or value:
            words += _values(value)
        return join(words)

    def call(self, call: Call) -> str:
        """Return a call as options; as Python where the command has none for it."""
        words = self.options_of(call)
        if words is None:
            return super().call(call)
        written = [str(word) if isinstance(word, Verbatim) else quote(word) for word in words]
        return " ".join(written).rstrip()

    def words(self, words: Words) -> str:
        """Return words for readers who write no code."""
        return words.shell.replace("PATH", str(self.options.archive))

    def proposal(self, proposal: Proposal) -> str:
        """Return the whole command that settles a question."""
        added = self.options_of(proposal.settles)
        assert added is not None
        if ("missing_scores", "failed") in dict(proposal.settles.options).items() and needs_filling(self.options):
            added += ["--fill-failed", WORST]
        return command_with(self.options, added)

    def options_of(self, call: Call) -> list[str] | None:
        """Return a call as options with their values, None if the command has none for it."""
        given = dict(call.options)
        name = call.name.rpartition(".")[2]
        words: list[str] | None = None
        if not name or name == "read":
            words = self._of_arguments(given)
        elif name == "align":
            words = _of_align(call.arguments[0], given)
        elif name == "drop_incomplete":
            words = ["--drop-incomplete"]
        elif name == "normalize":
            words = ["--normalize", "minmax"]
        elif name == "fill_failed":
            words = self._of_failures(call.arguments[0], given)
        elif name == "sel":
            words = _of_selection(given)
        elif name == "assign_attrs":
            words = self._of_arguments(given)
        elif name == "groupby" and call.next is not None:
            return _of_selection({call.arguments[0]: call.next.arguments[0]})
        elif name == "to_dataarray" and _is_table(self.options):
            words = self._of_arguments(given)
        elif name == "rename":
            words = _of_dims(given)
        if words is None or call.next is None:
            return words
        following = self.options_of(call.next)
        if following is None:
            return None
        return words + following

    def _of_arguments(self, given: Mapping[str, Any]) -> list[str] | None:
        """Return arguments of the call that was refused."""
        words: list[str] = []
        if "on" in given or "relative_to" in given:
            of_align = {name: given[name] for name in ("relative_to", "method", "runs_short") if name in given}
            return _of_align(given.get("on", 20), of_align)
        for name, value in given.items():
            of_one = self._of_argument(name, value)
            if of_one is None:
                return None
            words += of_one
        return words

    def _of_argument(self, name: str, value: object) -> list[str] | None:
        name = _RENAMED.get(name, name)
        if name == "higher_is_better":
            return ["--higher-is-better" if value else "--lower-is-better"]
        if name == "task" and name not in self.options:
            return ["--extra", *_values(value)]
        if name == "reference" and name not in self.options:
            return ["--select", Verbatim(f"algorithm={_NAME}")]
        if name not in self.options:
            return None
        if isinstance(value, bool):
            return [_flag(name, given=value)]
        if value is None:
            value = NONE
        return [_dashed(name), *_values(value)]

    def _of_failures(self, replacement: object, given: Mapping[str, Any]) -> list[str]:
        """Return what failed runs count as; what later runs change is no cure where scores are repeated."""
        if replacement == "worst" and repeats_scores(self.options):
            return [
                "--fill-failed",
                Verbatim("SCORE, a number that no later run changes"),
            ]
        words = ["--fill-failed", *_values(replacement)]
        if given.get("higher_is_better") is False:
            words.append("--lower-is-better")
        return words

    def command_that_cures(self, refusal: Refusal) -> str:
        """Return the whole command with the first cure that stands alone, "" if there is none."""
        commands = (self._command_with(call) for call in refusal.cure.calls)
        return next((command for command in commands if command), "")

    def choices_of(self, refusal: Refusal) -> list[str]:
        """Return what is refused and the whole commands of which one is right, with when; none if there is only one."""
        if not isinstance(refusal.cure, Choices):
            return []
        lines: list[str] = []
        opening, when = "", ""
        for piece in refusal.cure:
            if isinstance(piece, str):
                if not lines:
                    opening += when
                when = piece
            elif isinstance(piece, Call):
                command = self._command_with(piece)
                if command:
                    lines.append(f"{command}  # {when.strip('; ,')}")
        if len(lines) < 2:
            return []
        problem = f"{refusal.problem}. {opening.strip(': ')}".rstrip(". ")
        return [f"{problem}. Type the one that is right:", *lines]

    def _command_with(self, call: Call) -> str:
        """Return the whole command with what a call says, "" if the command has nothing for it or has it already."""
        given: list[str] = getattr(self.options, "given", [])
        added = self.options_of(call)
        if not given or not added or any(isinstance(word, Verbatim) for word in added):
            return ""
        option = added[0]
        # What failed runs count as was said already.
        if "--fill-failed" in given and "--fill-failed" in added[1:]:
            added = added[: added.index("--fill-failed")]
        # An option that was given is replaced where it takes one value.
        if option in given and (option not in _GIVES_WAY or added[1:] == _values_of(given, option)):
            return ""
        kept = given
        if option in _GIVES_WAY:
            kept = _without(given, [option, *_GIVES_WAY[option]])
        return command_with(argparse.Namespace(archive=self.options.archive, given=kept), added)


def _is_table(options: argparse.Namespace) -> bool:
    """Return whether rows are read, whose training was not typed."""
    from xcurves.cli.sources import is_archive  # which most refusals do without

    path: Path | None = options.archive
    return options.training is None and path is not None and path.exists() and not is_archive(path)


def _dashed(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _flag(name: str, *, given: bool) -> str:
    """Return the option of what is or is not so; of pairs there are both."""
    if name == "paired" and not given:
        return "--not-paired"
    return _dashed(name)


def _values(value: object) -> list[str]:
    """Return a value as words; one that is to be filled in stays what it is."""
    if isinstance(value, Verbatim):
        return [value]
    if isinstance(value, list | tuple):
        return [str(each) for each in value]
    return [str(value)]


def _of_align(on: object, given: Mapping[str, Any]) -> list[str] | None:
    """Return the levels that runs are brought to, and what short runs are."""
    levels: str
    if given.get("relative_to") == "budget":
        levels = "budget" if on == 20 else f"budget:{on}"
    elif isinstance(on, Call):
        levels = _listed(np.linspace(*on.arguments))
    elif isinstance(on, Verbatim):
        levels = _LEVELS
    elif isinstance(on, str):
        levels = on
    elif isinstance(on, list):
        levels = _listed(on)
    else:
        return None
    words = ["--align", levels]
    if "method" in given:
        words += ["--method", given["method"]]
    if "runs_short" in given:
        words += ["--runs-short", given["runs_short"]]
    return words


def _listed(levels: Iterable[float]) -> str:
    return ",".join(f"{level:.12g}" for level in levels)


def _of_selection(given: Mapping[str, Any]) -> list[str]:
    """Return labels of dims that are kept."""
    words = []
    for dim, label in given.items():
        words += ["--select", f"{dim}={label}"]
    return words


def _of_dims(given: Mapping[str, Any]) -> list[str] | None:
    """Return names that are given another meaning, if all are of algorithms, runs or training."""
    words = []
    for name, dim in given.items():
        if dim not in DIMS:
            return None
        words += [f"--{dim}", name]
    return words


def _values_of(given: Sequence[str], option: str) -> list[str]:
    """Return the one value of an option, if it has one."""
    after = given.index(option) + 1
    return [value for value in given[after : after + 1] if not value.startswith("--")]


def _without(given: Sequence[str], gone: Sequence[str]) -> list[str]:
    """Return arguments without some options and what follows them."""
    kept = list(given)
    for option in gone:
        while option in kept:
            begin = kept.index(option)
            end = begin + 1
            if option not in _FLAGS:
                end += len(_values_of(kept, option))
            if option in _OF_SEVERAL:
                end = begin + 1
                while end < len(kept) and not kept[end].startswith("--"):
                    end += 1
            del kept[begin:end]
    return kept
