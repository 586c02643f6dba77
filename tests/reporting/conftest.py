import pytest

from xcurves.reporting import pictures


@pytest.fixture
def undrawn(monkeypatch):
    """Pages without pictures, for tests of their words."""
    monkeypatch.setattr(pictures, "draw", lambda *_, **__: None)
