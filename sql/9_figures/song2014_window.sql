-- figures.song2014_window: the searches of whole traces and of windows that figures of a release show.
--
-- One for each window and number of points: of slots before records, of everybody before a sample.
--
-- grain:   release_id, protection, known
-- reads:   report.adversary
-- shards by: run_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   protection    VARCHAR  none, or the windows that traces were cut into
--   known         INTEGER  random points known
--   risk_id       VARCHAR  the question, see report.adversary
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  before, or the length of the windows

select distinct on (release_id, protection, known)
    release_id,
    protection,
    known,
    risk_id,
    case
        when protection = 'none' then 0
        else (length(protection) * 100 + ascii(split_part(protection, ':', 2)))::integer
    end as series_order,
    case protection when 'none' then 'before' else 'windows of ' || split_part(protection, ':', 2) end as series
from report.adversary
where knowledge_kind = 'points' and run_id is null and (protection = 'none' or protection like 'cut:%')
order by release_id, protection, known, basis desc, sample desc nulls first, seed, risk_id
