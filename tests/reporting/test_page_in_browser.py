"""The report in a real browser: nothing is fetched, nothing is wrong, and a phone shows it."""

import numpy as np
import pytest

import xcurves
from browser import EXECUTABLE, Browser
from strategies import make_curves

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(EXECUTABLE is None, reason="no chromium here: apt-get install chromium"),
]

TOO_WIDE = """
[...document.querySelectorAll("main *, header *")].filter(
    each => !each.closest(".box, .picture, pre") && each.getBoundingClientRect().right > innerWidth + 1
).map(each => each.outerHTML.slice(0, 80))
"""
NASTY = ["<b>x</b>", "\"quoted' & $a$ <script>alert(1)</script>", "plain_" + "long" * 30]


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    nasty = scores.assign_coords(algorithm=NASTY).assign_attrs(long_name="<i>score</i>", units='"<u>')
    rng = np.random.default_rng(0)
    names = [f"task {i} <img src=x onerror=alert(1)>" for i in range(15)]
    tasks = make_curves(rng.normal(size=(15, 3, 5, 4)), task=names)
    pages = {}
    for name, curves in {"bundled": scores, "nasty": nasty, "tasks": tasks}.items():
        pages[name] = curves.curves.analyze(n_resamples=199, rng=0).curves.report(folder / f"{name}.html")
    return pages


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("name", ["bundled", "nasty", "tasks"])
def test_a_page_shows_whole_without_network_or_script(pages, browser, name, width):
    browser.open(pages[name], width)
    assert browser.ask("innerWidth") == width
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.ask(TOO_WIDE) == []
    asked = [each["request"]["url"] for each in browser.told("Network.requestWillBeSent")]
    assert asked[0] == pages[name].as_uri()
    assert not [url for url in asked[1:] if not url.startswith("data:image/")]
    assert not browser.told("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
    assert not browser.told("Page.javascriptDialogOpening")
    assert browser.ask("document.querySelectorAll('script, link, iframe, object, [onerror], [onload]').length") == 0
    drawn = "[...document.images].map(each => [each.complete && each.naturalWidth > 100, each.alt.length > 40])"
    assert browser.ask(drawn) == [[True, True]] * browser.ask("document.images.length")
    assert browser.ask("document.images.length") == (12 if name == "tasks" else 6)


def test_a_phone_can_read_the_text(pages, browser):
    browser.open(pages["bundled"], 360)
    texts, boxes = (f"[...document.querySelectorAll('{each}')]" for each in ("p, li, td, th, figcaption", ".box"))
    assert min(browser.ask(f"{texts}.map(each => parseFloat(getComputedStyle(each).fontSize))")) >= 12
    found = browser.ask(f"{boxes}.map(each => [each.scrollWidth > each.clientWidth, each.tabIndex])")
    assert any(wide for wide, _ in found)
    assert all(index == 0 for _, index in found)  # so that the keyboard can scroll it


def test_a_phone_can_read_the_text_in_pictures(pages, browser, tmp_path):
    curves = make_curves(np.random.default_rng(0).normal(size=(6, 4, 5)))  # whose legend stands beside the panel
    six = curves.curves.analyze(include=["anova"], n_resamples=99, rng=0).curves.report(tmp_path / "six.html")
    for page in (pages["bundled"], six):
        browser.open(page, 360)
        shrunk = browser.ask("[...document.images].map(each => each.width / each.naturalWidth)")
        assert min(shrunk) > 0.8
        pictures = "[...document.querySelectorAll('.picture')]"
        scrolled = browser.ask(f"{pictures}.map(each => each.scrollWidth > each.clientWidth && each.tabIndex)")
        assert scrolled == [0] * len(scrolled)
        assert browser.ask("document.documentElement.scrollWidth") <= 360


def test_on_paper_tables_are_whole(pages, browser):
    browser.call("Emulation.setEmulatedMedia", media="print")
    browser.open(pages["tasks"], 690)  # A4 less its margins
    assert browser.ask("document.documentElement.scrollWidth") <= 690
    assert browser.ask("[...document.querySelectorAll('.box')].every(e => e.scrollHeight <= e.clientHeight + 1)")
    assert browser.ask("getComputedStyle(document.querySelector('nav')).display") == "none"
    browser.call("Emulation.setEmulatedMedia", media="")


def test_labels_stay_text(pages, browser):
    browser.open(pages["nasty"], 1280)
    heads = browser.ask("[...document.querySelectorAll('#compared tbody th')].map(each => each.textContent)")
    assert heads == NASTY
    assert browser.ask("document.querySelectorAll('b, i, u').length") == 0
    assert all(name in browser.ask("document.images[0].alt") for name in NASTY)


def test_headings_tables_and_landmarks_are_marked(pages, browser):
    browser.open(pages["bundled"], 1280)
    assert browser.ask("document.documentElement.lang") == "en"
    assert browser.ask("document.title") == "Comparison of rate 0.001, rate 0.8 and rate 0.1"
    assert browser.ask("[...document.querySelectorAll('h1, h2, h3')].map(e => e.tagName).join(' ')") == "H1" + " H2" * 8
    assert browser.ask("['header', 'nav', 'main'].map(tag => document.querySelectorAll(tag).length)") == [1, 1, 1]
    assert browser.ask("[...document.querySelectorAll('table')].every(t => t.caption && t.tHead)")
    assert browser.ask("[...document.querySelectorAll('th')].every(e => ['row', 'col'].includes(e.scope))")
    assert browser.ask("[...document.querySelectorAll('nav a')].every(e => document.querySelector(e.hash))")
    assert browser.ask("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size") == browser.ask(
        "document.querySelectorAll('[id]').length"
    )
