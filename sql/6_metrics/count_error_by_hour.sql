-- metrics.count_error_by_hour: how far the published table is from the unprotected one at each time of day.
--
-- About the published table. Sums are over all days of the release; see metrics.count_error for the measures.
--
-- grain:   release_id, unprotected_id, published_table, from_hour
-- reads:   metrics.count_error_by_slot, metrics.count_distance, slots.slot
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id        VARCHAR  the release that is published
--   unprotected_id    VARCHAR  the release that it is compared with
--   published_table   VARCHAR  occupancy or flow
--   from_hour         VARCHAR  when the slot begins, HH:MM
--   true_people       DOUBLE   people in the unprotected table
--   published_people  DOUBLE   people in the published table
--   relative_error    DOUBLE   sum of |published - true|, by the sum of true counts
--   hidden_share      DOUBLE   share of person-slots whose row is not published
--   hidden_row_share  DOUBLE   share of rows with somebody that are not published
--   total_bias        DOUBLE   what the published sum has too much or too little, by the true sum
--   rank_correlation  DOUBLE   Spearman's, mean over slots
--   busiest_overlap   DOUBLE   share of the busiest tenth that is found, mean over slots
--   distance_m        DOUBLE   earth mover's distance in metres, mean over slots that have one; null for flow
--   about             VARCHAR  table: these are errors of the published table

select
    error.release_id,
    error.unprotected_id,
    error.published_table,
    strftime(slot.starts, '%H:%M') as from_hour,
    sum(error.true_people::decimal(38, 6))::double as true_people,
    sum(error.published_people::decimal(38, 6))::double as published_people,
    sum(error.absolute_error::decimal(38, 6))::double / nullif(sum(error.true_people::decimal(38, 6)), 0)::double
        as relative_error,
    sum(error.hidden_people::decimal(38, 6))::double / nullif(sum(error.true_people::decimal(38, 6)), 0)::double
        as hidden_share,
    sum(error.hidden_rows)::double / nullif(sum(error.true_rows), 0)::double as hidden_row_share,
    (sum(error.published_people::decimal(38, 6)) - sum(error.true_people::decimal(38, 6)))::double
        / nullif(sum(error.true_people::decimal(38, 6)), 0)::double as total_bias,
    avg(error.rank_correlation::decimal(20, 12)) as rank_correlation,
    avg(error.busiest_overlap::decimal(20, 12)) as busiest_overlap,
    avg(case when error.published_table = 'occupancy' then distance.distance_m::decimal(20, 6) end) as distance_m,
    'table' as about
from metrics.count_error_by_slot as error
join slots.slot as slot on slot.release_id = error.release_id and slot.slot = error.slot
left join metrics.count_distance as distance
    on distance.release_id = error.release_id
    and distance.unprotected_id = error.unprotected_id
    and distance.slot = error.slot
group by error.release_id, error.unprotected_id, error.published_table, from_hour
