"""The blocks of docs/coming-from.md run as they stand, beside each peer that is installed."""

import importlib
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[1] / "docs" / "coming-from.md"
PEERS = {
    "SciPy": "scipy.stats",
    "statsmodels": "statsmodels.api",
    "pingouin": "pingouin",
    "MNE": "mne",
    "rliable": "rliable.library",
    "AdaStop": "adastop",
    "Evaluations of language models": "numpy",
    "Critical-difference diagrams": "scipy.stats",
    "allenai/learning-curve": "lc.curve",
}


def blocks(text):
    return "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))


def sections():
    """Return the code before the first heading, and that of each section under its heading."""
    opening, *others = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return blocks(opening), {title: blocks(text) for title, text in (part.split("\n", 1) for part in others)}


def test_every_section_is_about_a_peer_and_compares_numbers():
    _, code = sections()
    assert list(code) == list(PEERS)
    assert all("np.testing.assert_allclose" in block for block in code.values())


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.filterwarnings("ignore")  # theirs
def test_theirs_and_ours_agree(peer):
    try:
        importlib.import_module(PEERS[peer])
    except Exception as error:  # rliable raises a TypeError beside pandas 3
        pytest.skip(f"{peer} cannot be imported here: {type(error).__name__}: {error}")
    opening, code = sections()
    exec(compile(f"{opening}\n{code[peer]}", str(PAGE), "exec"), {})
