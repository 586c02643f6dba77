"""Write `tests/said.txt` anew: every sentence and table of about sixty results. Then read what changed.

python tests/tools/said.py && git diff --word-diff tests/said.txt
"""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))

from said_inputs import CASES, made, written  # noqa: E402

text = "\n\n".join(written(name, made(name)) for name in CASES)
(TESTS / "said.txt").write_text(f"{text}\n", encoding="utf-8")
