"""Learning curves: error as a power law of the training size, loss as a law of model size and tokens."""
