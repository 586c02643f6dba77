"""Inputs of the corpus in formats of packages: see `corpus.py`."""

from __future__ import annotations

from frames.corpus import Input

INPUTS: dict[str, Input] = {}
