-- slots._records_behind: the newest source that a release knew, its study box, and how many records are behind its traces.
--
-- reads:   counts.release, study.release, grid.index, slots.trace
-- params:  traces_id, release_id
-- columns:
--   last_source  INTEGER  the newest source that the release knew
--   settings     VARCHAR  JSON: the study box, and what was done with points outside it
--   records      HUGEINT  records behind the traces

select
    study.last_source,
    (select settings from grid.index where index_id = release.index_id) as settings,
    (select sum(records) from (select distinct person, records from slots.trace where traces_id = $traces_id)) as records
from counts.release as release
join study.release as study on study.release_id = release.release_id
where release.release_id = $release_id
