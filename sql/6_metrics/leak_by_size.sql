-- metrics.leak_by_size: what anonymity sets give away of schedules, one line for each least size of a set.
--
-- The metrics of metrics.leak side by side, without their intervals. Where nobody is in a set of that size, all but
-- `looked_for` and `measured` are null or 0.
--
-- grain:   leak_id, min_k
-- reads:   metrics.leak
-- shards by: leak_id
-- view:    yes
-- columns:
--   leak_id         VARCHAR  the question, see study.leak
--   min_k           INTEGER  least size of a set, see metrics.leak
--   looked_for      BIGINT   everybody looked for
--   people          BIGINT   those of them in sets of that size
--   measured        DOUBLE   people / looked_for
--   totally         DOUBLE   share of people whose every habit is sensitive
--   partly          DOUBLE   share with some but not all of them sensitive
--   not_disclosed   DOUBLE   share with habits of which none is sensitive
--   without_habits  DOUBLE   share without habits
--   prob_m          DOUBLE   mean over people of the largest chance of the set over all slots: max attack probability
--   ssr             DOUBLE   mean over people of the sensitive schedule rate
--   ntr             DOUBLE   mean over people of the rate of non-empty slots
--   ssr_ntr         DOUBLE   mean over people with habits of the share of them that are sensitive
--   effective       DOUBLE   mean over people of the entropy l of whole schedules

select
    leak_id,
    min_k,
    max(people) filter (metric = 'measured') as looked_for,
    max(people) filter (metric = 'prob_m') as people,
    max(estimate) filter (metric = 'measured') as measured,
    max(estimate) filter (metric = 'totally_disclosed') as totally,
    max(estimate) filter (metric = 'partly_disclosed') as partly,
    max(estimate) filter (metric = 'hidden') as not_disclosed,
    max(estimate) filter (metric = 'nothing') as without_habits,
    max(estimate) filter (metric = 'prob_m') as prob_m,
    max(estimate) filter (metric = 'ssr') as ssr,
    max(estimate) filter (metric = 'ntr') as ntr,
    max(estimate) filter (metric = 'ssr_ntr') as ssr_ntr,
    max(estimate) filter (metric = 'effective') as effective
from metrics.leak
group by leak_id, min_k
