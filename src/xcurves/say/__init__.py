"""Numbers, tables and sentences of any result, for its readers."""
