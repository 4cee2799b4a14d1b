-- report.cube_verdict: what each rule of a policy says of a cube: how many of its groups pass, and the worst of them.
--
-- A rule fails for the cube where it fails for one group, and is under review where it is for one. The worst group is
-- the one furthest beyond the limit, or least below it; among equals the one with most people, then the first by name.
-- A group that a rule cannot be answered for is worse than any that passes, and has no number.
--
-- grain:   cube_decision_id, position
-- reads:   study.cube_decision, metrics.verdict
-- shards by: cube_decision_id
-- view:    yes
-- columns:
--   cube_decision_id  VARCHAR  the decision on the cube, see study.cube_decision
--   cube_id           VARCHAR  the cube, see study.cube
--   policy            VARCHAR  name of the policy
--   position          INTEGER  place of the rule in the policy, from 1
--   rule              VARCHAR  name of the rule
--   concern           VARCHAR  singling out, linkability, inference or utility
--   verdict           VARCHAR  pass, fail or review, of the worst group
--   groups            BIGINT   groups that were asked
--   failing_groups    BIGINT   those of them that fail
--   review_groups     BIGINT   those of them under review
--   people            BIGINT   people that the rule concerns, over all groups; null where nobody was counted
--   value             VARCHAR  the worst group
--   estimate          DOUBLE   its number
--   low               DOUBLE   lower end of its interval
--   high              DOUBLE   upper end of its interval
--   sentence          VARCHAR  the finding for it, in words
--   exception         VARCHAR  the written reason of an exception

with answer as (
    select
        decided.cube_decision_id,
        decided.cube_id,
        decided.policy,
        decided.value,
        decided.people as group_people,
        rule.*,
        case rule.verdict when 'fail' then 2 when 'review' then 1 else 0 end as severity,
        coalesce(rule.high - rule.upper_limit, rule.lower_limit - rule.low) as beyond
    from study.cube_decision as decided
    join metrics.verdict as rule on rule.decision_id = decided.decision_id
),

ranked as (
    select
        *,
        row_number() over (
            partition by cube_decision_id, position
            order by severity desc, beyond desc nulls first, group_people desc, value
        ) as place,
        count(*) over same_rule as groups,
        count(*) filter (severity = 2) over same_rule as failing_groups,
        count(*) filter (severity = 1) over same_rule as review_groups,
        sum(people) over same_rule as all_people
    from answer
    window same_rule as (partition by cube_decision_id, position)
)

select
    cube_decision_id,
    cube_id,
    policy,
    position,
    rule,
    concern,
    verdict,
    groups,
    failing_groups,
    review_groups,
    all_people::bigint as people,
    value,
    estimate,
    low,
    high,
    sentence,
    exception
from ranked
where place = 1
