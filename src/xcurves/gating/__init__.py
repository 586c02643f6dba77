"""Keep or drop: a stream of candidates against a champion."""
