"""The sentences of `summary()`, one module for each family of methods."""
