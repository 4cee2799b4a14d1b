-- report.crowd_schedules: what the members of a crowd have in common in each slot of the week.
--
-- grain:   leak_id, block, crowd, number
-- reads:   grid.cell, slots.timetable, counts.release, metrics.crowd_slot, study.leak
-- shards by: risk_id
-- view:    yes
-- columns:
--   leak_id      VARCHAR  the leak, see study.leak
--   points       INTEGER  points known
--   block        INTEGER  block of people searched at once
--   crowd        INTEGER  the crowd, see metrics.crowd_slot
--   number       INTEGER  the slot of the timetable, see slots.timetable
--   name         VARCHAR  its weekday and hour
--   k            BIGINT   size of the crowd
--   likely       VARCHAR  the place where members are likeliest
--   appearances  BIGINT   weeks of members with an appearance there
--   chance       DOUBLE   chance to meet a member there
--   habits       BIGINT   members with a habit in the slot
--   guess        VARCHAR  the habit that can be guessed
--   different    BIGINT   different places of the members
--   effective    DOUBLE   how many places they are effectively spread over

select
    crowd.leak_id,
    leak.points,
    crowd.block,
    crowd.crowd,
    crowd.number,
    slot.name,
    crowd.k,
    likely.label as likely,
    crowd.appearances,
    crowd.chance,
    crowd.habits,
    guess.label as guess,
    crowd.different,
    crowd.effective
from metrics.crowd_slot as crowd
join study.leak as leak using (leak_id)
join counts.release as release using (release_id)
join slots.timetable as slot on slot.schedule_id = leak.searched_schedule_id and slot.number = crowd.number
left join grid.cell as likely on likely.index_id = release.index_id and likely.cell = crowd.likely_cell
left join grid.cell as guess on guess.index_id = release.index_id and guess.cell = crowd.common_cell
