-- report.finest: the finest release of the lab: the one with most cells, then most counts.
--
-- Questions about one release take it; nothing where nothing was published.
--
-- grain:   release_id
-- reads:   counts.release, report.summary
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id  VARCHAR  the release
--   index_id    UBIGINT  its cells, see grid.cell

select release.release_id, release.index_id
from counts.release as release
join report.summary as summary using (release_id)
order by summary.cells desc, summary.counts desc, release.release_id
limit 1
