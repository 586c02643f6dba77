"""The main job from a shell: logs or an archive in; tables, sentences, an archive and a page out."""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
import warnings
from argparse import Namespace
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from xcurves.cli.shell_words import Shell
    from xcurves.core.refusal import Refusal

# New objects before garbage is looked for, 700 by default: most that a command makes stay, as modules and their classes
# do, and looking through them again and again took a twentieth of its time.
_OBJECTS = 100_000

_BAD_INPUT = (
    OSError,
    EOFError,
    MemoryError,
    ValueError,
    TypeError,
    KeyError,
    ImportError,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    from xcurves.cli.options import ROOMS, program, settle

    given = sys.argv[1:] if arguments is None else list(arguments)
    run: Callable[[Namespace], int]
    if "sources" in given and set(given) <= {"sources", "--json"}:
        from xcurves.readers import SOURCES, listing

        as_words = listing.as_json if "--json" in given else listing.as_text
        print(as_words(SOURCES))
        return 0
    if given[:1] and given[0] in ROOMS:
        command = import_module(ROOMS[given[0]]).COMMANDS[given[0]]
        options, run = command.parser().parse_args(given[1:]), command.run
    else:
        from xcurves.cli.options import parser

        options = parser().parse_args(given)
        from xcurves.cli.job import run_job as run
    options.given = given  # for messages that say what to type
    options.answers = []  # for programs, as the command makes them
    settle(options)
    from xcurves.cli import outputs
    from xcurves.cli.shell_words import Shell
    from xcurves.core.doubts import Doubtful
    from xcurves.core.refusal import Refusal, written_for

    shell = Shell(options)
    with warnings.catch_warnings(), written_for(shell):
        warnings.simplefilter("ignore")  # deprecation warnings of libraries
        warnings.simplefilter("default", UserWarning)
        warned: set[str] = set()
        warnings.showwarning = lambda message, *_: _warn(str(message), warned)
        try:
            outputs.check_outputs(options)
            with outputs.silent(options):
                status = run(options)
            outputs.print_outputs(options.answers, options, status)
            sys.stdout.flush()
        except BrokenPipeError:
            return _without_reader()
        except KeyboardInterrupt as stop:
            written = ", ".join(map(str, stop.args))
            _say(
                f"interrupted, {f'written before: {written}' if written else 'nothing written'}",
            )
            return 130
        except Exception as error:
            if options.json:
                print(outputs.text_of_error(error, options))
            if options.traceback:
                # Python's own exit status is 1, which is a decision
                traceback.print_exc()
                return 2 if isinstance(error, _BAD_INPUT) else outputs.UNEXPECTED
            if isinstance(error, Doubtful):  # whose commands are lines of their own
                print(f"{program()}: {error}", file=sys.stderr)
                return 2
            if isinstance(error, Refusal):
                _refuse(error, shell)
                return 2
            message = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
            if isinstance(error, _BAD_INPUT):
                _say(message)
                return 2
            _say(
                f"{type(error).__name__}: {message}. This is unexpected; --traceback shows where",
            )
            return outputs.UNEXPECTED
    return status


def _warn(message: str, warned: set[str]) -> None:
    """Say a warning once."""
    if message not in warned:
        warned.add(message)
        _say(f"warning: {message}")


def _say(message: str) -> None:
    """Print a message in one line."""
    from xcurves.cli.options import program

    print(f"{program()}: {' '.join(message.split())}", file=sys.stderr)


def _refuse(refusal: Refusal, shell: Shell) -> None:
    """Say what is refused, and the whole command that cures it."""
    choices = shell.choices_of(refusal)
    if choices:
        _say(choices[0])
        print(*choices[1:], sep="\n", file=sys.stderr)
        return
    said = str(refusal)
    command = shell.command_that_cures(refusal)
    if command:
        said = f"{said.rstrip('.')}. Type: {command}"
    _say(said)


def shell() -> NoReturn:
    """Run the command line as a process: what `xcurves` and `python -m xcurves` call."""
    gc.set_threshold(_OBJECTS)
    os.environ.setdefault("MPLBACKEND", "agg")  # pictures are written to files: no toolkit of windows is looked for
    signal.signal(signal.SIGTERM, _terminate)
    if sys.stdout is None:
        print("xcurves: stdout is closed. Give it a place: > /dev/null", file=sys.stderr)
        sys.exit(2)
    try:
        try:
            status = main()
        finally:
            sys.stdout.flush()  # also of what argparse and the list of sources print
        sys.exit(status)
    except BrokenPipeError:
        sys.exit(_without_reader())
    except KeyboardInterrupt:  # while it imports
        print("python -m xcurves: interrupted, nothing written", file=sys.stderr)
        sys.exit(130)


def _without_reader() -> int:
    """Return the exit status where nobody reads what is printed; nothing more is."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


def _terminate(*_: object) -> NoReturn:
    sys.exit(143)  # so that clean-up code runs


if __name__ == "__main__":
    shell()
