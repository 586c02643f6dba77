"""Group-sequential tests: run more seeds and look again."""

from typing import TYPE_CHECKING

# the public functions; `xcurves` imports them when they are first used
if TYPE_CHECKING:
    from xcurves.group_sequential.looks import assign_looks as assign_looks
    from xcurves.group_sequential.sequential import sequential as sequential
