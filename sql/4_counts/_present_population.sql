-- counts._present_population: the counts of a release as multimno's table of the population present.
--
-- A tile is known by its south-west corner in EPSG:3035: metres north times ten million, and metres east. Instants
-- and the days that divide the files are in UTC, as in the pipeline. A slot that the local clock skipped never was.
--
-- reads:   counts.occupancy, counts.release, slots.slot, grid.cell
-- params:  release_id
-- columns:
--   grid_id     BIGINT       the tile
--   population  FLOAT        people in it
--   timestamp   TIMESTAMPTZ  when the slot begins
--   year        SMALLINT     year of that instant in UTC
--   month       TINYINT      its month
--   day         TINYINT      its day

with present as (
    select
        regexp_extract(cell.label, 'N([0-9]+)E', 1)::bigint * 10000000
            + regexp_extract(cell.label, 'E([0-9]+)$', 1)::bigint as grid_id,
        occupancy.people::float as population,
        timezone(release.tz, slot.starts) as instant
    from counts.occupancy as occupancy
    join counts.release as release using (release_id)
    join slots.slot as slot using (release_id, slot)
    join grid.cell as cell on cell.index_id = release.index_id and cell.cell = occupancy.cell
    where occupancy.release_id = $release_id
        and timezone(release.tz, timezone(release.tz, slot.starts)) = slot.starts
)

select
    grid_id,
    population,
    instant as "timestamp",
    year(timezone('UTC', instant))::smallint as year,
    month(timezone('UTC', instant))::tinyint as month,
    day(timezone('UTC', instant))::tinyint as day
from present
