-- report.risk_summary: every answer of `lab.risk` in one line: how many people are unique, and how small crowds are.
--
-- As the papers do: of frequent people too, with at least one record a day on average, and the crowds of the worst.
-- unique_of_all counts the infrequent as not at risk. report.reidentification has the answers about everybody, with
-- their intervals, in the order of the page.
--
-- grain:   risk_id
-- reads:   metrics.risk, report.adversary
-- shards by: run_id
-- view:    yes
-- columns:
--   risk_id          VARCHAR  the question, see report.adversary
--   release_id       VARCHAR  the release it is about
--   knowledge        VARCHAR  what the adversary knows
--   knowledge_kind   VARCHAR  kind of knowledge: top, points and so on
--   known            INTEGER  how much of it as a number, where it is one
--   sequence         VARCHAR  ordered or unordered, of top places
--   basis            VARCHAR  what the traces searched are made of
--   protection       VARCHAR  none, or what was done to the traces searched
--   run_id           VARCHAR  the attack whose tracks are searched, if any
--   seed             BIGINT   seed of its chance
--   sample           BIGINT   people asked about; null for everybody
--   people           BIGINT   traces that were asked about
--   unique_share     DOUBLE   share of them that are unique
--   frequent_people  BIGINT   of these, frequent ones
--   unique_frequent  DOUBLE   share of frequent people that are unique
--   unique_of_all    DOUBLE   unique frequent people as a share of everybody
--   k_1              BIGINT   the crowd that the worst 1 % of frequent people do not exceed
--   k_5              BIGINT   the same for 5 %
--   k_10             BIGINT   the same for 10 %
--   k_50             BIGINT   the same for half of them

with score as (
    select
        risk_id,
        max(people) filter (metric = 'unique_share' and scope = 'all') as people,
        max(estimate) filter (metric = 'unique_share' and scope = 'all') as unique_share,
        max(people) filter (metric = 'unique_share' and scope = 'frequent') as frequent_people,
        max(estimate) filter (metric = 'unique_share' and scope = 'frequent') as unique_frequent,
        max(estimate) filter (metric = 'unique_share' and scope = 'frequent_of_all') as unique_of_all,
        max(estimate) filter (metric = 'k_percentile' and scope = 'frequent' and level = 1)::bigint as k_1,
        max(estimate) filter (metric = 'k_percentile' and scope = 'frequent' and level = 5)::bigint as k_5,
        max(estimate) filter (metric = 'k_percentile' and scope = 'frequent' and level = 10)::bigint as k_10,
        max(estimate) filter (metric = 'k_percentile' and scope = 'frequent' and level = 50)::bigint as k_50
    from metrics.risk
    group by risk_id
)

select
    asked.risk_id,
    asked.release_id,
    asked.knowledge,
    asked.knowledge_kind,
    asked.known,
    asked.sequence,
    asked.basis,
    asked.protection,
    asked.run_id,
    asked.seed,
    asked.sample,
    score.people,
    score.unique_share,
    score.frequent_people,
    score.unique_frequent,
    score.unique_of_all,
    score.k_1,
    score.k_5,
    score.k_10,
    score.k_50
from report.adversary as asked
join score using (risk_id)
