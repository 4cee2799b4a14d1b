-- metrics.person_leak: how much of each person's schedule the anonymity set gives away (ma2017).
--
-- A slot is sensitive for a person who has a habit there when it is the common habit of the set
-- (metrics.crowd_slot). On recovered tracks the habits are the true person's and the set is one of tracks.
-- Whoever is alone, or fits no track, has no set to be guessed from, and nulls.
--
-- disclosed is totally when every habit is sensitive (ssr = ntr > 0), partly when some are, hidden when none is, and
-- nothing when the person has no habits.
--
-- grain:   leak_id, trace
-- reads:   metrics.target, metrics.anonymity, metrics.crowd, metrics.crowd_slot, metrics.habit, slots.timetable
-- params:  leak_id, risk_id, known_schedule_id, keep
-- shards by: person
-- columns:
--   leak_id          VARCHAR  the question, see study.leak
--   trace            INTEGER  the trace looked for, see metrics.target
--   person           INTEGER  whose it is, see records.person
--   k                BIGINT   traces in the anonymity set
--   slots            INTEGER  slots of the timetable: T
--   habit_slots      INTEGER  slots in which the person has a habit
--   sensitive_slots  INTEGER  those of them that are sensitive
--   prob_m           DOUBLE   the largest chance of the set over all slots: max attack probability
--   riskiest         INTEGER  the slot that has it, the first among equals
--   ntr              DOUBLE   habit_slots / slots: rate of non-empty slots
--   ssr              DOUBLE   sensitive_slots / slots: sensitive schedule rate
--   ssr_ntr          DOUBLE   sensitive_slots / habit_slots; null without habits
--   disclosed        VARCHAR  totally, partly, hidden or nothing; null without a set
--   schedules        BIGINT   different whole schedules in the set: distinct l
--   effective        DOUBLE   the same as entropy l
--   least_values     BIGINT   the fewest different habits in any slot in which a member has one: distinct l of the worst slot

with timetable as (
    select count(*) as slots
    from slots.timetable
    where schedule_id = $known_schedule_id
),

looked_for as (
    select target.trace, target.person, answer.k, crowd.crowd
    from metrics.target as target
    join metrics.anonymity as answer on answer.risk_id = $risk_id and answer.trace = target.trace
    left join metrics.crowd as crowd on crowd.leak_id = $leak_id and crowd.trace = target.trace
    where target.risk_id = $risk_id
),

habit as (
    select trace, number, cell
    from metrics.habit
    where schedule_id = $known_schedule_id and keep = $keep and is_habit and number > 0
),

habits_of_person as (
    select
        who.trace,
        count(*) as habit_slots,
        sum(case when common.common_cell = habit.cell then 1 else 0 end) as sensitive_slots
    from looked_for as who
    join habit on habit.trace = who.trace
    left join metrics.crowd_slot as common
        on common.leak_id = $leak_id and common.crowd = who.crowd and common.number = habit.number
    group by who.trace
),

chance_of_set as (
    select
        crowd,
        max(chance) as prob_m,
        max(different) filter (where number = 0) as schedules,
        max(effective) filter (where number = 0) as effective,
        min(different) filter (where number > 0 and habits > 0) as least_values
    from metrics.crowd_slot
    where leak_id = $leak_id
    group by crowd
),

riskiest_slot as (
    select slot.crowd, min(slot.number) as number
    from metrics.crowd_slot as slot
    join chance_of_set as best on best.crowd = slot.crowd and best.prob_m = slot.chance
    where slot.leak_id = $leak_id and slot.number > 0
    group by slot.crowd
),

counted as (
    select
        who.trace,
        who.person,
        who.k,
        who.crowd,
        timetable.slots,
        coalesce(own.habit_slots, 0) as habit_slots,
        case when who.crowd is not null then coalesce(own.sensitive_slots, 0) end as sensitive_slots
    from looked_for as who
    cross join timetable
    left join habits_of_person as own on own.trace = who.trace
)

select
    $leak_id as leak_id,
    counted.trace,
    counted.person,
    counted.k,
    counted.slots::integer as slots,
    counted.habit_slots::integer as habit_slots,
    counted.sensitive_slots::integer as sensitive_slots,
    case when counted.crowd is not null then coalesce(best.prob_m, 0) end as prob_m,
    riskiest.number as riskiest,
    counted.habit_slots / counted.slots::double as ntr,
    counted.sensitive_slots / counted.slots::double as ssr,
    counted.sensitive_slots / nullif(counted.habit_slots, 0)::double as ssr_ntr,
    case
        when counted.crowd is null then null
        when counted.habit_slots = 0 then 'nothing'
        when counted.sensitive_slots = counted.habit_slots then 'totally'
        when counted.sensitive_slots > 0 then 'partly'
        else 'hidden'
    end as disclosed,
    case when counted.crowd is not null then coalesce(best.schedules, 1) end as schedules,
    case when counted.crowd is not null then coalesce(best.effective, 1) end as effective,
    best.least_values
from counted
left join chance_of_set as best on best.crowd = counted.crowd
left join riskiest_slot as riskiest on riskiest.crowd = counted.crowd
