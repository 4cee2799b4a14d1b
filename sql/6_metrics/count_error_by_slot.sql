-- metrics.count_error_by_slot: how far the published table is from the unprotected one in each slot.
--
-- occupancy: people in cells. flow: people who go from one cell to another between this slot and the next; who stays
-- where they are is in occupancy already. Small counts are left out slot by slot, so that is how they are compared: a
-- row that is not published is lost, however many people its pair of cells has over the period.
--
-- rank_correlation is Spearman's, over the rows that either table has, equal counts sharing their mean rank:
-- 1 where the tables are the same, 0 where the published one has no order at all. busiest_overlap is the share of
-- the busiest tenth of true rows (at least one) among as many of the busiest published ones; rows as busy as the last
-- of them share its place. What is 0 or less there is not busy.
--
-- grain:   release_id, unprotected_id, published_table, slot
-- reads:   metrics.count_change, counts.flow
-- params:  release_id, unprotected_id
-- shards by: slot
-- columns:
--   release_id        VARCHAR  the release that is published
--   unprotected_id    VARCHAR  the release that it is compared with
--   published_table   VARCHAR  occupancy or flow
--   slot              INTEGER  slot of the release, from 0
--   true_rows         BIGINT   rows of the unprotected table with somebody
--   hidden_rows       BIGINT   those of them that are not published
--   listed_rows       BIGINT   rows of the published table
--   invented_rows     BIGINT   those of them that hold nobody
--   true_people       DOUBLE   people in the unprotected table
--   published_people  DOUBLE   people in the published table
--   hidden_people     DOUBLE   people whose row is not published
--   absolute_error    DOUBLE   sum of |published - true|
--   rank_correlation  DOUBLE   Spearman's, see above
--   busiest_overlap   DOUBLE   share of the busiest tenth that is found, see above

with unprotected_flow as (
    select slot, origin, destination, people
    from counts.flow
    where release_id = $unprotected_id and origin <> destination
),

published_flow as (
    select slot, origin, destination, people, true as listed
    from counts.flow
    where release_id = $release_id and origin <> destination
),

either as (
    select 'occupancy' as published_table, slot, true_people, published_people, listed
    from metrics.count_change
    where release_id = $release_id and unprotected_id = $unprotected_id
    union all
    select
        'flow' as published_table,
        slot,
        coalesce(unprotected_flow.people, 0)::double as true_people,
        coalesce(published_flow.people, 0)::double as published_people,
        coalesce(published_flow.listed, false) as listed
    from unprotected_flow
    full join published_flow using (slot, origin, destination)
),

-- Of a row: how many of its slot are above it, and how many as large as it is, itself among them.
placed as (
    select
        *,
        rank() over (partition by published_table, slot order by true_people desc) - 1 as true_above,
        count(*) over (partition by published_table, slot, true_people) as true_alike,
        rank() over (partition by published_table, slot order by published_people desc) - 1 as published_above,
        count(*) over (partition by published_table, slot, published_people) as published_alike,
        ceil(count(*) filter (true_people > 0) over (partition by published_table, slot) / 10.0) as busiest
    from either
),

-- Twice the mean rank is a whole number, and a place among the busiest is 1, 0, or a share of those left.
ranked as (
    select
        *,
        (2 * true_above + true_alike)::hugeint as true_rank,
        (2 * published_above + published_alike)::hugeint as published_rank,
        case when true_people > 0 then least(greatest((busiest - true_above) / true_alike, 0), 1) else 0 end
            as true_place,
        case
            when published_people > 0
                then least(greatest((busiest - published_above) / published_alike, 0), 1)
            else 0
        end as published_place
    from placed
),

summed as (
    select
        published_table,
        slot,
        count(*) filter (true_people > 0) as true_rows,
        count(*) filter (true_people > 0 and not listed) as hidden_rows,
        count(*) filter (listed) as listed_rows,
        count(*) filter (listed and true_people = 0) as invented_rows,
        sum(true_people::decimal(38, 6))::double as true_people,
        sum(published_people::decimal(38, 6))::double as published_people,
        coalesce(sum(true_people::decimal(38, 6)) filter (not listed), 0)::double as hidden_people,
        sum(abs(published_people - true_people)::decimal(38, 6))::double as absolute_error,
        (count(*) * sum(true_rank * published_rank) - sum(true_rank) * sum(published_rank))::double as together,
        (count(*) * sum(true_rank * true_rank) - sum(true_rank) * sum(true_rank))::double as true_spread,
        (count(*) * sum(published_rank * published_rank) - sum(published_rank) * sum(published_rank))::double
            as published_spread,
        round(sum(least(true_place, published_place)::decimal(38, 12))::double / nullif(max(busiest), 0), 9)
            as busiest_overlap
    from ranked
    group by published_table, slot
)

select
    $release_id as release_id,
    $unprotected_id as unprotected_id,
    published_table,
    slot,
    true_rows,
    hidden_rows,
    listed_rows,
    invented_rows,
    true_people,
    published_people,
    hidden_people,
    absolute_error,
    case
        when absolute_error = 0 then 1
        when true_spread = 0 or published_spread = 0 then 0
        else together / sqrt(true_spread) / sqrt(published_spread)
    end as rank_correlation,
    busiest_overlap
from summed
