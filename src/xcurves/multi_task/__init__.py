"""One answer for many tasks."""
