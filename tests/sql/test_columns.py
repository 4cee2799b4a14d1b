"""A column name has one type and one meaning, whichever relation it is in."""

from __future__ import annotations

from collections import defaultdict

import duckdb
import pytest

import trajlab as tl
from trajlab.query import catalogue
from trajlab.schema import RENAMED

TABLES = defaultdict(set)
TYPES = defaultdict(lambda: defaultdict(set))
for query in catalogue().values():
    for column in query.columns:
        TABLES[column.name].add(query.table)
        TYPES[column.name][column.type].add(query.table)

ONE_MEANING = {
    "about": (
        "traces where true or protected ones are searched; table",
        {
            *("metrics.risk", "study.risk", "study.leak", "report.reidentification", "report.schedule_answer"),
            *("metrics.membership", "study.membership"),
            *("metrics.count_error", "metrics.count_error_by_hour", "metrics.count_error_by_cell"),
            *("report.every_metric", "report.study_metric", "report.release_measure"),
            *("metrics.verdict", "report.verdict"),
        },
    ),
    "found": ("whether the person's own trace is one of those that fit", {"metrics.anonymity"}),
    "kept": ("whether the person is in the release", {"slots.person"}),
    "kind": ("kind of input", {"records.source", "report.input_by_kind", "report.input_outcome"}),
    "known_id": ("the traces that something is known from, see study.traces", {"study.risk"}),
    "mean_risk": (
        "mean over people of the chance to pick the right trace",
        {"metrics.risk_by_group", "report.group_risk", "report.reidentification", "report.cube_risk"},
    ),
    "observed": ("whether records say so", {"slots.position"}),
    "parent": ("name of the larger place or zone", {"records.place", "records.zone"}),
    "part": ("which part of the person's time a trace is", {"slots.trace"}),
    "pick_chance": ("chance to pick the right trace: 1 / k where it is found, else 0", {"metrics.anonymity"}),
    "risk": (
        "what is put against loss: of changes of a release, the better the smaller",
        {"metrics.tradeoff", "report.tradeoff_point", "metrics.recommendation"},
    ),
    "searched_id": ("the traces that are searched, see study.traces", {"study.risk", "report.reidentification"}),
    "stage": ("1 night, 2 day, 3 everything", {"metrics.pair"}),
    "zone": ("the zone, see grid.cell", {"grid.overlap", "metrics.od_zone"}),
}
"""Names that once meant several things: what each means now, and the tables that have it for that."""


@pytest.mark.parametrize("name", sorted(TYPES))
def test_a_column_name_has_one_type(name):
    assert len(TYPES[name]) == 1, {kind: sorted(tables) for kind, tables in TYPES[name].items()}


@pytest.mark.parametrize("name", sorted(ONE_MEANING))
def test_a_name_that_was_ambiguous_is_used_for_one_thing(name):
    meaning, tables = ONE_MEANING[name]
    assert TABLES[name] <= tables, f"{name} is: {meaning}; give the column of another meaning a name of its own"


@pytest.mark.parametrize("table", sorted(RENAMED))
def test_a_renamed_column_is_there_under_its_new_name_alone(table):
    columns = {column.name for column in catalogue()[table].columns}
    assert set(RENAMED[table].values()) <= columns
    assert not set(RENAMED[table]) & columns


@pytest.mark.parametrize(
    ("table", "layout", "values", "after"),
    [
        ("records.lesson", "person INTEGER, weekday INTEGER, begins INTEGER, ends INTEGER, place VARCHAR",
         "(1, 2, 480, 590, 'hall')",
         {"person": 1, "weekday": 2, "begin_minute": 480, "end_minute": 590, "place": "hall"}),
        ("study.note", "release_id VARCHAR, about VARCHAR, share DOUBLE, note VARCHAR", "('r1', 'tz', 0.5, 'a note')",
         {"release_id": "r1", "subject": "tz", "share": 0.5, "note": "a note"}),
        ("study.secret", "name VARCHAR, value VARCHAR", "('pseudonyms', 'abc')", {"name": "pseudonyms", "secret": "abc"}),
        ("metrics.top_set", "run_id VARCHAR, of VARCHAR, k INTEGER, member INTEGER, shared_by BIGINT",
         "('x1', 'truth', 2, 7, 3)", {"run_id": "x1", "of": "truth", "places": 2, "member": 7, "shared_by": 3}),
        ("metrics.presence", "flows_id VARCHAR, cell UBIGINT, person_hours BIGINT", "('f', 5, 12)",
         {"flows_id": "f", "cell": 5, "person_hours": 12.0}),
        ("metrics.anonymity",
         ("risk_id VARCHAR, trace INTEGER, known INTEGER, k BIGINT, found BOOLEAN, risk DOUBLE, "
          "mean_risk DOUBLE, combinations BIGINT"), "('k1', 1, 2, 4, true, 0.25, 0.125, 3)",
         {"risk_id": "k1", "trace": 1, "known": 2, "k": 4, "found": True, "pick_chance": 0.25, "mean_pick_chance": 0.125,
          "combinations": 3}),
        ("metrics.exposure",
         ("risk_id VARCHAR, kind VARCHAR, cell UBIGINT, slot INTEGER, people BIGINT, "
          "singled_out BIGINT, share DOUBLE"), "('k1', 'slot', null, 3, 4, 1, 0.25)",
         {"risk_id": "k1", "exposed_by": "slot", "cell": None, "slot": 3, "people": 4, "singled_out": 1,
          "share": 0.25}),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)  # fmt: skip
def test_an_older_lab_keeps_the_values_of_columns_that_have_another_name_or_type_now(
    tmp_path, table, layout, values, after
):
    file = tmp_path / "older.duckdb"
    tl.open(file).close()
    with duckdb.connect(file) as con:
        con.execute(f"drop table {table}")
        con.execute(f"create table {table} ({layout})")
        con.execute(f"insert into {table} values {values}")
    with tl.open(file) as lab:
        assert lab.table(table).rows(named=True) == [after]
    with duckdb.connect(file, read_only=True) as con:
        types = dict(
            con.execute(
                "select column_name, data_type from duckdb_columns() where schema_name || '.' || table_name = $table",
                {"table": table},
            ).fetchall()
        )
    assert types == {column.name: column.type for column in catalogue()[table].columns}
