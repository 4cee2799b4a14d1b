-- report.disclosed_by_size: how many people's schedules crowds give away, by the least size of a crowd.
--
-- Totally, partly, not at all, or nothing to give away: the four shares add up to 1. They are of people in crowds
-- of min_k or more: larger crowds hide who somebody is better, and this says whether they hide the schedule. Sizes
-- that nobody's crowd has are left out. See metrics.leak.
--
-- grain:   leak_id, min_k
-- reads:   metrics.leak_by_size
-- shards by: leak_id
-- view:    yes
-- columns:
--   leak_id              VARCHAR  the question, see study.leak
--   min_k                INTEGER  least size of a crowd
--   people               BIGINT   people in such crowds
--   totally_disclosed    DOUBLE   share of them whose every habit is sensitive
--   partly_disclosed     DOUBLE   share with some but not all of them sensitive
--   disclosed_share      DOUBLE   the two together: at least partly disclosed
--   low                  DOUBLE   lower end of its 95 % interval, Wilson's
--   high                 DOUBLE   upper end of its 95 % interval
--   not_disclosed        DOUBLE   share with habits of which none is sensitive
--   without_habits       DOUBLE   share without habits
--   prob_m               DOUBLE   mean of the largest attack probability
--   effective_schedules  DOUBLE   how many different schedules a crowd is worth, by their entropy

with score as (
    select *, least(1, totally + partly) as disclosed_share
    from metrics.leak_by_size
    where people > 0
)

select
    leak_id,
    min_k,
    people,
    totally as totally_disclosed,
    partly as partly_disclosed,
    disclosed_share,
    wilson_low(disclosed_share, people) as low,
    wilson_high(disclosed_share, people) as high,
    not_disclosed,
    without_habits,
    prob_m,
    effective as effective_schedules
from score
