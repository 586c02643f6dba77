"""Group-sequential tests: run more seeds and look again."""
