"""Learning curves: error as a power law of the training size, what it predicts, and learners compared by it."""
