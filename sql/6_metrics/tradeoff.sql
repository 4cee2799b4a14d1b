-- metrics.tradeoff: risk against loss of utility, a point for each generalisation, adversary and measure.
--
-- Figures 4 to 13 of yin2015 are queries on this table: risk or loss over size_m, and loss over risk.
--
-- grain:   tradeoff_id, zones_id, step, knowledge, flows, measure
-- reads:   study.tradeoff, study.tradeoff_step, metrics.generalised_risk, metrics.utility
-- params:  tradeoff_id
-- shards by: tradeoff_id
-- columns:
--   tradeoff_id  VARCHAR  the study, see study.tradeoff
--   zones_id     UBIGINT  zones that flows are compared between, see grid.index
--   step         INTEGER  number of the generalisation, 0 for the release itself
--   knowledge    VARCHAR  what is known of people
--   flows        VARCHAR  raw or constrained, see metrics.movement
--   measure      VARCHAR  all, pareto, backbone, hotspot or commuters, see metrics.utility
--   index_name   VARCHAR  index of the cells
--   size_m       DOUBLE   their size, see study.tradeoff_step
--   people       BIGINT   people whose risk it is
--   risk         DOUBLE   share of them singled out
--   low          DOUBLE   lower end of its interval, 95 %
--   high         DOUBLE   upper end of its interval
--   loss         DOUBLE   loss of utility; null where no pair of zones counts
--   common_part  DOUBLE   common part of commuters

with step as (
    select
        step.tradeoff_id,
        step.zones_id,
        step.step,
        step.index_name,
        step.coarse_id,
        step.size_m,
        step.utility_id,
        asked.release_id,
        asked.basis,
        asked.seed,
        asked.sample,
        asked.scope,
        unnest(string_split(asked.knowledge, ' ')) as knowledge,
        string_split(asked.flows, ' ') as flows,
        string_split(asked.measures, ' ') as measures
    from study.tradeoff as asked
    join study.tradeoff_step as step on step.tradeoff_id = asked.tradeoff_id
    where asked.tradeoff_id = $tradeoff_id
),

of_flows as (
    select * exclude (flows), unnest(flows) as flows
    from step
),

asked_for as (
    select * exclude (measures), unnest(measures) as measure
    from of_flows
)

select
    $tradeoff_id as tradeoff_id,
    asked_for.zones_id,
    asked_for.step,
    asked_for.knowledge,
    asked_for.flows,
    asked_for.measure,
    asked_for.index_name,
    asked_for.size_m,
    exposed.people,
    exposed.unique_share as risk,
    exposed.low,
    exposed.high,
    case when asked_for.step = 0 then 0 else utility.loss end as loss,
    case when asked_for.step = 0 then 1 else utility.common_part end as common_part
from asked_for
join metrics.generalised_risk as exposed
    on exposed.release_id = asked_for.release_id
    and exposed.coarse_id = asked_for.coarse_id
    and exposed.basis = asked_for.basis
    and exposed.knowledge = asked_for.knowledge
    and exposed.seed = asked_for.seed
    and exposed.sample is not distinct from asked_for.sample
    and exposed.scope = asked_for.scope
left join metrics.utility as utility
    on utility.utility_id = asked_for.utility_id
    and utility.flows = asked_for.flows
    and utility.measure = asked_for.measure
