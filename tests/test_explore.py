"""The playground: what it shows, what it refuses, and whom it answers."""

from __future__ import annotations

import http.client
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import duckdb
import polars as pl
import pytest
from conftest import HOMES, tiny_lab
from test_report import HOSTILE, Page

import trajlab as tl
from trajlab.cli import main
from trajlab.errors import LabError, QueryError
from trajlab.explore import pictures, questions
from trajlab.explore.sandbox import Sandbox
from trajlab.explore.server import LONGEST_FORM, Server
from trajlab.query import catalogue
from trajlab.report import sections, words

TOKEN = "only-for-tests"


@pytest.fixture(scope="module")
def lab_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explored") / "lab.duckdb"
    with tiny_lab(path) as lab:
        release = lab.release("square:1000", "3h")
        lab.attack(release, "xu2017")
        lab.risk(release, "points:2")
        lab.risk(lab.protect(release, "cut:6h"), "points:1")
        lab.people(HOMES)
        lab.release("zones", "6h")
    return path


@pytest.fixture(scope="module")
def sandbox(lab_file: Path) -> Iterator[Sandbox]:
    with Sandbox(lab_file, seconds=20, rows=50, memory_limit="1GB") as found:
        yield found


@pytest.fixture(scope="module")
def server(sandbox: Sandbox) -> Iterator[Server]:
    with Server(sandbox, port=0, token=TOKEN) as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def ask(
    server: Server, path: str, form: dict[str, str] | None = None, **headers: str
) -> tuple[int, dict[str, str], str]:
    con = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    sent = {"Host": f"127.0.0.1:{server.server_port}"} | headers
    body = None if form is None else urlencode(form)
    con.request("GET" if form is None else "POST", path, body, sent)
    answer = con.getresponse()
    text = answer.read().decode()
    con.close()
    return answer.status, dict(answer.getheaders()), text


def answered(server: Server, query: str) -> str:
    status, _, text = ask(server, f"/{TOKEN}/sql", {"query": query, "run": "1"})
    assert status == 200
    return text


def test_it_listens_on_loopback_alone(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "path", ["/", "/sql", "/wrong/", f"/{TOKEN[:-1]}/", f"/{TOKEN}x/sql", "/favicon.ico", "//", "*", "/%6fnly/"]
)
def test_nobody_gets_in_without_the_secret(server: Server, path: str) -> None:
    status, headers, text = ask(server, path)
    assert status == 403
    assert TOKEN not in text + str(headers)
    assert "lab.duckdb" not in text


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "localhost:1", "evil.example:{port}", "127.0.0.1.evil.example:{port}"]
)
def test_it_answers_to_its_own_name_only(server: Server, host: str) -> None:
    status, _, text = ask(server, f"/{TOKEN}/", Host=host.format(port=server.server_port))
    assert status == 421
    assert "lab.duckdb" not in text
    assert ask(server, f"/{TOKEN}/", Host=f"localhost:{server.server_port}")[0] == 200


def test_another_page_cannot_ask(server: Server) -> None:
    form = {"query": "select 1", "run": "1"}
    assert ask(server, f"/{TOKEN}/sql", form, Origin="http://evil.example")[0] == 403
    assert ask(server, f"/{TOKEN}/sql", form, Origin=f"http://127.0.0.1:{server.server_port + 1}")[0] == 403
    assert ask(server, f"/{TOKEN}/sql", form, Origin=f"http://127.0.0.1:{server.server_port}")[0] == 200


def test_headers_allow_the_page_nothing_from_elsewhere(server: Server) -> None:
    _, headers, text = ask(server, f"/{TOKEN}/")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert "://" not in text
    assert not re.search(r"<script(?! src=\"(keys|map)\.js\")|\son\w+=", text)


def test_every_question_of_the_docs_is_a_button(server: Server) -> None:
    page = Path(__file__).parents[1] / "docs" / "questions.md"
    known = questions.known()
    assert [each.number for each in known] == list(range(1, page.read_text(encoding="utf-8").count("\n## ") + 1))
    status, _, text = ask(server, f"/{TOKEN}/questions")
    assert status == 200
    assert text.count('<form method="post" action="sql">') == text.count("<button") == len(known)
    told = Page(text).text
    assert all(f"{each.number}. {each.title}" in told and each.why in told for each in known)
    assert not any(mark in told for mark in ("](", "`"))


@pytest.mark.parametrize("number", [1, 2, 3, 13, 21])
def test_the_button_of_a_question_answers_it(server: Server, number: int) -> None:
    asked = questions.known()[number - 1]
    text = answered(server, asked.sql)
    assert 'id="answer"' in text
    assert "trouble" not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)


def test_releases_stand_side_by_side(server: Server) -> None:
    status, _, text = ask(server, f"/{TOKEN}/compare")
    assert status == 200
    lab = server.sandbox.lab
    ids = lab.sql("select release_id from report.summary")["release_id"].to_list()
    measures = lab.sql("from report.release_measure order by rank, measure, asked")
    rows = dict(re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', text))
    assert {"Counts of one person, alone", "Slots recovered by xu2017", "Singled out by 2 points"} <= rows.keys()
    assert all(row.count("<td>") == 1 + len(ids) == 3 for row in rows.values())
    assert "–" in rows["Slots recovered by xu2017"], "one of both was not attacked"
    found = measures.filter(measure="accuracy", asked="xu2017").row(0, named=True)
    assert f"{words.share(found['estimate'])} ({words.share(found['low'])} to" in rows["Slots recovered by xu2017"]
    assert "Singled out by 1 point" not in rows, "traces cut into windows are not those of the release"
    one = ask(server, f"/{TOKEN}/compare?{ids[0]}=1")[2]
    assert all(row.count("<td>") == 2 for row in re.findall(r'<tr><th scope="row">.*?</tr>', one))


def test_a_section_that_is_missing_says_why(server: Server) -> None:
    attacked, other = server.sandbox.lab.sql(
        "select release_id from counts.release order by release_id not in (select release_id from study.run)"
    )["release_id"]
    told = Page(ask(server, f"/{TOKEN}/?release={other}")[2]).text
    assert f"trajlab attack lab.duckdb dsilva2024 --release {other}" in told
    assert "no attack has run on this release" not in Page(ask(server, f"/{TOKEN}/?release={attacked}")[2]).text


def test_what_may_be_missing_says_why_and_names_commands_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    always = {"making", "records", "releases", "rhythm"}
    for section in sections.load_all():
        assert bool(section.needs) == (section.name not in always), section.name
        for command in re.findall(r"trajlab (\w+)", section.needs):
            with pytest.raises(SystemExit):
                main([command, "--help"])
    capsys.readouterr()


WRITES = [
    "drop table counts.release",
    "insert into counts.release select * from counts.release",
    "create table x as select 1",
    "create temp table x as select 1",
    "update counts.occupancy set people = 0",
    "select 1; drop table counts.release",
    "set threads = 1",
    "pragma database_list",
    "attach '/tmp/x.db'",
    "copy (select 1) to '/tmp/x.csv'",
    "install httpfs",
    "load httpfs",
    "checkpoint",
    "",
]
FILES = [
    "select * from read_csv('{file}')",
    "select * from read_text('{file}')",
    "select * from read_blob('{file}')",
    "select * from glob('/*')",
    "select * from read_parquet('{file}')",
    "select * from sniff_csv('{file}')",
]


@pytest.mark.parametrize("query", WRITES)
def test_a_write_fails_and_says_so(server: Server, lab_file: Path, query: str) -> None:
    before = lab_file.read_bytes()
    text = Page(answered(server, query).replace("<script", "<span").replace("</script", "</span")).text
    assert "the playground only reads, one SELECT at a time: tables change through the lab's verbs" in text
    assert lab_file.read_bytes() == before


def test_a_write_inside_a_select_fails_too(sandbox: Sandbox) -> None:
    with pytest.raises(QueryError, match="the playground only reads"):
        sandbox.run("with x as (delete from counts.release returning *) select * from x")


@pytest.mark.parametrize("query", FILES)
def test_files_are_out_of_reach(sandbox: Sandbox, lab_file: Path, query: str) -> None:
    with pytest.raises(QueryError, match="files, extensions and settings are out of reach here"):
        sandbox.run(query.format(file=lab_file.with_name("records.csv")))


def test_neither_a_file_as_a_table_nor_a_variable_of_python_can_be_read(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x.csv"
    file.write_text("secret\n1\n")
    monkeypatch.setattr("trajlab.explore.sandbox.frame", pl.DataFrame({"secret": [1]}), raising=False)
    for name in (f"'{file}'", "frame"):
        with pytest.raises(QueryError, match="does not exist|out of reach here"):
            sandbox.run(f"select * from {name}")


@pytest.mark.parametrize(
    "setting", ["enable_external_access = true", "python_enable_replacements = true", "threads = 1"]
)
def test_nothing_can_be_unlocked(sandbox: Sandbox, setting: str) -> None:
    with pytest.raises(duckdb.InvalidInputException, match="the configuration has been locked"):
        sandbox.lab._store.con.execute(f"set {setting}")


@pytest.fixture
def copied(lab_file: Path, tmp_path: Path) -> Path:
    """Another lab: within one process, a file that is open is locked for all."""
    return Path(shutil.copy(lab_file, tmp_path / "copy.duckdb"))


def test_rows_and_time_are_limited(copied: Path) -> None:
    with Sandbox(copied, seconds=3, rows=10, memory_limit="1GB") as sandbox:
        frame, more = sandbox.run("select * from range(1000000000)")
        assert (len(frame), more) == (10, True)
        frame, more = sandbox.run("select * from range(10)")
        assert (len(frame), more) == (10, False)
        began = time.monotonic()
        with pytest.raises(QueryError, match=r"stopped after 3 seconds: ask for less"):
            sandbox.run(
                "select count(*) from range(1000000) as a, range(1000000) as b where hash(a.range, b.range) = 1"
            )
        assert time.monotonic() - began < 60
        assert sandbox.run("select 1 as one")[0].item() == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not heed a limit of address space")
def test_memory_that_the_engine_does_not_count_is_limited(copied: Path) -> None:
    with Sandbox(copied, seconds=600, rows=10, memory_limit="500MB") as sandbox:
        for _ in range(2):
            with pytest.raises(QueryError, match="more memory is needed than allowed: ask for less"):
                sandbox.run("select list_sort(range(200000000))")
            assert sandbox.run("select 1 as one")[0].item() == 1
        used = Path(f"/proc/{sandbox._queries._process.pid}/limits").read_text()
        space = re.search(r"Max address space +(\d+) ", used)
        assert space is not None
        assert int(space[1]) < 4_000_000_000


ENDLESS = "select levenshtein(repeat('ab', 1000000), repeat('ba', 1000000)) as far"


def test_a_query_that_cannot_be_interrupted_is_ended(copied: Path) -> None:
    with Sandbox(copied, seconds=3, rows=10, memory_limit="1GB") as sandbox:
        with pytest.raises(QueryError, match="stopped after 3 seconds: ask for less"):
            sandbox.run(ENDLESS)
        assert sandbox.run("select 1 as one")[0].item() == 1


def test_a_slow_query_holds_no_page_and_its_end_is_not_that_of_the_next(copied: Path) -> None:
    with (
        Sandbox(copied, seconds=600, rows=10, memory_limit="1GB") as sandbox,
        Server(sandbox, port=0, token=TOKEN) as server,
        ThreadPoolExecutor() as pool,
    ):
        pool.submit(server.serve_forever, 0.05)
        try:
            answered(server, "select 1")
            slow = pool.submit(answered, server, ENDLESS)
            for path in ("tables", "tables?name=counts.release", ""):
                assert ask(server, f"/{TOKEN}/{path}")[0] == 200
            assert not slow.done()
            sandbox._queries._process.kill()  # as the system does when memory runs out
            assert "more memory is needed than allowed" in slow.result()
            assert "1 row" in answered(server, "select 2 as two")
        finally:
            server.shutdown()


def test_an_answer_has_a_size(sandbox: Sandbox) -> None:
    with pytest.raises(QueryError, match="the answer has more than 16 MB: ask for fewer rows, or shorter text"):
        sandbox.run("select repeat('x' || range, 500000) as long from range(20)")


BEYOND = [
    "select timestamp 'infinity' as at",
    "select timestamptz '-infinity' as at",
    "select date '290000-01-01' as at",
    "select [{'in': timestamp 'infinity'}] as at",
    "select map {'in': date 'infinity'} as at",
]


@pytest.mark.parametrize("query", BEYOND)
def test_times_beyond_the_calendar_are_refused(server: Server, query: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert "column &#x27;at&#x27; has times before the year 1 or after 9999" in answered(server, query)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("size", ["²", "9" * 5000, "-1", "x", "1e3", ""])
def test_a_length_that_is_none_is_refused(server: Server, size: str, capfd: pytest.CaptureFixture[str]) -> None:
    con = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    con.putrequest("POST", f"/{TOKEN}/sql")
    con.putheader("Content-Length", size.encode("latin-1"))
    con.endheaders()
    assert con.getresponse().status == 413
    con.close()
    assert capfd.readouterr().err == ""


def test_an_address_that_is_none_is_refused(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    assert ask(server, "http://[x/")[0] == 400
    assert capfd.readouterr().err == ""


def test_a_reader_who_leaves_early_is_no_news(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    for path in ("sql", "tables", ""):
        with socket.create_connection(("127.0.0.1", server.server_port)) as caller:
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not a goodbye
            caller.sendall(f"GET /{TOKEN}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
    assert ask(server, f"/{TOKEN}/tables")[0] == 200
    time.sleep(0.5)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("query", "told"), [("select 1/", "syntax error"), ("select nothing from counts.release", "nothing")]
)
def test_the_engines_reason_is_shown(server: Server, query: str, told: str) -> None:
    assert told in answered(server, query)


def test_answers_are_shown_with_the_query_and_the_tables_beside(server: Server) -> None:
    text = answered(server, "select index_name, count(*) as releases from counts.release group by all order by all")
    assert '<th scope="col">index_name</th>' in text
    assert "square:1000" in text
    assert "2 rows" in text
    assert 'class="chart' in text
    for table in catalogue():
        assert f"<summary>{table}</summary>" in text


def test_outlines_become_a_map_and_names_are_escaped() -> None:
    frame = pl.DataFrame(
        {"label": HOSTILE[:2], "n": [1, 2], "polygon": ["POLYGON ((0 0, 1 0, 1 1, 0 0))", "POINT (2 2)"]}
    )
    drawn = pictures.of(frame)
    assert drawn is not None
    assert drawn.count("</title></path>") == 2
    assert "<script" not in drawn
    assert pictures.of(frame.with_columns(polygon=pl.lit("no outline"))) is None
    assert pictures.of(pl.DataFrame({"x": [1, 2, 3], "y": [1.0, None, 2.0]})) is not None
    assert pictures.of(pl.DataFrame({"x": [1, 1], "y": [1, 2]})) is None
    assert pictures.of(pl.DataFrame({"name": ["a", "b"]})) is None


def test_one_release_one_run_and_one_question_can_be_chosen(server: Server, sandbox: Sandbox) -> None:
    run, release = sandbox.run("select run_id, release_id from study.run where attack = 'xu2017'")[0].row(0)
    (question,) = sandbox.run("select risk_id from study.risk where knowledge like 'points:2%'")[0].row(0)
    chosen = {"release": release, "run": run, "question": question, "part": "recovery"}
    status, _, text = ask(server, f"/{TOKEN}/?{urlencode(chosen)}")
    assert status == 200
    for value in (run, release, question):
        assert f'<option value="{value}" selected>' in text
    assert "Scores of xu2017" in text
    assert "Answer to: 2 points, true traces" in text
    assert '<section id="recovery">' in text
    assert "Zones" in text  # the other release can be chosen, and is not drawn
    for part in ("releases", "atlas", "rhythm", "reidentification", "making", "records", "no such part"):
        assert ask(server, f"/{TOKEN}/?{urlencode(chosen | {'part': part})}")[0] == 200


def test_a_relation_with_parameters_says_how_to_ask_for_it(server: Server) -> None:
    status, _, text = ask(server, f"/{TOKEN}/tables?name=report.recovered_day")
    assert status == 200
    assert "put values in the place of run_id, pairing, person" in Page(text).text
    assert urlencode({"query": "from report.recovered_day($run_id, $pairing, $person)"}) in text
    assert "trouble" not in Page(text).values("class")


def test_every_table_has_a_page_and_the_secret_is_not_on_it(server: Server, sandbox: Sandbox) -> None:
    secret = sandbox.run("select secret from study.secret")[0].item()
    for table in catalogue():
        status, _, text = ask(server, f"/{TOKEN}/tables?{urlencode({'name': table})}")
        assert status == 200
        assert f"<h1>{table}</h1>" in text
        assert secret not in text
    assert ask(server, f"/{TOKEN}/tables?name=counts.nothing")[0] == 400
    assert ask(server, f"/{TOKEN}/nothing")[0] == 404
    assert ask(server, f"/{TOKEN}")[1]["Location"] == f"/{TOKEN}/"


def test_names_and_queries_are_escaped(server: Server, tmp_path: Path) -> None:
    text = answered(server, "select '</textarea><script>alert(1)</script>' as \"<b>\"")
    assert "<script>alert" not in text
    assert "&lt;/textarea&gt;&lt;script&gt;" in text
    hostile = urlencode({"release": '"><script>', "run": "<b>", "part": "<i>"})
    status, _, text = ask(server, f"/{TOKEN}/?{hostile}")
    assert status == 200
    assert not re.search(r"<script>|<b>|<i>", text)
    assert "<script>" not in ask(server, f"/{TOKEN}/%3Cscript%3E")[2]


def test_a_query_has_a_length(server: Server) -> None:
    assert ask(server, f"/{TOKEN}/sql", {"query": "x" * (LONGEST_FORM + 1)})[0] == 413


def test_mistakes_are_told(tmp_path: Path, copied: Path, capsys: pytest.CaptureFixture[str], server: Server) -> None:
    assert main(["explore", str(tmp_path / "none.duckdb")]) == 2
    assert "no such lab" in capsys.readouterr().err
    assert main(["explore", str(copied), "--seconds", "0"]) == 2
    assert "a query needs time and rows" in capsys.readouterr().err
    with (
        Sandbox(copied, seconds=1, rows=1, memory_limit="1GB") as other,
        pytest.raises(LabError, match="choose another with --port"),
    ):
        Server(other, port=server.server_port, token=TOKEN)


def test_a_lab_without_a_release_says_so(tmp_path: Path) -> None:
    path = tmp_path / "empty.duckdb"
    tl.open(path).close()
    with Sandbox(path, seconds=5, rows=5, memory_limit="1GB") as sandbox:
        from trajlab.explore import pages

        assert "Nothing is published yet" in pages.render(sandbox, "", {})


@pytest.mark.parametrize("during", ["nothing", "a query", "silence"])
def test_the_command_prints_an_address_that_works_and_ends_with_ctrl_c(lab_file: Path, during: str) -> None:
    command = [sys.executable, "-m", "trajlab", "explore", str(lab_file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)/([\w-]{32})/", process.stdout.readline())
        assert found is not None
        con = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
        con.request("GET", f"/{found[2]}/tables")
        with con.getresponse() as answer:
            assert answer.status == 200
            answer.read()
        if during == "a query":
            con.request("POST", f"/{found[2]}/sql", urlencode({"query": ENDLESS, "run": "1"}))
            time.sleep(3)
        elif during == "silence":
            con.connect()
            time.sleep(0.5)
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=50)
        con.close()
    assert process.returncode == 0, err
    assert "closed" in out
    assert err == ""
