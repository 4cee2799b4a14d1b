-- report.accuracy_by_day: how well an attack recovers each day.
--
-- Each day is paired by itself, so that it is not blamed for a wrong link before it.
--
-- grain:   run_id, pairing, date
-- reads:   slots.slot, metrics.pair, study.run
-- shards by: slot
-- view:    yes
-- columns:
--   run_id                 VARCHAR  the run, see study.run
--   pairing                VARCHAR  how tracks are taken for people: optimal or greedy
--   date                   VARCHAR  the day, with its weekday
--   accuracy               DOUBLE   share of slots in the right cell
--   people_without_a_miss  BIGINT   people whose whole day is right

select
    pair.run_id,
    pair.pairing,
    strftime(slot.starts, '%a %Y-%m-%d') as date,
    sum(pair.hits) / sum(pair.slots)::double as accuracy,
    count(*) filter (pair.hits = pair.slots) as people_without_a_miss
from metrics.pair as pair
join study.run as run using (run_id)
join slots.slot as slot on slot.release_id = run.release_id and slot.slot = pair.from_slot
where pair.stage = 2
group by pair.run_id, pair.pairing, date
