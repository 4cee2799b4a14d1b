"""What people look at, in a real browser: drawn, readable, reachable by keyboard, and silent on the network.

Needs Chromium (`apt-get install chromium`; the variable CHROMIUM names another one). Without it these
tests are skipped and say so, unless TRAJLAB_BROWSER=required.
"""

from __future__ import annotations

import base64
import datetime as dt
import importlib.util
import io
import json
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from chromium import Browser, Tab, chromium, program
from conftest import TINY
from PIL import Image
from test_certificate import body as certificate_body
from test_certificate import result as certificate_result

import trajlab as tl
from trajlab.certificate import page as certificate_page

if program() is None:
    why = "NO BROWSER: nothing here was looked at. Install chromium (Debian: apt-get install chromium)"
    if os.environ.get("TRAJLAB_BROWSER") == "required":
        pytest.fail(why, pytrace=False)
    pytest.skip(why, allow_module_level=True)

PHONE, DESK = 375, 1600
SEEN = [(PHONE, False), (PHONE, True), (DESK, False), (DESK, True)]
HOSTILE = ["<script>alert(1)</script>", "\"><img src=x onerror='alert(1)'>", "</title></svg><b>&amp;"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a lab that has something for every section."""
    lab = tl.open(":memory:")
    lab.ingest(tl.simulate(people=60, days=3, seed=1), tz="Europe/Lisbon")
    lab.geography(stations=tl.simulate_stations(people=60, days=3, seed=1))
    release = lab.release("square:1000", "1h")
    lab.feasibility(release)
    lab.risk(lab.attack(release, "xu2017"), "top:2")
    lab.risk(release, "top:2")
    lab.risk(release, "points:2")
    lab.risk(lab.protect(release, "cut:6h"), "points:2")
    lab.tradeoff(release, ["square:4000", "square:8000"], zones="square:5000", knowledge="points:2", basis="slots")
    lab.decide(release, TINY / "policy.toml")
    lab.decide(lab.release("h3:8", "1h", min_count=2), TINY / "policy.toml")
    lab.release("stations", "2h")
    return lab.report(tmp_path_factory.mktemp("page") / "report.html", example_people=2).as_uri()


def colours(picture: bytes) -> np.ndarray:
    """How many pixels have each colour, most first."""
    pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")).reshape(-1, 3)
    return np.sort(np.unique(pixels, axis=0, return_counts=True)[1])[::-1]


def axe(tab: Tab) -> list[str]:
    """What axe-core holds against the page: contrast, names, labels, order."""
    found = importlib.util.find_spec("axe_core_python")
    assert found is not None
    assert found.origin is not None
    tab.run(Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8") + "; 0")
    told = tab.run(
        "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'], resultTypes: ['violations']})"
        ".then(r => r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + ' '"
        " + n.failureSummary).join(' | ')))"
    )
    return list(told)


@pytest.mark.parametrize(("width", "dark"), SEEN)
def test_the_report_is_quiet_and_fits_the_screen(browser: Browser, report: str, width: int, dark: bool) -> None:
    with browser.tab(width=width, dark=dark) as tab:
        tab.open(report)
        assert tab.requests == [report]
        assert tab.complaints == []
        assert tab.run("document.documentElement.scrollWidth") <= width
        beyond = tab.run(
            "[...document.querySelectorAll('main *')].filter(e => e.checkVisibility() && !e.closest('.scroll, pre, nav') "
            "&& e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 120))"
        )
        assert beyond == []


@pytest.mark.parametrize(("width", "dark"), SEEN)
def test_axe_finds_nothing_to_hold_against_the_report(browser: Browser, report: str, width: int, dark: bool) -> None:
    with browser.tab(width=width, dark=dark) as tab:
        tab.open(report)
        tab.run("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert axe(tab) == []


@pytest.mark.parametrize(("width", "dark"), [(PHONE, False), (DESK, True)])
def test_charts_and_maps_are_really_drawn(browser: Browser, report: str, width: int, dark: bool) -> None:
    with browser.tab(width=width, dark=dark) as tab:
        tab.open(report)
        tab.run(
            "[...document.querySelectorAll('main svg')].filter(e => e.checkVisibility())"
            ".forEach((e, n) => e.id = 'drawing-' + n)"
        )
        drawings = tab.run("[...document.querySelectorAll('svg[id^=drawing]')].map(e => [e.id, e.classList.value])")
        assert {kind for _, kinds in drawings for kind in kinds.split()} >= {"map", "chart", "gauge"}
        assert len(drawings) >= 15
        for name, kind in drawings:
            counts = colours(tab.picture(f"#{name}"))
            assert len(counts) >= 4, (name, kind)
            assert counts[1:].sum() > 0.01 * counts.sum(), (name, kind)


def test_a_map_shows_as_many_colours_as_its_key_and_a_scale(browser: Browser, report: str) -> None:
    with browser.tab() as tab:
        tab.open(report)
        key = tab.run(
            "[...document.querySelectorAll('#atlas .panel .key')].find(e => e.checkVisibility()).querySelectorAll('.chip')"
            ".values().map(e => getComputedStyle(e).backgroundColor).toArray()"
        )
        pixels = np.asarray(Image.open(io.BytesIO(tab.picture("#atlas svg.map"))).convert("RGB")).reshape(-1, 3)
        painted = {f"rgb({r}, {g}, {b})" for r, g, b in np.unique(pixels, axis=0).tolist()}
        assert len(key) >= 4
        assert set(key) <= painted
        assert re.fullmatch(r"[\d.]+\s(k?m)", tab.run("document.querySelector('#atlas .scale').textContent"))
        assert "on average" in tab.run("document.querySelector('#atlas svg.map title').textContent")


def test_every_link_of_the_navigation_leads_to_its_section(browser: Browser, report: str) -> None:
    with browser.tab() as tab:
        tab.open(report)
        links = tab.run("[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.getAttribute('href'))")
        assert len(links) >= 9
        for link in links:
            tab.run(f"document.querySelector('a[href=\"{link}\"]').click()")
            tab.wait_for(f"location.hash === '{link}'")
            top = tab.run(f"document.querySelector('{link}').getBoundingClientRect().top")
            end = tab.run("innerHeight + scrollY >= document.documentElement.scrollHeight - 2")
            assert -2 <= top <= 120 or end, link
        assert tab.requests == [report]


def test_the_report_can_be_read_with_the_keyboard_alone(browser: Browser, report: str) -> None:
    with browser.tab() as tab:
        tab.open(report)
        tab.press("Tab")
        assert tab.run("document.activeElement.className") == "skip"
        assert tab.run("document.activeElement.getBoundingClientRect().left") >= 0
        tab.press("Enter")
        tab.wait_for("location.hash === '#findings'")
        tab.run("document.querySelector('#atlas .tabs input').focus()")
        shown = "[...document.querySelectorAll('#atlas .panel')].map(e => e.checkVisibility())"
        assert tab.run(shown) == [True, False, False]
        tab.press("ArrowRight")
        assert tab.run(shown) == [False, True, False]
        tab.run("document.querySelector('#releases summary').focus()")
        tab.press("Enter")
        assert tab.run("document.querySelector('#releases details').open") is True
        ring = tab.run("getComputedStyle(document.querySelector('#releases summary')).outlineStyle")
        assert ring == "solid"


def test_every_chart_has_its_table_and_its_query_one_click_away(browser: Browser, report: str) -> None:
    with browser.tab() as tab:
        tab.open(report)
        tab.run("document.querySelectorAll('details').forEach(d => d.open = true)")
        lacking = tab.run(
            "[...document.querySelectorAll('figure')].filter(f => !f.querySelector('details table tbody td') || "
            "!/\\b(select|from)\\b/.test(f.querySelector('details pre')?.textContent)).map(f => f.querySelector('h3').textContent)"
        )
        assert lacking == []
        assert tab.run("document.querySelectorAll('figure').length") >= 15
        assert (
            tab.run("[...document.querySelectorAll('main svg')].filter(e => !e.closest('figure, .finding')).length")
            == 0
        )


def test_the_report_prints_on_a_decent_number_of_pages(browser: Browser, report: str) -> None:
    with browser.tab() as tab:
        tab.open(report)
        printed = tab.pdf()
        tab.call("Emulation.setEmulatedMedia", media="print")
        tab.resize(720, 1000)  # A4 between its margins
        assert tab.run("document.documentElement.scrollWidth") <= 720, "a table is cut off on paper"
    assert printed.startswith(b"%PDF")
    assert 5 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 60


def test_hostile_names_are_shown_and_never_run(browser: Browser, tmp_path: Path) -> None:
    monday = dt.datetime(2024, 3, 4, tzinfo=dt.UTC)
    rows = [(f"<b>{n}", monday + dt.timedelta(hours=h), HOSTILE[(n + h // 6) % 3]) for n in range(6) for h in range(48)]
    lab = tl.open(":memory:")
    frame = pl.DataFrame(rows, schema=["uid", "ts", "place"], orient="row")
    places = pl.DataFrame({"place": HOSTILE, "lat": [38.70, 38.71, 38.72], "lng": [-9.10, -9.12, -9.11]})
    lab.ingest(frame, kind="wifi", tz="UTC", places=places)
    release = lab.release("places", "1h")
    lab.attack(release, "xu2017")
    lab.risk(release, "top:2")
    page = lab.report(tmp_path / "report.html", example_people=2).as_uri()
    with browser.tab() as tab:
        tab.call("Page.addScriptToEvaluateOnNewDocument", source="window.alert = () => { window.hurt = true }")
        tab.open(page)
        assert tab.run("window.hurt") is None
        assert tab.run("document.querySelectorAll('script, img, main > b').length") == 0
        assert tab.complaints == []
        text = tab.run("document.body.textContent")
        assert all(json.loads(json.dumps(name)) in text for name in HOSTILE)


def test_ten_thousand_cells_each_say_their_value(browser: Browser, tmp_path: Path) -> None:
    from trajlab.report import page
    from trajlab.report.drawing import maps
    from trajlab.report.markup import tag
    from trajlab.spatial._projection import LocalMetres

    corners = [(0.001 * (k % 100), 0.001 * (k // 100)) for k in range(10_000)]
    outlines = [
        f"POLYGON (({x} {y}, {x + 0.001} {y}, {x + 0.001} {y + 0.001}, {x} {y + 0.001}, {x} {y}))" for x, y in corners
    ]
    values = np.arange(1.0, 10_001.0)
    drawing = maps.draw(
        "a map", outlines, values, values, [f"cell {n}" for n in range(10_000)], LocalMetres(0.05, 0.05), "n"
    )
    file = tmp_path / "map.html"
    file.write_text(page.shell("map", tag("main", tag("figure", drawing))), encoding="utf-8")
    with browser.tab() as tab:
        tab.open(file.as_uri())
        box = tab.run("(b => [b.x, b.y, b.width, b.height])(document.querySelector('svg.map').getBoundingClientRect())")
        across = (0.105 + 0.01) / 1.02  # the middle of the eleventh of a hundred cells, within a margin of 1%
        x, y = box[0] + box[2] * across, box[1] + box[3] * (1 - across)
        assert tab.run(f"document.elementFromPoint({x}, {y}).textContent") == "cell 1010"
        assert len(colours(tab.picture("svg.map"))) >= 7


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    from trajlab.explore.sandbox import Sandbox
    from trajlab.explore.server import Server

    path = tmp_path_factory.mktemp("played") / "lab.duckdb"
    with tl.open(path) as lab:
        lab.ingest(tl.simulate(people=30, days=2, seed=1), tz="Europe/Lisbon")
        release = lab.release("h3:7", "1h")
        lab.attack(release, "xu2017")
        lab.risk(release, "points:2")
    with (
        Sandbox(path, seconds=20, rows=500, memory_limit="1GB") as sandbox,
        Server(sandbox, port=0, token="for-tests") as server,
    ):
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server.address
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("width", "dark"), [(PHONE, True), (DESK, False)])
@pytest.mark.parametrize("place", ["", "?part=recovery", "tables", "tables?name=counts.occupancy", "sql"])
def test_the_playground_is_quiet_fits_and_axe_is_content(
    browser: Browser, playground: str, place: str, width: int, dark: bool
) -> None:
    with browser.tab(width=width, dark=dark) as tab:
        tab.open(playground + place)
        assert tab.complaints == []
        assert set(tab.requests) == {playground + place, f"{playground}keys.js"}
        assert tab.run("document.documentElement.scrollWidth") <= width
        assert axe(tab) == []


def test_a_query_is_asked_and_answered_with_the_keyboard_alone(browser: Browser, playground: str) -> None:
    query = (
        "select cell.label, count(*) as counts, any_value(cell.polygon) as polygon from counts.occupancy as o "
        "join grid.cell as cell using (cell) group by cell.label"
    )
    with browser.tab() as tab:
        tab.open(playground + "sql")
        assert tab.run("document.activeElement.id") == "query"
        tab.run("document.activeElement.select()")
        tab.call("Input.insertText", text=query)
        tab.press("Enter", ctrl=True)
        tab.wait_for("!!document.querySelector('#answer svg.map')")
        assert len(colours(tab.picture("#answer svg.map"))) >= 5
        assert tab.run("document.querySelector('#query').value") == query
        tab.run("document.querySelector('#query').select()")
        tab.run("document.querySelector('#query').focus()")
        tab.call("Input.insertText", text="drop table counts.release")
        tab.press("Enter", ctrl=True)
        tab.wait_for("!!document.querySelector('.trouble')")
        assert "only reads" in tab.run("document.querySelector('.trouble').textContent")
        assert tab.complaints == []


def test_choosing_an_attack_shows_its_scores(browser: Browser, playground: str) -> None:
    with browser.tab() as tab:
        tab.open(playground)
        tab.run(
            "(() => { const s = document.querySelector('select[name=run]'); s.value = [...s.options].find("
            "o => o.text === 'xu2017').value; s.dispatchEvent(new Event('change')); })()"
        )
        tab.wait_for("/Scores of xu2017/.test(document.body.textContent)")
        assert tab.complaints == []


def test_the_site_fetches_nothing_from_elsewhere_and_can_be_searched(browser: Browser, tmp_path: Path) -> None:
    import functools
    import http.server

    monkey = importlib.util.spec_from_file_location("site_of_docs", Path(__file__).parents[1] / "docs" / "site.py")
    assert monkey is not None
    assert monkey.loader is not None
    module = importlib.util.module_from_spec(monkey)
    monkey.loader.exec_module(module)
    folder = module.build(tmp_path / "site")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            with browser.tab() as tab:
                home = f"http://127.0.0.1:{server.server_port}/"
                for page in ("index.html", "tables.html", "science.html"):
                    tab.open(home + page)
                tab.run(
                    "(i => { i.focus(); i.value = 'occupancy'; i.dispatchEvent(new Event('keyup')) })"
                    "(document.querySelector('.md-search__input'))"
                )
                tab.wait_for("document.querySelectorAll('.md-search-result__item').length > 0")
                assert all(address.startswith((home, "data:", "blob:")) for address in tab.requests), tab.requests
                assert [told for told in tab.complaints if "favicon" not in told] == []
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("rules", [1, 4, 7, 14, 24])
def test_the_sheet_of_a_certificate_prints_on_one_page_and_fits_a_phone(browser: Browser, tmp_path, rules: int) -> None:
    long = (
        "dsilva2024 recovers people in the right cell in 12 % of the slots, more than chance gives about anybody at all"
    )
    reasons = [None, "agreed with the office, because the count is known from elsewhere anyway"]
    concerns, verdicts = ("singling out", "utility"), ("pass", "fail", "review")
    results = [
        certificate_result(n, sentence=long, about=("table", "traces")[n % 2], concern=concerns[n % 5 == 4],
                           verdict=verdicts[n % 3], exception=reasons[n % 4 == 3])
        for n in range(1, rules + 1)
    ]  # fmt: skip
    content = certificate_body(results=results)
    file = tmp_path / "sheet.html"
    file.write_text(certificate_page.render(content, "ab" * 32, "decision.json"), encoding="utf-8")
    with browser.tab(width=PHONE) as tab:
        tab.open(file.as_uri())
        assert tab.requests == [file.as_uri()]
        assert tab.complaints == []
        assert tab.run("document.documentElement.scrollWidth") <= PHONE
        assert axe(tab) == []
        printed = tab.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]
        assert len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed))) == 1
