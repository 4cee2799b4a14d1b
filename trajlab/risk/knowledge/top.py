"""Knowledge of somebody's most frequent places (yin2015; xu2017, figure 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajlab.errors import RiskError, UnknownNameError
from trajlab.query import Query

if TYPE_CHECKING:
    from trajlab.progress import Progress
    from trajlab.risk.knowledge import Question
    from trajlab.store import Store

ORDERS = ("ordered", "unordered")
MIN_SHARE = 0.1
"""The papers give no number."""

KNOWN_PLACES = """
insert into metrics.known_point by name
select $risk_id as risk_id, place.trace, place.rank, null::integer as slot, place.cell
from metrics.top_place as place
join metrics.target as target on target.risk_id = $risk_id and target.trace = place.trace
where
    place.traces_id = $known_id
    and (place.rank <= $places or place.share >= $min_share)
"""

CROWDS = """
insert into metrics.anonymity by name
with described as (
    select
        traces_id,
        trace,
        count(*) as known,
        list_sort(list({'rank': case when $order = 'ordered' then rank else 0 end, 'cell': cell})) as places
    from metrics.top_place
    where traces_id in ($known_id, $searched_id) and (rank <= $places or share >= $min_share)
    group by traces_id, trace
),

crowd as (
    select places, count(*) as k
    from described
    where traces_id = $searched_id
    group by places
),

everybody as (
    select count(*) as k
    from slots.trace
    where traces_id = $searched_id
),

outcome as (
    select
        target.trace,
        coalesce(target_known.known, 0) as known,
        case when target_known.trace is null then everybody.k else coalesce(crowd.k, 0) end as k,
        case when target_known.trace is null then target.own is not null
            else coalesce(own.places = target_known.places, false) end as found
    from metrics.target as target
    cross join everybody
    left join described as target_known on target_known.traces_id = $known_id and target_known.trace = target.trace
    left join described as own on own.traces_id = $searched_id and own.trace = target.own
    left join crowd on crowd.places = target_known.places
    where target.risk_id = $risk_id
)

select
    $risk_id as risk_id,
    trace,
    known,
    k,
    found,
    case when found then 1 / k else 0 end as risk,
    case when found then 1 / k else 0 end as mean_risk,
    1 as combinations
from outcome
"""


@dataclass(frozen=True, slots=True)
class Top:
    """The most frequent places, in order or as a set: top:2, top:3:unordered, top:variable.

    `places` is how many, or `variable` for those that hold at least `min_share` of the visits,
    the first of them where none does. Ties go to the place visited first. Whoever has fewer
    places is known by all of them; a trace fits when its own list is the very same.
    """

    places: str | int
    order: str = "ordered"
    min_share: float = MIN_SHARE

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise UnknownNameError("order", self.order, ORDERS)
        if not 0 < self.min_share <= 1:
            raise RiskError(f"min_share is a share of somebody's visits, above 0 and up to 1, not {self.min_share:g}")
        if self.places == "variable":
            return
        number = str(self.places)
        if not number.isascii() or not number.isdigit() or int(number) < 1:
            raise RiskError(f"top takes a number of places, 1 or more, or the word variable, not {self.places!r}")
        if self.min_share != MIN_SHARE:
            raise RiskError(f"min_share goes with top:variable; top:{number} takes the places whatever their share")
        object.__setattr__(self, "places", int(number))

    def search(self, store: Store, ask: Question, progress: Progress) -> None:
        for traces_id in sorted({ask.known_id, ask.searched_id}):
            if not store.rows("select 1 from metrics.top_place where traces_id = $id limit 1", id=traces_id):
                with progress.step("metrics.top_place", poll=store.engine.percent_done):
                    store.build(Query.load("metrics.top_place"), traces_id=traces_id)
        ((most,),) = store.rows("select max(rank) from metrics.top_place where traces_id = $id", id=ask.known_id)
        if isinstance(self.places, int) and self.places > most:
            raise RiskError(f"nobody has {self.places} places: ask for top:{most} or fewer")
        chosen = {
            "risk_id": ask.risk_id,
            "known_id": ask.known_id,
            "places": self.places if isinstance(self.places, int) else 1,
            "min_share": 2.0 if isinstance(self.places, int) else self.min_share,
        }
        store.con.execute(KNOWN_PLACES, chosen)
        store.con.execute(CROWDS, chosen | {"searched_id": ask.searched_id, "order": self.order})


KNOWLEDGE = Top
