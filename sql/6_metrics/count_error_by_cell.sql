-- metrics.count_error_by_cell: how far the published table is from the unprotected one in each cell: for the map.
--
-- About the published table. Sums are over all slots of the release; see metrics.count_error for the measures.
--
-- grain:   release_id, unprotected_id, cell
-- reads:   metrics.count_change, counts.release, grid.cell
-- shards by: cell
-- view:    yes
-- columns:
--   release_id        VARCHAR  the release that is published
--   unprotected_id    VARCHAR  the release that it is compared with
--   cell              UBIGINT  the cell, see grid.cell
--   label             VARCHAR  what people call the cell
--   lng               DOUBLE   longitude of a point inside the cell
--   lat               DOUBLE   latitude of that point
--   true_people       DOUBLE   people in the unprotected table, over all slots
--   published_people  DOUBLE   people in the published table
--   absolute_error    DOUBLE   sum of |published - true|
--   relative_error    DOUBLE   absolute_error / true_people; null where nobody is
--   hidden_share      DOUBLE   share of the cell's person-slots whose row is not published
--   about             VARCHAR  table: these are errors of the published table

select
    change.release_id,
    change.unprotected_id,
    change.cell,
    cell.label,
    cell.lng,
    cell.lat,
    sum(change.true_people::decimal(38, 6))::double as true_people,
    sum(change.published_people::decimal(38, 6))::double as published_people,
    sum(abs(change.published_people - change.true_people)::decimal(38, 6))::double as absolute_error,
    sum(abs(change.published_people - change.true_people)::decimal(38, 6))::double
        / nullif(sum(change.true_people::decimal(38, 6)), 0)::double as relative_error,
    coalesce(sum(change.true_people::decimal(38, 6)) filter (not change.listed), 0)::double
        / nullif(sum(change.true_people::decimal(38, 6)), 0)::double as hidden_share,
    'table' as about
from metrics.count_change as change
join counts.release as release using (release_id)
left join grid.cell as cell on cell.index_id = release.index_id and cell.cell = change.cell
group by change.release_id, change.unprotected_id, change.cell, cell.label, cell.lng, cell.lat
