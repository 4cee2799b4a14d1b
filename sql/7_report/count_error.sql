-- report.count_error: how far each published table is from the one it was made from, a row a table.
--
-- About the published table itself: no trace is looked at. A table that is compared with itself, because nothing
-- protects it, is left out. See metrics.count_error for the measures.
--
-- grain:   release_id, unprotected_id, published_table
-- reads:   metrics.count_error, counts.release
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id        VARCHAR  the release that is published
--   unprotected_id    VARCHAR  the release that it is compared with
--   recipe            VARCHAR  the protections that its counts went through, in order; empty where there are none
--   min_count         INTEGER  smaller counts are left out
--   published_table   VARCHAR  occupancy (people in cells) or flow (people who go from one cell to another)
--   relative_error    DOUBLE   sum of |published - true|, by the sum of true counts
--   error_low         DOUBLE   lower end of its 95 % interval over slots
--   error_high        DOUBLE   upper end of that interval
--   hidden_share      DOUBLE   share of person-slots whose row is not published
--   hidden_row_share  DOUBLE   share of rows with somebody that are not published
--   total_bias        DOUBLE   what the published sum has too much or too little, by the true sum
--   rank_correlation  DOUBLE   Spearman's, mean over slots
--   busiest_overlap   DOUBLE   share of the busiest tenth that is found, mean over slots
--   distance_m        DOUBLE   earth mover's distance in metres, mean over slots; null for flow

select
    error.release_id,
    error.unprotected_id,
    release.recipe,
    release.min_count,
    error.published_table,
    max(error.estimate) filter (error.measure = 'relative_error') as relative_error,
    max(error.low) filter (error.measure = 'relative_error') as error_low,
    max(error.high) filter (error.measure = 'relative_error') as error_high,
    max(error.estimate) filter (error.measure = 'hidden_people') as hidden_share,
    max(error.estimate) filter (error.measure = 'hidden_rows') as hidden_row_share,
    max(error.estimate) filter (error.measure = 'total_bias') as total_bias,
    max(error.estimate) filter (error.measure = 'rank_correlation') as rank_correlation,
    max(error.estimate) filter (error.measure = 'busiest_overlap') as busiest_overlap,
    max(error.estimate) filter (error.measure = 'distance_m') as distance_m
from metrics.count_error as error
join counts.release as release using (release_id)
where error.release_id <> error.unprotected_id
group by error.release_id, error.unprotected_id, release.recipe, release.min_count, error.published_table
