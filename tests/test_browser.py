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
import shapely
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
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 5 <= pages <= 36, "few enough to be read: 30 when this was written"


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
        assert tab.run("document.querySelectorAll('script').length") == 1  # that of the maps
        assert tab.run("document.querySelectorAll('img, main > b').length") == 0
        assert tab.complaints == []
        text = tab.run("document.body.textContent")
        assert all(json.loads(json.dumps(name)) in text for name in HOSTILE)


STAGE = "[...document.querySelectorAll('.stage')].find(e => e.checkVisibility())"


def looks_at(tab: Tab) -> tuple[float, float, float]:
    """West and north of what the first map shows, on its paper, and how often it is enlarged."""
    tab.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    x, y, zoom = map(float, tab.run(f"{STAGE}.dataset.view").split())
    return x, y, zoom


def middle(tab: Tab) -> tuple[float, float]:
    """The middle of the first map, brought into view."""
    tab.run(f"{STAGE}.scrollIntoView({{block: 'center'}})")
    x, y = tab.run(f"(b => [b.x + b.width / 2, b.y + b.height / 2])({STAGE}.getBoundingClientRect())")
    return x, y


def test_a_map_moves_by_keys_mouse_and_buttons_and_its_tabs_move_with_it(browser: Browser, report: str) -> None:
    with browser.tab() as tab:
        tab.open(report)
        assert looks_at(tab) == (0, 0, 1)
        tab.run(f"{STAGE}.focus()")
        tab.press("+")
        tab.press("+")
        x, y, zoom = looks_at(tab)
        assert zoom == pytest.approx(1.6**2, rel=1e-3)
        tab.press("ArrowRight")
        tab.press("ArrowDown")
        east, south, same = looks_at(tab)
        assert (east > x, south > y, same) == (True, True, zoom)
        assert tab.run(f"{STAGE}.parentNode.querySelector('[role=status]').textContent") != ""
        width = tab.run("document.querySelector('#atlas .scale').textContent")
        tab.press("0")
        assert looks_at(tab) == (0, 0, 1)
        assert tab.run("document.querySelector('#atlas .scale').textContent") != width
        tab.run(f"{STAGE}.querySelector('[aria-label=\"Zoom in\"]').click()")
        at_x, at_y = middle(tab)
        x, y, zoom = looks_at(tab)
        tab.drag([(at_x, at_y), (at_x - 30, at_y - 20), (at_x - 60, at_y - 40)])
        moved_x, moved_y, _ = looks_at(tab)
        assert (moved_x > x, moved_y > y) == (True, True)
        tab.call("Input.dispatchMouseEvent", type="mouseWheel", x=at_x, y=at_y, deltaX=0, deltaY=-200, modifiers=2)
        assert looks_at(tab)[2] > zoom
        seen = looks_at(tab)
        tab.run("document.querySelectorAll('#atlas .tabs > input')[1].click()")
        assert looks_at(tab) == seen
        assert tab.complaints == []


def test_the_wheel_scrolls_the_page_until_the_map_has_the_focus(browser: Browser, report: str) -> None:
    with browser.tab() as tab:
        tab.open(report)
        x, y = middle(tab)
        tab.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-100)
        assert looks_at(tab)[2] == 1
        tab.run(f"{STAGE}.focus({{preventScroll: true}})")
        x, y = middle(tab)
        tab.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-100)
        assert looks_at(tab)[2] > 1


def test_two_fingers_enlarge_a_map(browser: Browser, report: str) -> None:
    with browser.tab(width=PHONE, height=700) as tab:
        tab.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        tab.open(report)
        x, y = middle(tab)
        for kind, reach in (("touchStart", 20), ("touchMove", 30), ("touchMove", 45), ("touchMove", 60)):
            fingers = [{"x": x - reach, "y": y, "id": 0}, {"x": x + reach, "y": y, "id": 1}]
            tab.call("Input.dispatchTouchEvent", type=kind, touchPoints=fingers)
        tab.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        assert looks_at(tab)[2] == pytest.approx(3, rel=0.35)


def test_the_slider_shows_the_hours_and_says_what_the_colours_mean_then(browser: Browser, report: str) -> None:
    with browser.tab() as tab:
        tab.open(report)
        key = "[...document.querySelectorAll('#atlas .key')].find(e => e.checkVisibility()).textContent"
        slider = "[...document.querySelectorAll('.hours input')].find(e => e.checkVisibility())"
        before, picture = tab.run(key), tab.picture("#atlas .stage")
        tab.run(f"{slider}.focus()")
        for _ in range(4):
            tab.press("ArrowRight")
        assert tab.run(f"{slider}.getAttribute('aria-valuetext')") == "03:00"
        assert tab.run(f"{slider}.nextElementSibling.textContent") == "From 03:00"
        assert "or more" in tab.run(key)
        assert tab.picture("#atlas .stage") != picture
        for _ in range(4):
            tab.press("ArrowLeft")
        assert tab.run(key) == before


def test_without_script_and_on_paper_the_map_is_the_drawing(browser: Browser, report: str) -> None:
    with browser.tab() as tab:
        tab.call("Emulation.setScriptExecutionDisabled", value=True)
        tab.open(report)
        assert len(colours(tab.picture("#atlas svg.map"))) >= 7
    with browser.tab() as tab:
        tab.open(report)
        tab.call("Emulation.setEmulatedMedia", media="print")
        assert tab.run("getComputedStyle(document.querySelector('.stage svg')).visibility") == "visible"
        assert tab.run("getComputedStyle(document.querySelector('.stage canvas')).display") == "none"


def ten_thousand(folder: Path) -> str:
    """A page with a map of ten thousand cells."""
    from trajlab.report import page
    from trajlab.report.drawing import maps
    from trajlab.report.drawing.backdrop import Backdrop
    from trajlab.report.drawing.extent import Extent
    from trajlab.report.markup import tag
    from trajlab.spatial._projection import LocalMetres

    shapes = np.array([shapely.box(x, y, x + 0.001, y + 0.001) for y in GRID + 38.7 for x in GRID - 9.2], dtype=object)
    values = np.arange(1.0, 10_001.0)
    extent = Extent.around(shapes, values, LocalMetres(-9.15, 38.75))
    assert extent is not None
    backdrop = Backdrop.of(extent)
    drawing = maps.draw("a map", shapes, values, [f"cell {n}" for n in range(10_000)], backdrop, "n")
    text = page.shell(
        "map",
        tag("main", tag("figure", drawing)),
        backdrop.drawing,
        inline=page.MAP_SCRIPT.read_text(encoding="utf-8"),
    )
    file = folder / "map.html"
    file.write_text(text, encoding="utf-8")
    return file.as_uri()


GRID = np.arange(100) * 0.001


def test_ten_thousand_cells_each_say_their_value(browser: Browser, tmp_path: Path) -> None:
    with browser.tab() as tab:
        tab.open(ten_thousand(tmp_path))
        tab.run(f"{STAGE}.scrollIntoView()")
        # The middle of the eleventh cell of the eleventh row, counted from the south-west.
        box = tab.run(
            "(b => [b.x + b.width / 2, b.y + b.height / 2])"
            "(document.querySelectorAll('.cells path').values().find(e => e.textContent === 'cell 1010').getBoundingClientRect())"
        )
        tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
        tab.wait_for("document.querySelector('.tip').textContent === 'cell 1010'")
        assert len(colours(tab.picture(".stage"))) >= 7


def test_ten_thousand_cells_move_smoothly(browser: Browser, tmp_path: Path) -> None:
    """Frames while a map of ten thousand cells is dragged: none takes long enough to be felt as a stop."""
    with browser.tab() as tab:
        tab.open(ten_thousand(tmp_path))
        tab.run(f"{STAGE}.focus()")
        tab.press("+")
        x, y = middle(tab)
        tab.run(
            "window.frames_seen = []; (function next(last) { requestAnimationFrame(now => "
            "{ if (last) frames_seen.push(now - last); if (!window.enough) next(now); }) })(0)"
        )
        before = looks_at(tab)
        tab.drag([(x - 2 * n, y - n) for n in range(60)])
        assert looks_at(tab) != before
        tab.run("window.enough = true")
        frames = np.array(tab.run("frames_seen"))
    print(f"{len(frames)} frames, median {np.median(frames):.1f} ms, 95th {np.quantile(frames, 0.95):.1f} ms")
    assert np.median(frames) < 40


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
@pytest.mark.parametrize(
    "place", ["", "?part=recovery", "compare", "questions", "tables", "tables?name=counts.occupancy", "sql"]
)
def test_the_playground_is_quiet_fits_and_axe_is_content(
    browser: Browser, playground: str, place: str, width: int, dark: bool
) -> None:
    with browser.tab(width=width, dark=dark) as tab:
        tab.open(playground + place)
        assert tab.complaints == []
        assert set(tab.requests) == {playground + place, f"{playground}keys.js", f"{playground}map.js"}
        assert tab.run("document.documentElement.scrollWidth") <= width
        links = "[...document.querySelectorAll('nav a')].map(link => link.getBoundingClientRect().right)"
        assert max(tab.run(links)) <= width
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
