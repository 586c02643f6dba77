"""What all families of methods share: the driver, the schema of results, validation, provenance, words, axes."""
