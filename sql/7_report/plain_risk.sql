-- report.plain_risk: answers of `lab.risk` that can be compared: on slots, of everybody's own traces, with seed 0.
--
-- Traces may be whole or protected; see report.risk_summary for all answers.
--
-- grain:   risk_id
-- reads:   report.risk_summary
-- shards by: run_id
-- view:    yes
-- columns:
--   risk_id          VARCHAR  the question, see report.adversary
--   release_id       VARCHAR  the release it is about
--   knowledge        VARCHAR  what the adversary knows
--   knowledge_kind   VARCHAR  kind of knowledge: top, points and so on
--   known            INTEGER  how much of it as a number, where it is one
--   sequence         VARCHAR  ordered or unordered, of top places
--   protection       VARCHAR  none, or what was done to the traces searched
--   people           BIGINT   traces that were asked about
--   unique_share     DOUBLE   share of them that are unique
--   frequent_people  BIGINT   of these, frequent ones
--   unique_frequent  DOUBLE   share of frequent people that are unique
--   unique_of_all    DOUBLE   unique frequent people as a share of everybody
--   k_1              BIGINT   the crowd that the worst 1 % of frequent people do not exceed
--   k_5              BIGINT   the same for 5 %
--   k_10             BIGINT   the same for 10 %
--   k_50             BIGINT   the same for half of them

select * exclude (basis, run_id, seed, sample)
from report.risk_summary
where basis = 'slots' and run_id is null and seed = 0 and sample is null
