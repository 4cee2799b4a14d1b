-- report.verdict: every rule of every decision beside the release that it is about, the worst first.
--
-- grain:   decision_id, position
-- reads:   study.decision, metrics.verdict, counts.release
-- shards by: decision_id
-- view:    yes
-- columns:
--   decision_id   VARCHAR  the decision, see study.decision
--   release_id    VARCHAR  the release
--   index_name    VARCHAR  kind and size of its cells
--   slot_minutes  DOUBLE   length of its slots
--   recipe        VARCHAR  protections of its counts, in order
--   policy        VARCHAR  name of the policy
--   whole         VARCHAR  the verdict on everything: pass, fail or review
--   position      INTEGER  place of the rule in the policy, from 1
--   rule          VARCHAR  name of the rule
--   concern       VARCHAR  singling out, linkability, inference or utility
--   about         VARCHAR  table or traces, see metrics.verdict
--   unit          VARCHAR  what numbers are counted in
--   estimate      DOUBLE   the number
--   low           DOUBLE   lower end of its interval
--   high          DOUBLE   upper end of its interval
--   yardstick     DOUBLE   what chance gives
--   lower_limit   DOUBLE   the limit, where it is a lower one
--   upper_limit   DOUBLE   the limit, where it is an upper one
--   people        BIGINT   how many people it concerns
--   worst_decile  DOUBLE   the same number over the tenth of people with the highest
--   verdict       VARCHAR  pass, fail or review
--   sentence      VARCHAR  the finding in words
--   why           VARCHAR  why the policy has this rule
--   exception     VARCHAR  the written reason of an exception

select
    decision.decision_id,
    decision.release_id,
    release.index_name,
    release.slot_seconds / 60.0 as slot_minutes,
    release.recipe,
    decision.policy,
    decision.verdict as whole,
    rule.position,
    rule.rule,
    rule.concern,
    rule.about,
    rule.unit,
    rule.estimate,
    rule.low,
    rule.high,
    rule.yardstick,
    rule.lower_limit,
    rule.upper_limit,
    rule.people,
    rule.worst_decile,
    rule.verdict,
    rule.sentence,
    rule.why,
    rule.exception
from study.decision as decision
join metrics.verdict as rule on rule.decision_id = decision.decision_id
left join counts.release as release on release.release_id = decision.release_id
