"""A certificate: the same bytes for the same decision, and no byte of it can change unseen."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import re
import struct
from pathlib import Path
from typing import Any

import pytest
from conftest import TINY_BOX, examples, tiny_lab
from hypothesis import given
from hypothesis import strategies as st
from test_report import Page

import trajlab as tl
from trajlab import certificate
from trajlab.certificate import canonical, checking, page, schema, sealing
from trajlab.certificate.sealing import BrokenSealError
from trajlab.cli import main
from trajlab.errors import LabError, PolicyError, TrajlabError

HOSTILE = ["<script>alert(1)</script>", "\"><img src=x onerror='alert(1)'>", "</title></style><b>&amp;", "a\x00b‮c"]


def result(position: int, **other: Any) -> dict[str, Any]:
    return {
        "position": position,
        "rule": "recovery",
        "settings": {"attack": "xu2017", "over_control": False},
        "concern": "linkability",
        "about": "table",
        "estimate": 0.12,
        "low": 0.08,
        "high": 0.17,
        "yardstick": 0.05,
        "lower_limit": None,
        "upper_limit": 0.1,
        "unit": "share",
        "people": 300,
        "worst_decile": 0.4,
        "verdict": "review",
        "sentence": "xu2017 places people in the right cell in 12 % of the slots; the limit is at most 10 %",
        "why": "",
        "exception": None,
        "groups": [{"trait": "age", "value": "18-30", "people": 40, "estimate": 0.2}],
    } | other


def body(**other: Any) -> dict[str, Any]:
    """What a certificate may say, by hand."""
    return {
        "format": "trajlab-certificate-1",
        "decision_id": "d123456789ab",
        "verdict": "review",
        "release": {
            "release_id": "r123456789ab",
            "index_name": "square:500",
            "starts": "2024-03-04T00:00:00",
            "tz": "Europe/Lisbon",
            "slot_seconds": 1800,
            "slots_per_day": 48,
            "slots": 336,
            "fill": "static",
            "min_count": 15,
            "recipe": "suppress:15",
            "total_low": 300,
            "total_high": 300,
            "claim": None,
            "settings": {"coverage": 0.0, "seed": 0, "box": None},
        },
        "policy": {"name": "strict", "text": 'name = "strict"\n', "hash": "ab" * 32},
        "input": {"records_hash": "cd" * 16},
        "seed": 0,
        "results": [
            result(1),
            result(2, rule="contributors", concern="singling out", unit="people", estimate=15.0, low=None, high=None,
                   upper_limit=None, lower_limit=21.0, verdict="fail", yardstick=None, worst_decile=None, groups=[]),
            result(3, rule="singling_out", concern="singling out", about="traces", verdict="pass"),
            result(4, rule="count_error", concern="utility", verdict="pass", exception="agreed on with the office"),
        ],
        "versions": dict.fromkeys(("duckdb", "numba", "numpy", "polars", "python", "scipy", "trajlab"), "1.0"),
    } | other  # fmt: skip


# Canonical JSON


def test_numbers_are_spelled_as_rfc_8785_spells_them():
    # The samples of the RFC, appendix B: the bits of a double, and how ECMAScript writes it.
    samples = {
        "0000000000000000": "0",
        "8000000000000000": "0",
        "0000000000000001": "5e-324",
        "7fefffffffffffff": "1.7976931348623157e+308",
        "4340000000000000": "9007199254740992",
        "4430000000000000": "295147905179352830000",
        "44b52d02c7e14af5": "9.999999999999997e+22",
        "44b52d02c7e14af6": "1e+23",
        "444b1ae4d6e2ef4e": "999999999999999700000",
        "444b1ae4d6e2ef50": "1e+21",
        "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
        "3eb0c6f7a0b5ed8d": "0.000001",
        "41b3de4355555555": "333333333.3333333",
        "becbf647612f3696": "-0.0000033333333333333333",
        "43143ff3c1cb0959": "1424953923781206.2",
    }
    for bits, spelled in samples.items():
        (value,) = struct.unpack(">d", bytes.fromhex(bits))
        assert canonical.encode(value).decode() == spelled


def test_keys_are_sorted_by_their_utf_16_units_and_text_has_few_escapes():
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\u00f6": 7}
    assert list(json.loads(canonical.encode(value))) == ["\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert canonical.encode('\u20ac$\x0f\nA\'B"\\\\"/') == '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'.encode()


texts = st.text(st.sampled_from('aZ0"\\\n\x00\x1f\x7f\u00f6\u20ac\ufb33\U0001f600'), max_size=4)
plain = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | texts
finite = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    plain | finite,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(texts, inside, max_size=3),
    max_leaves=6,
)


@examples(100, 2000)
@given(value=values)
def test_what_is_written_is_read_back_and_written_the_same(value):
    content = canonical.encode(value)
    assert canonical.decode(content) == value
    assert canonical.encode(canonical.decode(content)) == content


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, "\ud800", {1, 2}])
def test_what_has_no_canonical_form_is_refused(value):
    with pytest.raises(ValueError):
        canonical.encode({"a": [value]})


@pytest.mark.parametrize("content", [b'{"b":1,"a":2}', b'{"a": 1}', b"1.0", b"1e2", b'"\\u0041"', b'{"a":1,"a":1}'])
def test_another_spelling_of_a_value_is_not_its_canonical_one(content):
    with pytest.raises(ValueError, match="not in canonical form"):
        canonical.decode(content)


def test_values_that_lie_too_deep_are_refused():
    with pytest.raises(ValueError, match="too deep"):
        canonical.decode(b"[" * 100_000 + b"]" * 100_000)


# Seal


def test_a_sealed_body_comes_back_and_is_the_same_bytes_again():
    assert sealing.unseal(sealing.seal(body())) == body()
    assert sealing.seal(body()) == sealing.seal(dict(reversed(body().items())))


def test_every_flipped_byte_breaks_the_seal():
    content = sealing.seal(body())
    for place in range(len(content)):
        bit = 1 << (place % 8)
        changed = content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :]
        with pytest.raises(BrokenSealError):
            sealing.unseal(changed)


def test_bytes_that_are_taken_away_added_or_exchanged_break_the_seal():
    content = sealing.seal(body())
    changed = [
        content[:-1],
        content + b"\n",
        b" " + content,
        b"\xef\xbb\xbf" + content,
        content.replace(b"\n", b"\r\n"),
    ]
    changed += [content[:place] + content[place + 1 :] for place in range(0, len(content), 7)]
    changed += [content.replace(b'"pass"', b'"fail"', 1), content.replace(b"0.12", b"0.21", 1), b"", b"\n"]
    for each in changed:
        assert each != content
        with pytest.raises(BrokenSealError):
            sealing.unseal(each)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"{}", "does not end with a line end"),
        (b"\xff\n", r"not canonical JSON \(UnicodeDecodeError\): bytes were changed"),
        (b"{}\n", "does not keep to the schema: certificate has no body"),
        (b"x" * (sealing.LARGEST + 1), r"larger than a certificate can be \(32 MB\)"),
    ],
)
def test_what_is_no_certificate_is_told_from_one(content, complaint):
    with pytest.raises(BrokenSealError, match=complaint):
        sealing.unseal(content)


def test_a_number_that_was_changed_with_care_shows_in_the_digest():
    content = sealing.seal(body()).replace(b'"estimate":0.12', b'"estimate":0.02', 1)
    with pytest.raises(BrokenSealError, match="not the one that was sealed: the digest differs"):
        sealing.unseal(content)


# Schema


def test_the_schema_uses_only_words_that_the_check_knows_and_describes_every_member():
    def walk(part: Any) -> None:
        assert part.keys() <= schema.WORDS
        for inside in [*part.get("properties", {}).values(), *part.get("$defs", {}).values()]:
            assert "$ref" in inside or "description" in inside or "const" in inside or "pattern" in inside
            walk(inside)
        if "items" in part:
            walk(part["items"])

    walk(schema.load())


def test_a_certificate_keeps_to_the_schema():
    assert list(schema.violations(json.loads(sealing.seal(body())))) == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda c: c["body"].pop("policy"), "certificate.body has no policy"),
        (lambda c: c["body"].update(format="other"), "certificate.body.format must be 'trajlab-certificate-1'"),
        (lambda c: c["body"].update(verdict="maybe"), "certificate.body.verdict must be one of pass, fail, review"),
        (lambda c: c["body"].update(more=1), "certificate.body has 'more', which a certificate has not"),
        (lambda c: c["body"].update(results={}), "certificate.body.results must be array"),
        (lambda c: c["body"]["results"][0].update(people="0"), "results[0].people must be integer or null"),
        (lambda c: c["body"]["results"][0].update(people=True), "results[0].people must be integer or null"),
        (lambda c: c["body"]["results"][0].update(low="0"), "results[0].low must look like ^unbounded$"),
        (lambda c: c["body"]["release"].update(slots=0), "certificate.body.release.slots must be at least 1"),
        (lambda c: c["seal"].update(digest="00"), "certificate.seal.digest must look like ^[0-9a-f]{64}$"),
        (lambda c: c["body"]["results"][0]["groups"][0].pop("trait"), "results[0].groups[0] has no trait"),
    ],
)
def test_what_does_not_keep_to_the_schema_is_named(change, complaint):
    found = json.loads(sealing.seal(body()))
    change(found)
    assert any(complaint in each for each in schema.violations(found))


def test_a_certificate_sealed_around_something_else_is_refused():
    with pytest.raises(BrokenSealError, match="does not keep to the schema: certificate.body has 'more'"):
        sealing.unseal(sealing.seal(body(more=1)))


# Check


def written(path: Path, content: dict[str, Any]) -> Path:
    path.write_bytes(sealing.seal(content))
    return path


def test_without_a_lab_only_the_seal_is_checked_and_the_answer_says_so(tmp_path):
    done = certificate.check(written(tmp_path / "c.json", body()))
    assert done.holds
    assert not done.recomputed
    assert str(done) == (
        "whole: no byte differs from what was sealed; whether it is true, only a lab can say (--lab LAB)"
    )


def test_a_broken_seal_is_told_with_the_file(tmp_path):
    file = tmp_path / "c.json"
    file.write_bytes(sealing.seal(body())[:-2] + b"\n")
    done = certificate.check(file)
    assert not done.holds
    assert str(done).startswith("NOT VERIFIED\n  c.json: it is not canonical JSON")


def test_a_lab_that_says_the_same_verifies(tmp_path):
    done = checking.compare(body(), body())
    assert str(done) == "verified: the lab gives every result of the certificate again"


def test_what_differs_is_named_by_rule_and_number(tmp_path):
    now = copy.deepcopy(body(verdict="fail"))
    now["results"][0] |= {"estimate": 0.5, "verdict": "fail"}
    now["results"][2]["groups"] = []
    done = checking.compare(body(), now)
    assert not done.holds
    assert done.differences == (
        "results[recovery].estimate: 0.12 in the certificate, 0.5 in the lab",
        'results[recovery].verdict: "review" in the certificate, "fail" in the lab',
        "results[singling_out].groups: 1 in the certificate, 0 in the lab",
        'verdict: "review" in the certificate, "fail" in the lab',
    )


def test_many_differences_are_counted():
    now = body(results=[result(n + 1, rule=f"rule {n}") for n in range(30)])
    was = body(results=[result(n + 1, rule=f"rule {n}", estimate=0.5) for n in range(30)])
    assert checking.compare(was, now).differences[-1] == "and 10 more"


def test_other_versions_are_told_and_are_no_fault():
    now = body(versions=body()["versions"] | {"polars": "9.9"})
    done = checking.compare(body(), now)
    assert done.holds
    assert done.notes == ("note: polars was 1.0, and is 9.9 here",)


def test_a_file_that_is_not_there_is_a_mistake(tmp_path):
    with pytest.raises(LabError, match=r"'none.json' cannot be read: No such file or directory"):
        certificate.check(tmp_path / "none.json")


def test_a_certificate_is_a_json_file_and_no_folder(tmp_path):
    with pytest.raises(
        LabError, match=r"'c.txt' is no .json: name the certificate decision.json; its sheet is written"
    ):
        certificate.check_path(tmp_path / "c.txt")
    (tmp_path / "c.json").mkdir()
    with pytest.raises(LabError, match=r"c.json is a folder: name the file to write, such as decision.json"):
        certificate.check_path(tmp_path / "c.json")


def test_a_certificate_without_a_folder_is_refused_before_the_decision(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    town("lab.duckdb").close()
    words = ["decide", "lab.duckdb", "--policy", "flowkit", "--certificate", "below/nothing/c.json"]
    assert main(words) == 2
    told = "trajlab: cannot write below/nothing/c.json: there is no folder below/nothing\n"
    assert capsys.readouterr().err == told
    with tl.open("lab.duckdb", read_only=True) as lab:
        assert not len(lab.table("study.decision"))


# Sheet


def sheet(content: dict[str, Any], name: str = "c.json") -> str:
    return page.render(content, sealing.digest(content), name)


def test_the_sheet_says_the_answer_the_rules_and_the_seal():
    read = Page(sheet(body()))
    assert "May this table be published?? To be reviewed" in read.text
    assert "4 rules: 2 pass, 1 fails and 1 is to be reviewed; 1 exception with a written reason." in read.text
    for part in ("What this table gives away", "What the traces behind it would give away", "still good for"):
        assert part in read.text
    assert "xu2017 places people in the right cell in 12 % of the slots12%8.0% to 17%at most 10%" in read.text
    assert "at most 10%5.0%300 peopleworst tenth 40%" in read.text
    assert "15 peopleat least 21" in read.text
    assert "Exception: agreed on with the office" in read.text
    assert sealing.digest(body()) in read.text
    assert "trajlab verify c.json --lab LAB" in read.text


@pytest.mark.parametrize("text", HOSTILE)
def test_the_sheet_shows_hostile_text_and_obeys_none(text):
    bad = body(policy={"name": text, "text": text, "hash": "ab" * 32}, results=[result(1, rule=text, sentence=text,
               exception=text)])  # fmt: skip
    bad["release"] |= {"index_name": text, "recipe": text, "claim": text, "tz": text}
    found = sheet(bad, text)
    read = Page(found)
    assert not {"script", "img", "b"} & {tag for tag, attrs in read.tags if tag != "b" or attrs}
    assert not re.search(r"[\x00-\x08]", found)
    assert sealing.unseal(sealing.seal(bad)) == bad


def test_the_sheet_asks_for_nothing_outside_itself():
    found = sheet(body())
    read = Page(found)
    assert "://" not in found
    assert not {"script", "link", "img", "iframe", "a"} & {tag for tag, _ in read.tags}


# In a lab

POLICY = """
name = "own"

[[rule]]
rule = "contributors"
at_least = 2
why = "nobody is alone in a row"

[[rule]]
rule = "recovery"
attack = "xu2017"
at_most = 0.5

[[rule]]
rule = "epsilon"
at_most = 2
exception = "there is no noise, and nobody asked for it"
"""


@pytest.fixture(scope="module")
def policy(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("policy") / "own.toml"
    file.write_text(POLICY)
    return file


def town(path: Path | str = ":memory:") -> tl.Lab:
    lab = tiny_lab(path)
    lab.release("square:1000", "3h", box=TINY_BOX, outside="clamp")
    return lab


@pytest.fixture(scope="module")
def lab() -> tl.Lab:
    return town()


@pytest.fixture(scope="module")
def certified(lab: tl.Lab, policy: Path, tmp_path_factory) -> Path:
    """The certificate of a decision on the tiny town."""
    decision = lab.decide(release_of(lab), policy)
    file, sheet = lab.certificate(decision, tmp_path_factory.mktemp("out") / "decision.json")
    assert sheet == file.with_suffix(".html")
    return file


def release_of(lab: tl.Lab) -> str:
    return str(lab.sql("select release_id from counts.release").item())


def test_a_certificate_says_what_the_lab_says(lab, certified):
    found = json.loads(certified.read_bytes())["body"]
    decision = lab.sql("from study.decision").row(0, named=True)
    assert found["policy"] == {"name": "own", "text": POLICY, "hash": hashlib.sha256(POLICY.encode()).hexdigest()}
    assert found["input"]["records_hash"] == decision["records_hash"]
    assert found["verdict"] == decision["verdict"] == "fail"
    assert found["release"]["settings"]["outside"] == "clamp"
    rules = lab.sql("from metrics.verdict order by position").rows(named=True)
    assert [row["rule"] for row in found["results"]] == [row["rule"] for row in rules]
    for row, rule in zip(found["results"], rules, strict=True):
        for name in ("low", "high", "verdict", "sentence", "exception"):
            assert row[name] == (None if rule[name] is None else "unbounded" if rule[name] == math.inf else rule[name])
    assert found["versions"].keys() == {"trajlab", "python", "duckdb", "polars", "numpy", "scipy", "numba"}
    assert list(schema.violations(json.loads(certified.read_bytes()))) == []


def test_the_same_records_and_policy_give_the_same_bytes_in_another_lab_that_then_verifies(certified, policy, tmp_path):
    other = town()
    again, _ = other.certificate(other.decide(release_of(other), policy), tmp_path / "again.json")
    assert again.read_bytes() == certified.read_bytes()
    done = other.verify(certified)
    assert (done.holds, done.recomputed, done.differences, done.notes) == (True, True, (), ())


def test_a_certificate_that_was_sealed_again_around_another_number_does_not_verify(lab, certified, tmp_path):
    changed = json.loads(certified.read_bytes())["body"]
    changed["verdict"] = "pass"
    changed["results"][1] |= {"estimate": 0.25, "verdict": "pass"}
    done = lab.verify(written(tmp_path / "c.json", changed))
    assert not done.holds
    assert [each.partition(":")[0] for each in done.differences] == [
        "results[recovery].estimate",
        "results[recovery].verdict",
        "verdict",
    ]


def test_a_certificate_with_another_exception_does_not_pass_for_the_policy(lab, certified, tmp_path):
    changed = json.loads(certified.read_bytes())["body"]
    changed["results"][2]["exception"] = None
    done = lab.verify(written(tmp_path / "c.json", changed))
    assert any("results[epsilon].exception: null in the certificate" in each for each in done.differences)


def test_a_flipped_byte_is_found_before_the_lab_is_asked(lab, certified, tmp_path):
    content = bytearray(certified.read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "c.json").write_bytes(content)
    done = lab.verify(tmp_path / "c.json")
    assert not done.holds
    assert not done.recomputed


def test_every_flipped_byte_of_a_real_certificate_breaks_its_seal(certified):
    content = certified.read_bytes()
    for place in range(len(content)):
        with pytest.raises(BrokenSealError):
            sealing.unseal(content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :])


def test_a_lab_without_the_release_cannot_verify(certified):
    with pytest.raises(TrajlabError, match="no release named"):
        tiny_lab().verify(certified)


def test_a_decision_that_is_not_there_is_refused(lab, tmp_path):
    with pytest.raises(PolicyError, match="the lab has no decision 'd0'; it has v"):
        lab.certificate("d0", tmp_path / "c.json")


def test_a_secret_seed_of_noise_is_not_certified(tmp_path):
    secret = 2**61 + 987_654_321
    lab = tiny_lab()
    noise = "noise:geometric:eps=1:unit=person-slot"
    made = lab.release("square:2000", "12h", box=TINY_BOX, outside="clamp", seed=secret, protect=noise)
    (tmp_path / "own.toml").write_text('name = "own"\n[[rule]]\nrule = "epsilon"\nat_most = 5\n')
    files = lab.certificate(lab.decide(made, tmp_path / "own.toml"), tmp_path / "c.json")
    assert not any(str(secret) in file.read_text() for file in files)
    assert json.loads(files[0].read_bytes())["body"]["release"]["settings"]["seed"] == "seed kept secret"
    assert lab.verify(files[0]).holds


def test_the_shell_certifies_and_verifies(policy, tmp_path, capsys):
    file, out = tmp_path / "lab.duckdb", tmp_path / "decision.json"
    town(file).close()
    asked = ["decide", str(file), "--policy", str(policy), "--certificate"]
    assert main([*asked, str(tmp_path / "decision.txt")]) == 2
    assert "'decision.txt' is no .json" in capsys.readouterr().err
    assert main([*asked, str(out)]) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [f"wrote {out}", f"wrote {out.with_suffix('.html')}"]
    assert main(["verify", str(out)]) == 0
    assert capsys.readouterr().out.startswith("whole: no byte differs from what was sealed; whether it is true")
    assert main(["verify", str(out), "--lab", str(file)]) == 0
    assert capsys.readouterr().out == "verified: the lab gives every result of the certificate again\n"
    assert main(["verify", str(out), "--lab", str(tmp_path / "none.duckdb")]) == 2
    assert "no such lab" in capsys.readouterr().err
    assert main(["verify", str(tmp_path / "none.json"), "--lab", str(file)]) == 2
    assert "'none.json' cannot be read: No such file or directory" in capsys.readouterr().err
    out.write_bytes(out.read_bytes().replace(b'"fail"', b'"pass"'))
    assert main(["verify", str(out), "--lab", str(file)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "NOT VERIFIED",
        "  decision.json: its content is not the one that was sealed: the digest differs",
    ]


@pytest.mark.parametrize(
    ("recipe", "min_count", "told"),
    [
        ("", 1, "none"),
        ("", 15, "counts below 15 left out"),
        ("suppress:10", 1, "Counts below 10 left out (suppress:10)"),
        (
            "suppress:10:secondary round:5",
            1,
            (
                "Counts below 10 left out, and what would reveal them; counts rounded to multiples of 5 "
                "(suppress:10:secondary round:5)"
            ),
        ),
        (
            "noise:geometric:eps=1:unit=person-day",
            1,
            "Geometric noise on every count, ε = 1 per person-day (noise:geometric:eps=1:unit=person-day)",
        ),
        ("own:3", 1, "Own:3 (own:3)"),
    ],
)
def test_the_sheet_says_in_words_what_was_done_to_the_counts(recipe, min_count, told):
    assert page._protection(recipe, min_count) == told
