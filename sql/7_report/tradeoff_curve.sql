-- report.tradeoff_curve: the curve loss = -a risk^b + c of each adversary, measure and set of zones, by its name.
--
-- See metrics.tradeoff_fit.
--
-- grain:   tradeoff_id, zones_name, knowledge, flows, measure
-- reads:   metrics.tradeoff_fit, study.tradeoff_step
-- shards by: tradeoff_id
-- view:    yes
-- columns:
--   tradeoff_id  VARCHAR  the study, see study.tradeoff
--   zones_name   VARCHAR  zones that flows are compared between, as asked for
--   knowledge    VARCHAR  what is known of people
--   flows        VARCHAR  raw or constrained, see metrics.movement
--   measure      VARCHAR  all, pareto, backbone, hotspot or commuters, see metrics.utility
--   steps        INTEGER  generalisations with a risk and a loss
--   a            DOUBLE   factor
--   b            DOUBLE   exponent
--   c            DOUBLE   loss where nobody is at risk
--   a_error      DOUBLE   standard error of a
--   b_error      DOUBLE   standard error of b
--   c_error      DOUBLE   standard error of c
--   a_p          DOUBLE   chance of an estimate as far from 0, were a 0
--   b_p          DOUBLE   the same for b
--   c_p          DOUBLE   the same for c
--   r2           DOUBLE   share of the variance of the loss that the curve explains
--   reason       VARCHAR  why no curve was fitted; null where one was

with zones as (
    select distinct tradeoff_id, zones_id, zones_name from study.tradeoff_step
)

select
    fit.tradeoff_id,
    zones.zones_name,
    fit.knowledge,
    fit.flows,
    fit.measure,
    fit.steps,
    fit.a,
    fit.b,
    fit.c,
    fit.a_error,
    fit.b_error,
    fit.c_error,
    fit.a_p,
    fit.b_p,
    fit.c_p,
    fit.r2,
    fit.reason
from metrics.tradeoff_fit as fit
join zones on zones.tradeoff_id = fit.tradeoff_id and zones.zones_id = fit.zones_id
