"""Archives at a distance, chunks that went bad there, and progress on the way."""

import io
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import xcurves
from refusals import raises_other, refused
from strategies import make_curves
from xcurves.core.refusal import call

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("zarr", minversion="3")
pytest.importorskip("dask")

pytestmark = [
    pytest.mark.slow,
    # strings have no place in the specification of zarr yet
    pytest.mark.filterwarnings("ignore:.*not currently part in the Zarr format 3 specification"),
    pytest.mark.filterwarnings("ignore:.*does not have a Zarr V3 specification"),
]
DOCS = Path(__file__).parents[1] / "docs" / "scale.md"


@pytest.fixture
def curves():
    values = np.random.default_rng(0).normal(size=(45, 2, 5, 6))
    return make_curves(values, task=[f"t{i}" for i in range(45)])


@pytest.fixture
def write_by_parts():
    (recipe,) = re.findall(r"```python\n(.*?def write_by_parts.*?)```", DOCS.read_text(), flags=re.DOTALL)
    names = {}
    exec(recipe, names)
    return names["write_by_parts"]


@pytest.fixture(params=["memory", "local"])
def base(request, tmp_path):
    if request.param == "local":
        yield str(tmp_path)
    else:
        yield "memory://xcurves-test"
        fsspec.filesystem("memory").store.clear()


@pytest.mark.parametrize("chunk", [5, 10])
def test_a_store_at_a_distance_is_read_and_written_by_parts(curves, base, write_by_parts, chunk):
    """The first time it breaks down in the middle; the second it writes what is missing, and the third nothing."""
    curves.to_dataset().chunk(task=chunk).to_zarr(f"{base}/curves.zarr", consolidated=False)
    opened = xr.open_zarr(f"{base}/curves.zarr", consolidated=False)["score"]
    result, store = opened.curves.randomized_anova(rng=0), f"{base}/anova.zarr"
    spoilt = opened.where(opened.task != "t27", np.inf).curves.randomized_anova(rng=0)
    fill = call(".curves.fill_failed", "worst", higher_is_better=False)
    with refused("curves", ("'a0'", "0"), fill, names="^task 't27': algorithm 'a0', run 0 has infinite values"):
        write_by_parts(spoilt, store, size=10)
    half = xr.open_zarr(store, consolidated=False)
    assert half.written.values.tolist() == [1] * 20 + [0] * 25

    computed = []
    noted = opened.copy(data=opened.data.map_blocks(lambda block: computed.append(len(block)) or block, dtype=float))
    again = noted.curves.randomized_anova(rng=0)
    computed.clear()
    write_by_parts(again, store, size=10)
    assert sorted(computed) == {5: [5] * 5, 10: [5, 10, 10]}[chunk]
    written = xr.open_zarr(store, consolidated=False).drop_vars("written").compute()
    xr.testing.assert_identical(written, result.compute())
    computed.clear()
    write_by_parts(again, store, size=10)
    assert not computed


def test_garbage_in_a_chunk_is_told_with_its_task(curves, tmp_path):
    """Bytes of 0xFF are NaN: a run that lacks some of its task's levels."""
    encoding = {"score": {"chunks": (10, 2, 5, 6), "compressors": None}}
    curves.to_dataset().drop_vars("task").to_zarr(tmp_path / "c", encoding=encoding, consolidated=False)
    chunk = tmp_path / "c" / "score" / "c" / "2" / "0" / "0" / "0"
    whole = chunk.read_bytes()
    chunk.write_bytes(whole[:2000] + b"\xff" * 80 + whole[2080:])
    opened = xr.open_zarr(tmp_path / "c", consolidated=False)["score"].assign_coords(task=curves.task)
    lazy = xcurves.randomized_anova(opened, rng=0)
    align = call(".curves.align", "intersection")
    with refused("curves", cure=align, names="^task 't24': algorithm 'a0',.*of 6 training levels"):
        lazy.compute()


def test_a_chunk_that_cannot_be_read_is_its_readers_own_error(curves, tmp_path):
    curves.to_dataset().drop_vars("task").chunk(task=10).to_zarr(tmp_path / "c", consolidated=False)
    chunk = tmp_path / "c" / "score" / "c" / "2" / "0" / "0" / "0"
    chunk.write_bytes(chunk.read_bytes()[:200])
    opened = xr.open_zarr(tmp_path / "c", consolidated=False)["score"]
    with raises_other(Exception, match="decompress") as own:
        opened.compute()
    with raises_other(type(own.value), match="decompress"):
        xcurves.randomized_anova(opened, rng=0).compute()


def test_dasks_bar_shows_the_progress_of_a_lazy_result(curves):
    from dask.diagnostics import ProgressBar

    shown = io.StringIO()
    with ProgressBar(out=shown):
        xcurves.randomized_anova(curves.chunk(task=5), rng=0, progress=True).compute()
    assert "100% Completed" in shown.getvalue()


def test_without_dask_there_is_a_bar_and_the_same_result():
    code = """
import sys
if {hidden}:
    sys.modules.update(dict.fromkeys(["dask", "dask.array", "distributed"]))
import numpy as np, xarray as xr, xcurves
values = np.random.default_rng(0).normal(size=(2, 5, 6))
curves = xr.DataArray(values, dims=("algorithm", "run", "training")).assign_coords(training=range(6))
result = xcurves.randomized_anova(curves, n_resamples=100, rng=0, progress=True)
print(result.pvalue.values.tolist())
"""
    runs = [
        subprocess.run(
            [sys.executable, "-c", code.format(hidden=hidden)],
            capture_output=True,
            text=True,
        )
        for hidden in (True, False)
    ]
    assert runs[0].stdout == runs[1].stdout != ""
    assert all("shuffles:" in done.stderr for done in runs)
