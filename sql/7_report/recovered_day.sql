-- report.recovered_day: a day of one person, slot by slot: where they were, and where a run says that they were.
--
-- The day is the one on which the person was in most cells, the first of several alike: the hardest to recover.
--
-- grain:   slot
-- reads:   study.run, study.release, counts.release, slots.position, slots.slot, attacks.track, metrics.pair, grid.cell
-- params:  run_id, pairing, person
-- shards by: person
-- view:    yes
-- columns:
--   slot             INTEGER    slot of the release
--   starts           TIMESTAMP  local time at which it begins
--   true_label       VARCHAR    what people call the cell in which the person was
--   recovered_label  VARCHAR    the cell in which the run places them
--   metres_apart     DOUBLE     distance between the two, rounded
--   true_x           DOUBLE     metres east of the index's centre
--   true_y           DOUBLE     metres north of the index's centre
--   recovered_x      DOUBLE     the same of the cell recovered
--   recovered_y      DOUBLE     the same of the cell recovered

with attacked as (
    select release.release_id, release.index_id
    from study.run as run
    join study.release as made on made.release_id = run.release_id
    join counts.release as release on release.release_id = made.unprotected_id
    where run.run_id = $run_id
),

position as (
    select slot.slot, slot.day, slot.starts, position.cell
    from attacked
    join slots.position as position on position.release_id = attacked.release_id
    join slots.slot as slot on slot.release_id = position.release_id and slot.slot = position.slot
    where position.person = $person
),

busiest_day as (
    select day from position group by day order by count(distinct cell) desc, day limit 1
),

recovered as (
    select track.slot, track.cell
    from attacks.track as track
    join metrics.pair as pair on pair.run_id = track.run_id and pair.track = track.track
    where track.run_id = $run_id and pair.pairing = $pairing and pair.stage = 3 and pair.person = $person
)

select
    position.slot,
    position.starts,
    true_cell.label as true_label,
    recovered_cell.label as recovered_label,
    round(sqrt((true_cell.x - recovered_cell.x) ** 2 + (true_cell.y - recovered_cell.y) ** 2)) as metres_apart,
    true_cell.x as true_x,
    true_cell.y as true_y,
    recovered_cell.x as recovered_x,
    recovered_cell.y as recovered_y
from position
join busiest_day on busiest_day.day = position.day
join recovered on recovered.slot = position.slot
cross join attacked
join grid.cell as true_cell
    on true_cell.index_id = attacked.index_id and true_cell.cell = position.cell
join grid.cell as recovered_cell
    on recovered_cell.index_id = attacked.index_id and recovered_cell.cell = recovered.cell
