"""Inputs of the corpus with repeated rows, wide tables, numbers and arrays: see `corpus.py`."""

from __future__ import annotations

from frames.corpus import Input

INPUTS: dict[str, Input] = {}
