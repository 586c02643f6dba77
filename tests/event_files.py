"""Event files of TensorBoard for tests of readers."""

import pytest


def event_writer(folder, **options):
    """Return a writer of event files; its package is imported where a test needs it, as it may import others."""
    pytest.importorskip("tensorboard")
    return pytest.importorskip("tensorboardX").SummaryWriter(str(folder), **options)
