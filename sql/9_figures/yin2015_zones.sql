-- figures.yin2015_zones: the zones of a release's longest trade-off, by their number: few large ones first.
--
-- grain:   release_id, zones_order
-- reads:   study.tradeoff, study.tradeoff_step, study.od
-- shards by: tradeoff_id
-- view:    yes
-- columns:
--   release_id   VARCHAR  the release
--   tradeoff_id  VARCHAR  its trade-off of most steps, see study.tradeoff
--   zones_id     UBIGINT  the zones, see study.od
--   zones_order  INTEGER  1 for the zones that are fewest
--   sets         BIGINT   how many sets of zones there are
--   series       VARCHAR  how many zones, in words

with longest as (
    select distinct on (tradeoff.release_id) tradeoff.release_id, step.tradeoff_id
    from study.tradeoff as tradeoff
    join study.tradeoff_step as step using (tradeoff_id)
    group by tradeoff.release_id, step.tradeoff_id
    order by tradeoff.release_id, count(*) desc, step.tradeoff_id
),

zone as (
    select distinct longest.release_id, longest.tradeoff_id, step.zones_id, step.zones_name as name, od.zones
    from longest
    join study.tradeoff_step as step using (tradeoff_id)
    join study.od as od on od.zones_id = step.zones_id and od.release_id = longest.release_id
)

select
    release_id,
    tradeoff_id,
    zones_id,
    row_number() over (partition by release_id order by zones, zones_id, name)::integer as zones_order,
    count(*) over (partition by release_id) as sets,
    zones || ' zones' as series
from zone
