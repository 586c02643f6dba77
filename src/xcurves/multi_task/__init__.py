"""One answer for many tasks."""

from typing import TYPE_CHECKING

# the public functions; `xcurves` imports them when they are first used
if TYPE_CHECKING:
    from xcurves.multi_task.across_tasks import across_tasks as across_tasks
    from xcurves.multi_task.profile_across_tasks import (
        profile_across_tasks as profile_across_tasks,
    )
