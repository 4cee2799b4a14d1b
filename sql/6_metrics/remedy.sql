-- metrics.remedy: how far schedule leakage falls with other cells or slots, compared with one answer (ma2017, section V).
--
-- `from metrics.remedy('l...')`: every question that was asked in the same way (points, share of the weeks, size of
-- sets) as the one given, of whichever release. A rate that did not fall is 0, one that rose is below.
--
-- grain:   leak_id
-- reads:   study.leak, counts.release, metrics.leak_by_size, metrics.person_leak
-- params:  leak_id
-- shards by: risk_id
-- view:    yes
-- columns:
--   leak_id       VARCHAR  the question, see study.leak
--   release_id    VARCHAR  the release whose people are looked for
--   index_name    VARCHAR  kind and size of its cells
--   slot_minutes  DOUBLE   length of its slots
--   basis         VARCHAR  what counts as a visit of the traces searched, see study.traces
--   people        BIGINT   people looked for
--   median_crowd  DOUBLE   median of the traces in a person's anonymity set
--   measured      DOUBLE   share of them in sets of the size asked for
--   prob_m        DOUBLE   mean over people of the largest chance of the set over all slots: max attack probability
--   prob_m_fell   DOUBLE   1 - prob_m / prob_m of the answer compared with
--   ssr           DOUBLE   mean over people of the sensitive schedule rate
--   ssr_fell      DOUBLE   1 - ssr / ssr of the answer compared with
--   ntr           DOUBLE   mean over people of the rate of non-empty slots
--   ssr_ntr       DOUBLE   mean over people with habits of the share of them that are sensitive
--   totally       DOUBLE   share of those in such sets whose every habit is sensitive
--   partly        DOUBLE   share with some but not all of them sensitive
--   effective     DOUBLE   mean over people of the entropy l of whole schedules

with compared as (
    select other.leak_id, other.release_id, other.basis, other.min_k
    from study.leak as one
    join study.leak as other
        on other.points = one.points and other.min_k = one.min_k and other.keep = one.keep
    where one.leak_id = $leak_id
),

size as (
    select compared.leak_id, median(person.k)::double as median_crowd
    from compared
    join metrics.person_leak as person using (leak_id)
    group by compared.leak_id
),

score as (
    select score.*
    from compared
    join metrics.leak_by_size as score on score.leak_id = compared.leak_id and score.min_k = compared.min_k
)

select
    score.leak_id,
    compared.release_id,
    release.index_name,
    release.slot_seconds / 60.0::double as slot_minutes,
    compared.basis,
    score.looked_for as people,
    size.median_crowd,
    score.measured,
    score.prob_m,
    1 - score.prob_m / nullif(first.prob_m, 0) as prob_m_fell,
    score.ssr,
    1 - score.ssr / nullif(first.ssr, 0) as ssr_fell,
    score.ntr,
    score.ssr_ntr,
    score.totally,
    score.partly,
    score.effective
from score
join size using (leak_id)
join compared using (leak_id)
join counts.release as release on release.release_id = compared.release_id
cross join (select prob_m, ssr from score where leak_id = $leak_id) as first
