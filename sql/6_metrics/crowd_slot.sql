-- metrics.crowd_slot: what the members of each anonymity set have in common, slot by slot of the timetable.
--
-- The likely place is the one with the largest sum of weeks over members (A_n of ma2017; among equals the smaller
-- id). The common habit is the place that more members have as a habit (metrics.habit) than have any other, and
-- more than have none: a tie has no common habit. Slot 0 stands for the whole week: its habits are whole schedules.
-- A slot in which no member was ever seen has no row.
--
-- Diversity counts "no habit" as a value of its own. `different` is distinct l-diversity, `effective` is
-- entropy l-diversity: 2 to the power of the entropy of the members' habits in bits.
--
-- grain:   leak_id, block, crowd, number
-- reads:   metrics.crowd, metrics.known_point, metrics.habit, slots.visit, slots.timetable
-- params:  leak_id, block, risk_id, searched_traces, searched_schedule_id, keep
-- shards by: risk_id
-- columns:
--   leak_id      VARCHAR  the question, see study.leak
--   block        INTEGER  the block that the set was tallied in, see metrics.crowd
--   crowd        INTEGER  the set, see metrics.crowd
--   number       INTEGER  slot of the timetable, see slots.timetable; 0 for the whole week
--   k            BIGINT   members
--   likely_cell  UBIGINT  the likely place; null for slot 0
--   appearances  BIGINT   weeks that members spent there, as their usual place: A_n; null for slot 0
--   chance       DOUBLE   appearances / (k * weeks): how likely it is to meet a member there; null for slot 0
--   habits       BIGINT   members with a habit in the slot
--   common       BIGINT   members with the most frequent habit
--   common_cell  UBIGINT  the common habit; null where there is none, and for slot 0
--   different    BIGINT   different habits, none included: distinct l
--   effective    DOUBLE   two to the power of their entropy: entropy l

with crowd as (
    select crowd, k, known, rarest
    from metrics.crowd
    where leak_id = $leak_id and block = $block and trace = crowd
),

known as (
    select crowd.crowd, point.rank = crowd.rarest as is_rarest, point.slot, point.cell
    from crowd
    join metrics.known_point as point on point.risk_id = $risk_id and point.trace = crowd.crowd
),

candidate as (
    select known.crowd, visit.trace
    from known
    join slots.visit as visit
        on visit.traces_id = $searched_traces and visit.slot = known.slot and visit.cell = known.cell
    where known.is_rarest
),

passes_others as (
    select candidate.crowd, candidate.trace, count(*) as points
    from candidate
    join known on known.crowd = candidate.crowd and not known.is_rarest
    join slots.visit as visit
        on visit.traces_id = $searched_traces
        and visit.trace = candidate.trace
        and visit.slot = known.slot
        and visit.cell = known.cell
    group by candidate.crowd, candidate.trace
),

member as (
    select candidate.crowd, candidate.trace
    from candidate
    join crowd on crowd.crowd = candidate.crowd
    left join passes_others as other on other.crowd = candidate.crowd and other.trace = candidate.trace
    where coalesce(other.points, 0) = crowd.known - 1
),

tally as (
    select
        member.crowd,
        habit.number,
        habit.cell,
        sum(habit.appear)::bigint as appearances,
        sum(case when habit.is_habit then 1 else 0 end)::bigint as members
    from member
    join metrics.habit as habit on habit.trace = member.trace
    where habit.schedule_id = $searched_schedule_id and habit.keep = $keep
    group by member.crowd, habit.number, habit.cell
),

most as (
    select
        crowd,
        number,
        max(appearances) as appearances,
        sum(members)::bigint as habits,
        max(members) as common,
        count(*) filter (where members > 0) as different,
        sum((members * log2(greatest(members, 1)))::decimal(24, 9)) as bits
    from tally
    group by crowd, number
),

with_places as (
    select
        tally.crowd,
        tally.number,
        min(tally.cell) filter (where tally.appearances = most.appearances) as likely_cell,
        min(tally.cell) filter (where tally.members = most.common) as common_cell,
        count(*) filter (where tally.members = most.common) as ties
    from tally
    join most on most.crowd = tally.crowd and most.number = tally.number
    group by tally.crowd, tally.number
),

beside_none as (
    select
        most.crowd,
        most.number,
        crowd.k,
        crowd.k - most.habits as without,
        most.appearances,
        most.habits,
        most.common,
        most.different,
        most.bits
    from most
    join crowd on crowd.crowd = most.crowd
)

select
    $leak_id as leak_id,
    $block::integer as block,
    set.crowd,
    set.number,
    set.k,
    case when set.number > 0 then place.likely_cell end as likely_cell,
    set.appearances,
    set.appearances / (set.k * slot.weeks)::double as chance,
    set.habits,
    set.common,
    case
        when set.number > 0 and set.common > set.without and place.ties = 1 then place.common_cell
    end as common_cell,
    set.different + case when set.without > 0 then 1 else 0 end as different,
    round(
        power(2, log2(set.k) - (set.bits::double + set.without * log2(greatest(set.without, 1))) / set.k), 9
    ) as effective
from beside_none as set
join with_places as place on place.crowd = set.crowd and place.number = set.number
left join slots.timetable as slot on slot.schedule_id = $searched_schedule_id and slot.number = set.number
