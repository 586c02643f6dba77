"""The exact words of errors and warnings: all that `pytest.raises` and `pytest.warns` catch, in messages.json.

A test matches the argument and the cure of a message; this file has its words. ``pytest -m '' --update-messages``
writes the messages of the tests that it runs.
"""

import json
import re
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

SNAPSHOT = Path(__file__).with_suffix(".json")
# What an engine says, where an object is, how many bytes, and under what name and number other packages wrote.
_FOREIGN = re.compile(
    r"(?<=cannot be read as a complete archive:).*|(?<= at )0x\w+|\d+(?= bytes)|(?<=tfevents\.)\w[^:]*(?=:)"
    r"|(?<=Experiment id: )\d+|(?<=\"worker_id\":\").*"
)


class Recorded:
    """A context manager of pytest, and a list that gets the messages that it catches."""

    def __init__(self, context, messages, words):
        self.context, self.messages, self.words = context, messages, words

    def __enter__(self):
        self.caught = self.context.__enter__()
        return self.caught

    def __exit__(self, *error):
        suppressed = self.context.__exit__(*error)
        self.messages.extend(self.words(self.caught))
        return suppressed


def of_error(caught):
    """Return an error of the package, after the function that was called; a foreign cause has words of its own."""
    calls = [call.frame.raw for call in caught.traceback]
    ours = [call for call in calls if call.f_globals.get("__name__", "").startswith("xcurves.")]
    entered = [call for call in ours if not call.f_globals["__name__"].startswith("xcurves.accessors")]
    if calls[-1] not in ours or caught.value.__cause__ is not None:
        return []
    first = (entered or ours)[0]
    return [f"{first.f_globals['__name__']}.{first.f_code.co_qualname}: {caught.typename}: {caught.value}"]


def of_warnings(caught):
    return [f"{each.category.__name__}: {each.message}" for each in caught if each.category is UserWarning]


@cache
def saved():
    """Return the messages of each test."""
    return json.loads(SNAPSHOT.read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def exact_messages(request, monkeypatch, tmp_path_factory):
    """Compare the messages that a test catches with those of the snapshot, or put them there."""
    messages = []
    for name, words in (("raises", of_error), ("warns", of_warnings)):
        original = getattr(pytest, name)

        def recorded(*args, original=original, words=words, **kwargs):
            return Recorded(original(*args, **kwargs), messages, words)

        monkeypatch.setattr(pytest, name, recorded)
    yield
    # Drawn input, other processes, and other packages' names of types give other words.
    elsewhere = any(request.node.get_closest_marker(each) for each in ("cluster", "environment"))
    if elsewhere or hasattr(request.function, "hypothesis") or pd.__version__ < "3":
        return
    name = request.node.nodeid.removeprefix("tests/")
    place = re.escape(str(tmp_path_factory.getbasetemp()))
    found = [_FOREIGN.sub("...", re.sub(rf"{place}/[^/'\s]*", "TMP", each)) for each in messages]
    if not request.config.getoption("--update-messages"):
        assert found == saved().get(name, []), "python -m pytest --update-messages writes the new words"
    elif found != saved().get(name, []):
        update(name, found)


def update(name, found):
    """Write the messages of one test; processes take turns."""
    import fcntl  # not on Windows

    with SNAPSHOT.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        kept = {**json.loads(file.read() or "{}"), name: found}
        file.truncate(0)
        json.dump({key: kept[key] for key in sorted(kept) if kept[key]}, file, indent=1, ensure_ascii=False)
        file.write("\n")
