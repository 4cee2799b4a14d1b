-- report.tradeoff_point: what each generalisation protects and costs, in the order in which it was asked for.
--
-- Risk is the share of people still singled out, loss what the flows between zones lose. See metrics.tradeoff.
--
-- grain:   tradeoff_id, zones_name, knowledge, flows, measure, step
-- reads:   study.tradeoff, study.tradeoff_step, metrics.tradeoff, metrics.utility
-- shards by: tradeoff_id
-- view:    yes
-- columns:
--   tradeoff_id  VARCHAR  the study, see study.tradeoff
--   rank         INTEGER  place of the point in the study: by zones, adversary, flows, measure and step, from 1
--   zones_name   VARCHAR  zones that flows are compared between, as asked for
--   knowledge    VARCHAR  what is known of people
--   flows        VARCHAR  raw or constrained, see metrics.movement
--   measure      VARCHAR  all, pareto, backbone, hotspot or commuters, see metrics.utility
--   step         INTEGER  number of the generalisation, 0 for the release itself
--   index_name   VARCHAR  index of the cells
--   size_m       DOUBLE   their size, see study.tradeoff_step
--   people       BIGINT   people whose risk it is
--   risk         DOUBLE   share of them singled out
--   low          DOUBLE   lower end of its interval, 95 %
--   high         DOUBLE   upper end of its interval
--   loss         DOUBLE   loss of utility; null where no pair of zones counts
--   common_part  DOUBLE   common part of commuters
--   misplaced    DOUBLE   movements between other zones than before, see report.utility_loss
--   missing      DOUBLE   movements that these pairs have fewer, by those before
--   added        DOUBLE   movements that these pairs have more, by those before

select
    point.tradeoff_id,
    (row_number() over (
        partition by point.tradeoff_id
        order by
            step.zones_name,
            list_position(string_split(asked.knowledge, ' '), point.knowledge),
            list_position(['raw', 'constrained'], point.flows),
            list_position(['all', 'pareto', 'backbone', 'hotspot', 'commuters'], point.measure),
            point.step,
            point.zones_id
    ))::integer as rank,
    step.zones_name,
    point.knowledge,
    point.flows,
    point.measure,
    point.step,
    point.index_name,
    point.size_m,
    point.people,
    point.risk,
    point.low,
    point.high,
    point.loss,
    point.common_part,
    case when point.step = 0 then 0
        else greatest(flow.difference - abs(flow.before - flow.after), 0) / 2 / nullif(flow.before, 0)
    end as misplaced,
    case when point.step = 0 then 0 else greatest(flow.before - flow.after, 0) / nullif(flow.before, 0) end as missing,
    case when point.step = 0 then 0 else greatest(flow.after - flow.before, 0) / nullif(flow.before, 0) end as added
from metrics.tradeoff as point
join study.tradeoff as asked on asked.tradeoff_id = point.tradeoff_id
join study.tradeoff_step as step
    on step.tradeoff_id = point.tradeoff_id and step.zones_id = point.zones_id and step.step = point.step
left join metrics.utility as flow
    on flow.utility_id = step.utility_id and flow.flows = point.flows and flow.measure = point.measure
