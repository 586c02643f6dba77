"""What all families of methods share: the schema of results, validation, packing, chunks, provenance, axes."""
