-- metrics.leak_by_size: what anonymity sets give away of schedules, one line for each least size of a set.
--
-- The main metrics of metrics.leak side by side. A size that nobody's set has is not listed.
--
-- grain:   leak_id, min_k
-- reads:   metrics.leak
-- shards by: leak_id
-- view:    yes
-- columns:
--   leak_id    VARCHAR  the question, see study.leak
--   min_k      INTEGER  least size of a set, see metrics.leak
--   people     BIGINT   people in sets of that size
--   measured   DOUBLE   their share of all people looked for
--   totally    DOUBLE   share of them whose every habit is sensitive
--   partly     DOUBLE   share with some but not all of them sensitive
--   prob_m     DOUBLE   mean over people of the largest chance of the set over all slots: max attack probability
--   ssr        DOUBLE   mean over people of the sensitive schedule rate
--   ntr        DOUBLE   mean over people of the rate of non-empty slots
--   ssr_ntr    DOUBLE   mean over people with habits of the share of them that are sensitive
--   effective  DOUBLE   mean over people of the entropy l of whole schedules

select
    leak_id,
    min_k,
    max(people) filter (metric = 'prob_m') as people,
    max(estimate) filter (metric = 'measured') as measured,
    max(estimate) filter (metric = 'totally_disclosed') as totally,
    max(estimate) filter (metric = 'partly_disclosed') as partly,
    max(estimate) filter (metric = 'prob_m') as prob_m,
    max(estimate) filter (metric = 'ssr') as ssr,
    max(estimate) filter (metric = 'ntr') as ntr,
    max(estimate) filter (metric = 'ssr_ntr') as ssr_ntr,
    max(estimate) filter (metric = 'effective') as effective
from metrics.leak
group by leak_id, min_k
having max(people) filter (metric = 'prob_m') > 0
