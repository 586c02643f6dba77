"""Pictures of curves, and of any result by its views."""
