"""Drawing of results with matplotlib (extra `plot`), one module for each family of methods."""
