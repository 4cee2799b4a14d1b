-- report.utility_loss: what each generalisation of a release does to the flows between zones.
--
-- A loss counts a movement that is somewhere else twice, where it was and where it is: `misplaced`, `missing` and
-- `added` count it once, as shares of the movements before. Where major flows alone count, what is missing may be
-- among the others. See metrics.utility.
--
-- grain:   utility_id, flows, measure
-- reads:   study.utility, metrics.utility
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id      VARCHAR  the release before
--   utility_id      VARCHAR  the comparison, see study.utility
--   generalised_to  VARCHAR  cells after: name of the index that it is generalised to
--   zones_name      VARCHAR  zones that flows are compared between
--   flows           VARCHAR  raw or constrained, see metrics.movement
--   measure         VARCHAR  all, pareto, backbone, hotspot or commuters
--   pairs           BIGINT   pairs of zones that count
--   before          DOUBLE   movements of these pairs before
--   after           DOUBLE   movements of these pairs after
--   loss            DOUBLE   what changes of them, by their sum before; for commuters what is not common
--   common_part     DOUBLE   common part of commuters of these pairs, 1 when nothing changes
--   misplaced       DOUBLE   movements between other zones than before, by those before
--   missing         DOUBLE   movements that these pairs have fewer after, by those before
--   added           DOUBLE   movements that these pairs have more after, by those before

select
    asked.release_id,
    asked.utility_id,
    asked.after_name as generalised_to,
    asked.zones_name,
    loss.flows,
    loss.measure,
    loss.pairs,
    loss.before,
    loss.after,
    loss.loss,
    loss.common_part,
    greatest(loss.difference - abs(loss.before - loss.after), 0) / 2 / nullif(loss.before, 0) as misplaced,
    greatest(loss.before - loss.after, 0) / nullif(loss.before, 0) as missing,
    greatest(loss.after - loss.before, 0) / nullif(loss.before, 0) as added
from study.utility as asked
join metrics.utility as loss on loss.utility_id = asked.utility_id
