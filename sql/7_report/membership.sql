-- report.membership: how often somebody is told to be in the published table, by recipe and size of groups.
--
-- The area under the ROC curve, the mean over people looked for: 0.5 is guessing, 1 always right. See metrics.membership
-- for the other measures.
--
-- grain:   membership_id
-- reads:   metrics.membership, study.membership
-- shards by: membership_id
-- view:    yes
-- columns:
--   membership_id  VARCHAR  the question, see study.membership
--   release_id     VARCHAR  the release whose people, cells and slots it is about
--   adversary      VARCHAR  reference or release-only
--   recipe         VARCHAR  protections that counts went through, in order, or exact
--   group_size     INTEGER  people in a group
--   targets        INTEGER  people who were looked for
--   estimate       DOUBLE   area under the ROC curve
--   low            DOUBLE   lower end of its 95 % interval
--   high           DOUBLE   upper end of its 95 % interval

select
    asked.membership_id,
    asked.release_id,
    asked.adversary,
    asked.recipe,
    asked.group_size,
    asked.targets,
    score.estimate,
    score.low,
    score.high
from study.membership as asked
join metrics.membership as score on score.membership_id = asked.membership_id
where score.measure = 'auc'
