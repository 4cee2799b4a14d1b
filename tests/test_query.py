from __future__ import annotations

import pytest

from trajlab.errors import ContractError, UnknownNameError
from trajlab.query import Query, catalogue, parse

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
