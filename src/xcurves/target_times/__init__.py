"""How soon algorithms reach a score."""
