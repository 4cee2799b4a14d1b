-- report.generalisation_loss: what each step of a trade-off loses, by every measure.
--
-- grain:   tradeoff_id, zones_id, step, flows
-- reads:   study.tradeoff_step, metrics.utility
-- shards by: tradeoff_id
-- view:    yes
-- columns:
--   tradeoff_id     VARCHAR  the trade-off, see study.tradeoff
--   zones_id        UBIGINT  the zones, see study.od
--   step            INTEGER  the step
--   flows           VARCHAR  raw or constrained
--   index_name      VARCHAR  kind and size of the cells
--   all_loss        DOUBLE   loss of all flows
--   pareto_loss     DOUBLE   loss of the largest
--   backbone_loss   DOUBLE   loss of those that stand out
--   hotspot_loss    DOUBLE   loss of those of busy zones
--   commuters_loss  DOUBLE   loss of commuters

select
    step.tradeoff_id,
    step.zones_id,
    step.step,
    loss.flows,
    step.index_name,
    max(loss.loss) filter (loss.measure = 'all') as all_loss,
    max(loss.loss) filter (loss.measure = 'pareto') as pareto_loss,
    max(loss.loss) filter (loss.measure = 'backbone') as backbone_loss,
    max(loss.loss) filter (loss.measure = 'hotspot') as hotspot_loss,
    max(loss.loss) filter (loss.measure = 'commuters') as commuters_loss
from study.tradeoff_step as step
join metrics.utility as loss using (utility_id)
group by step.tradeoff_id, step.zones_id, step.step, loss.flows, step.index_name
