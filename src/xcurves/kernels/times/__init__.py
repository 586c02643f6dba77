"""Times at which runs and mean curves reach a target."""
