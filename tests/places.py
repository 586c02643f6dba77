"""Where the project, and the data that are no part of it, are."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
TICTACTOE = str(ROOT / "src" / "xcurves" / "data" / "tictactoe.nc")
