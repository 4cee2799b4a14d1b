-- report.arrivals: when people come to each place of a release and leave it.
--
-- grain:   release_id, cell, weekday, minute
-- reads:   grid.cell, counts.release, metrics.coming
-- shards by: cell
-- view:    yes
-- columns:
--   release_id  VARCHAR  the release
--   cell        UBIGINT  the cell, see grid.cell
--   label       VARCHAR  name of the cell
--   weekday     INTEGER  1 for Monday to 7
--   minute      INTEGER  minute of the day
--   time        VARCHAR  the same, HH:MM
--   arrivals    BIGINT   arrivals, all weeks together
--   departures  BIGINT   departures, all weeks together

select
    coming.release_id,
    coming.cell,
    cell.label,
    coming.weekday,
    coming.minute,
    printf('%02d:%02d', coming.minute // 60, coming.minute % 60) as time,
    coming.arrivals,
    coming.departures
from metrics.coming as coming
join counts.release as release using (release_id)
join grid.cell as cell using (index_id, cell)
