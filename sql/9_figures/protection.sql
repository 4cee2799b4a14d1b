-- figures.protection: accuracy of attacks on protected counts, by how strong the protection is.
--
-- Figure suppress is over k, round over the step, noise over ε, one series for each unit; for the release without
-- protection. Means over the seeds that were run; the interval is over people where there is one seed.
--
-- grain:   release_id, figure, series, x_value
-- reads:   report.protection
-- shards by: none
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release without protection
--   figure        VARCHAR  suppress, round or noise
--   series_order  INTEGER  place of the series in the legend
--   series        VARCHAR  name of the series
--   x_value       DOUBLE   k, step or ε
--   estimate      DOUBLE   share of slots in the right cell
--   low           DOUBLE   lower end of its 95 % interval, where it has one
--   high          DOUBLE   upper end of its 95 % interval, where it has one

with attacked as (
    select *, attack || coalesce(', ε per ' || privacy_unit, '') as named
    from report.protection
    where strength is not null and attack not in ('stay', 'shuffle')
),

series as (
    select unprotected_id, protection, 1 as series_order, named as series, strength, estimate, low, high from attacked
    union all
    select unprotected_id, protection, 2, attack || ', counts as they are', strength, unprotected, null, null
    from attacked
    where unprotected is not null
    union all
    select unprotected_id, protection, 3, 'nobody moves', strength, stay, null, null from attacked where stay is not null
)

select
    unprotected_id as release_id,
    protection as figure,
    series_order,
    series,
    strength as x_value,
    avg(estimate) as estimate,
    case when count(*) = 1 then min(low) end as low,
    case when count(*) = 1 then max(high) end as high
from series
group by unprotected_id, protection, series_order, series, strength
