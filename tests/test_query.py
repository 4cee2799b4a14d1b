from __future__ import annotations

import pytest

from trajlab import query as queries
from trajlab.errors import ContractError, UnknownNameError
from trajlab.query import Query, catalogue, parse, tables_of

GOOD = """\
-- counts.toy: a toy.
--
-- Prose.
--
-- grain:   slot
-- reads:   none
-- params:  slot
-- columns:
--   slot  INTEGER  the slot,
--     on two lines

select $slot::integer as slot
"""


def written(tmp_path, text, name="toy.sql"):
    folder = tmp_path / "4_counts"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def test_a_file_is_its_table(tmp_path):
    query = parse(written(tmp_path, GOOD))
    assert (query.table, query.summary, query.grain, query.params) == (
        "counts.toy",
        "a toy.",
        ("slot",),
        ("slot",),
    )
    assert query.columns[0].meaning == "the slot, on two lines"
    assert query.scope == ("slot",)
    assert query.select == "select $slot::integer as slot"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "counts.toy: a toy",
            "counts.other: a toy",
            "the header names 'counts.other', the file is the table 'counts.toy'",
        ),
        ("-- grain:   slot\n", "", "the header has no grain"),
        ("\nselect $slot::integer as slot\n", "", "either a SELECT or a line 'written by:'"),
        ("--   slot  INTEGER  the slot,", "--   slot  INTEGER", "no name, type and meaning"),
    ],
)
def test_a_header_that_breaks_the_rules_is_refused(tmp_path, before, after, message):
    assert before in GOOD
    with pytest.raises(ContractError, match=message):
        parse(written(tmp_path, GOOD.replace(before, after)))


def test_tables_come_after_what_they_read():
    seen: set[str] = set()
    for table, query in catalogue().items():
        assert set(query.reads) <= seen
        seen.add(table)


def test_an_unknown_table_is_refused_with_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"no table named 'counts.nope'; there are: .*counts.occupancy"):
        Query.load("counts.nope")


STAGES = {
    "leak_id": {"leak_id", "asked_k", "keep", "known_schedule_id", "risk_id"},
    "utility_id": {"utility_id", "before_id", "after_id"},
    "tradeoff_id": {"tradeoff_id"},
}


@pytest.mark.parametrize("key", STAGES)
def test_a_file_with_the_parameters_of_a_stage_is_one_of_its_tables(tmp_path, monkeypatch, key):
    text = GOOD.replace("counts.toy", "metrics.toy").replace("slot\n-- columns", f"{key}\n-- columns")
    text = text.replace("grain:   slot", f"grain:   {key}")
    (tmp_path / "6_metrics").mkdir()
    file = tmp_path / "6_metrics" / "toy.sql"
    file.write_text(text)
    before = tables_of(key, STAGES[key])
    assert before
    monkeypatch.setattr(queries, "catalogue", lambda: catalogue() | {"metrics.toy": parse(file)})
    assert tables_of(key, STAGES[key]) == [*before, parse(file)]
    assert tables_of(key, {key} - {key}) == []


def test_steps_that_need_more_than_a_stage_has_are_not_its_tables():
    built = {query.table for key, given in STAGES.items() for query in tables_of(key, given)}
    assert {"metrics.leak", "metrics.leak_curve", "metrics.leak_by_slot", "metrics.person_leak"} < built
    assert not built & {"metrics.crowd", "metrics.crowd_slot", "metrics.extraction"}
