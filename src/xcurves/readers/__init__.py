"""Readers of what other packages log: each function returns a tidy frame for `xcurves.to_dataarray`."""

from xcurves.readers import monitor, sklearn, tensorboard, wandb

__all__ = ["monitor", "sklearn", "tensorboard", "wandb"]
