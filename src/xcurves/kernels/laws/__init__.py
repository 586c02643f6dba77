"""Learning curves and scaling laws: fits, predictions and what they are worth."""
