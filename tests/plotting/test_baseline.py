"""The twelve pictures of the first page look as they did: compared with the images of ``baseline``.

To store new ones, after looking at them: ``pytest tests/plotting/test_baseline.py -m '' --mpl-generate-path
tests/plotting/baseline``.
"""

import importlib.util

import numpy as np
import pytest

from layers import slow
from places import ROOT

mpl = pytest.importorskip("matplotlib")
SERIES = "3.11"  # of matplotlib, which drew the images; others place letters elsewhere
pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("pytest_mpl") is None,
        reason="pytest-mpl is not installed",
    ),
    pytest.mark.skipif(
        mpl.__version__.rpartition(".")[0] != SERIES,
        reason=f"the images are of matplotlib {SERIES}; this is {mpl.__version__}",
    ),
]
# Root mean square of levels from 0 to 255. The same matplotlib drew the images again without a difference; another
# orange for one of three curves gives 3.4, dashes 4.7. Two leave room for letters that another machine hints otherwise.
TOLERANCE = 2
FOLDER = ROOT / "docs"
QUICK = {"curves", "across_tasks-forest", "fit_power_law-curve"}
LARGEST = 60_000  # bytes of an image


def calls():
    spec = importlib.util.spec_from_file_location("gallery_calls", FOLDER / "gallery_calls.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CALLS = calls()


@pytest.mark.plain(2)
@pytest.mark.parametrize("name", [name if name in QUICK else slow(name) for name in CALLS.QUESTIONS])
@pytest.mark.mpl_image_compare(
    baseline_dir="baseline",
    tolerance=TOLERANCE,
    style="default",
    savefig_kwargs={"dpi": 50},
    remove_text=False,
)
def test_a_picture_looks_as_it_did(name):
    kind, _, view = name.partition("-")
    if kind == "curves":
        made = CALLS.run(f"import xcurves\n{CALLS.DATA['scores']}")
        axes = made["scores"].curves.plot(rng=0)
    else:
        axes = CALLS.run("\n".join(CALLS.lines_of(kind, view)))["result"].curves.plot(view)
    return np.ravel([axes])[0].figure


def test_images_are_small():
    images = sorted((ROOT / "tests" / "plotting" / "baseline").glob("*.png"))
    assert len(images) == 12
    assert max(image.stat().st_size for image in images) <= LARGEST
