"""What `plot(save=)` and `explore(save=)` write: letters that journals can embed, their size, and what is replaced."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

import xcurves
from layers import slow
from refusals import refused
from strategies import make_curves


@pytest.fixture
def curves():
    return make_curves(np.random.default_rng(0).normal(size=(2, 4, 5)))


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_letters_of_a_pdf_are_truetype_with_default_settings(curves, tmp_path):
    assert plt.rcParams["pdf.fonttype"] == 3
    path = tmp_path / "figure.pdf"
    axes = curves.curves.plot(save=path)
    assert axes.figure.axes
    written = path.read_bytes()
    assert b"/CIDFontType2" in written
    assert b"/Type3" not in written
    plain = tmp_path / "plain.pdf"
    axes.figure.savefig(plain)
    assert b"/Type3" in plain.read_bytes()  # what the settings change


@pytest.mark.slow
def test_letters_of_an_eps_are_truetype(curves, tmp_path):
    curves.curves.plot(save=tmp_path / "figure.eps", band=None)
    assert b"/FontType 42" in (tmp_path / "figure.eps").read_bytes()


@pytest.mark.slow
def test_a_figure_of_a_given_size_keeps_it(curves, tmp_path):
    path = tmp_path / "figure.pdf"
    curves.curves.plot(save=path, figsize=(5.5, 2.4))
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", path.read_bytes())
    assert [float(side) / 72 for side in box.groups()] == pytest.approx([5.5, 2.4])


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["pdf", slow("svg"), slow("png")])
def test_equal_pictures_are_equal_files_and_replace_each_other(curves, tmp_path, ending):
    path = tmp_path / f"figure.{ending}"
    curves.curves.plot(save=path)
    first = path.read_bytes()
    curves.curves.plot(save=str(path))
    assert path.read_bytes() == first
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.slow
def test_the_picture_of_a_result_is_written(curves, tmp_path):
    result = curves.curves.ss_profile(n_resamples=99, rng=0)
    result.curves.plot("fraction", save=tmp_path / "profile.svg")
    assert b"<svg" in (tmp_path / "profile.svg").read_bytes()


def test_a_file_of_others_stays(curves, tmp_path):
    path = tmp_path / "figure.png"
    path.write_bytes(b"mine")
    with pytest.raises(FileExistsError, match="exists and is not replaced"):
        curves.curves.plot(save=path)
    assert path.read_bytes() == b"mine"
    assert not plt.get_fignums()  # it was refused before any work


@pytest.mark.parametrize(
    ("save", "kind", "said"),
    [
        ("figure.txt", xcurves.Refusal, "must end with .pdf, .png, .svg, .eps"),
        ("figure", xcurves.Refusal, "must end with .pdf, .png, .svg, .eps"),
        (3, xcurves.WrongType, "must be a path"),
    ],
)
def test_what_cannot_be_written_is_refused(curves, save, kind, said):
    with refused("save", save, "Give save='figure.pdf'", names=said, kind=kind):
        curves.curves.plot(save=save)


def test_a_page_of_a_figure_fits_phones_and_replaces_its_own_only(curves, tmp_path):
    pytest.importorskip("plotly")
    path = tmp_path / "curves.html"
    for _ in range(2):
        curves.curves.explore(save=path)
    written = path.read_text(encoding="utf-8")
    assert written.startswith("<!DOCTYPE html>")
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in written
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(FileExistsError, match="exists and is not replaced"):
        curves.curves.explore(save=path)
    with refused("save", "curves.pdf", "Give save='curves.html'", names="must end with .html"):
        curves.curves.explore(save="curves.pdf")


def test_a_folder_that_there_is_not_is_no_place_for_a_picture(curves):
    with pytest.raises(NotADirectoryError, match="there is no folder"):
        curves.curves.plot(save="nowhere/figure.pdf")


def test_options_that_no_view_of_a_part_takes_are_refused(curves):
    tree = curves.curves.analyze(include=["profile"], n_resamples=99, rng=0)
    with refused("smooth", cure="Leave it out", names="smooth is for pictures of curves"):
        xcurves.plot(tree, "profile", smooth=0.5)


def test_a_backend_of_another_resolution_draws_the_same_picture():
    """Backends of vector graphics have 72 dots per inch once they measure: nothing is measured before at 100."""
    rising = 1 - np.exp(-np.arange(1, 31) / 10)
    six = make_curves(rising * (1 + 0.1 * np.arange(6)[:, None, None] * np.ones((1, 3, 1))))
    before = plt.get_backend()
    sizes = {}
    try:
        for backend in ("agg", "svg", "pdf"):
            plt.switch_backend(backend)
            figure = six.curves.plot().figure
            figure.draw_without_rendering()
            sizes[backend] = figure.bbox.size / figure.dpi
            assert not figure.legends
    finally:
        plt.switch_backend(before)
    np.testing.assert_allclose(sizes["svg"], sizes["agg"], atol=0.05)
    np.testing.assert_allclose(sizes["pdf"], sizes["agg"], atol=0.05)
