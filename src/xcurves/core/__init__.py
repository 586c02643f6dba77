"""What every family of methods stands on: the schema of results, validation, packing, chunks, provenance, axes."""
