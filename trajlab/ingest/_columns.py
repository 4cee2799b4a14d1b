"""Which column of a file is which: the names that other tools use, and what to do when two fit.

A file made for scikit-mobility, trackintel, movingpandas, bandicoot, FlowKit or NOMAD
should be read without being told anything. A guess between two columns is never made:
both are named, and the answer is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from trajlab.errors import IngestError


@dataclass(frozen=True, slots=True)
class Words:
    """Names of one column, compared without regard to case; a blank or a dash in it is an underscore.

    `weak` names are too general to contradict a better one: a file with `user_id`
    and `id` has one candidate, a file with `id` alone has one too.
    """

    strong: frozenset[str]
    weak: frozenset[str] = frozenset()


def words(strong: str, weak: str = "") -> Words:
    return Words(frozenset(strong.split()), frozenset(weak.split()))


RECORD = {
    "uid": words(
        "uid user user_id userid username person person_id device device_id deviceid device_aid msisdn"
        " subscriber subscriber_id imsi imei mac mac_address agent agent_id participant participant_id"
        " individual_id caller caller_id phone_id",
        "u id traj_id trajectory_id tid identifier",
    ),
    "ts": words(
        "ts datetime timestamp tracked_at time date_time time_stamp event_time recorded_at unix_timestamp unix_time",
        "t date",
    ),
    "lat": words("lat latitude"),
    "lng": words("lng lon long longitude"),
}
DATE = words("date local_date event_date")
CLOCK = words("time clock local_time event_time")
"""Two columns that are a time together, where the one holds dates and the other clocks."""
STATION = words(
    "station station_id base_station cell cell_id cellid antenna antenna_id tower tower_id bts bts_id mast"
    " mast_id site_id location_id",
    "place place_id site location id",
)
PLACE = words(
    "place place_id ap ap_id ap_name access_point access_point_id accesspoint location_id building_id building",
    "location name id",
)
PLACE_IN_A_TABLE = Words(PLACE.strong - {"building", "building_id"}, PLACE.weak | {"building", "building_id"})
PARENT = words("parent parent_id building building_id", "campus zone floor")
DIRECTION = words("direction call_direction outgoing")
REGION = words("region region_id province district", "lac area")


def resolve(
    found: Iterable[str],
    wanted: Mapping[str, Words],
    needs: Iterable[str],
    explicit: Mapping[str, str] | None,
    where: str,
) -> dict[str, str]:
    """Map canonical names to the columns found. `explicit` wins; doubt and absence are refused."""
    columns = list(found)
    mapping = _explicit_mapping(columns, wanted, explicit or {}, where)
    for name, known in wanted.items():
        if name in mapping:
            continue
        free = [c for c in columns if c not in mapping.values()]
        fits = [c for c in free if _plain(c) in known.strong]
        fits = fits or [c for c in free if _plain(c) in known.weak]
        if len(fits) > 1:
            raise IngestError(
                f"{where}: {_listing(fits)} could each be {name!r}; say which with {_advice(name, fits[0])}"
            )
        if fits:
            mapping[name] = fits[0]
    for name in needs:
        if name not in mapping:
            raise IngestError(
                f"{where}: no column for {name!r} among {_listing(columns)}; "
                f"say which one it is with {_advice(name, '...')}"
            )
    return mapping


def date_and_clock(found: Iterable[str]) -> tuple[str, str] | None:
    """The column of dates and the column of clocks, where there is one of each and no other that would be a time."""
    columns = list(found)
    dates, clocks, times = (
        [column for column in columns if _plain(column) in known.strong] for known in (DATE, CLOCK, RECORD["ts"])
    )
    if len(dates) == len(clocks) == 1 and set(times) <= set(clocks):
        return dates[0], clocks[0]
    return None


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def family(column_type: str) -> str:
    """`zone`, `naive`, `number`, `text` or `other`, from the engine's name of a column type."""
    head = column_type.split("(")[0].strip('"').upper()
    if head in {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ", "TIMESTAMPTZ_NS"}:
        return "zone"
    if head in {"TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S", "DATE"}:
        return "naive"
    if head in _NUMBERS:
        return "number"
    return "text" if head in {"VARCHAR", "ENUM", "NULL"} else "other"


_NUMBERS = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
    "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL",
}  # fmt: skip


def _explicit_mapping(
    columns: list[str], wanted: Mapping[str, Words], explicit: Mapping[str, str], where: str
) -> dict[str, str]:
    mapping: dict[str, str] = {}
    for name, column in explicit.items():
        if name not in wanted:
            raise IngestError(f"{where}: columns= knows {_listing(wanted)}, not {name!r}")
        exact = [c for c in columns if c == column] or [c for c in columns if c.lower() == column.lower()]
        if len(exact) != 1:
            raise IngestError(f"{where}: columns= says {name!r} is {column!r}, but the columns are {_listing(columns)}")
        if exact[0] in mapping.values():
            raise IngestError(f"{where}: columns= uses {column!r} for two different things")
        mapping[name] = exact[0]
    return mapping


def _advice(name: str, column: str) -> str:
    return f'columns={{"{name}": "{column}"}} or --column {name}={column}'


def _listing(names: Iterable[str]) -> str:
    shown = [repr(n if len(n) <= 40 else n[:37] + "...") for n in names]
    more = f" and {len(shown) - 30} more" if len(shown) > 30 else ""
    return ", ".join(shown[:30]) + more
