-- report.crowd_size: how large a crowd hides people from each adversary: the share who hide among at most k.
--
-- A person hides among all traces that fit what is known of them, their own included; k = 1 are those who are
-- singled out. The share stays below 1 where somebody's own trace does not fit. See metrics.anonymity_curve,
-- scope all.
--
-- grain:   risk_id, k
-- reads:   metrics.anonymity_curve, study.risk
-- shards by: risk_id
-- view:    yes
-- columns:
--   release_id  VARCHAR  the release whose people are looked for
--   risk_id     VARCHAR  the question, see study.risk
--   k           BIGINT   size of the crowd
--   people      BIGINT   people in a crowd of exactly this size
--   at_most     BIGINT   people in a crowd of this size or a smaller one
--   share       DOUBLE   at_most / everybody looked for

select asked.release_id, asked.risk_id, curve.k, curve.people, curve.at_most, curve.share
from metrics.anonymity_curve as curve
join study.risk as asked on asked.risk_id = curve.risk_id
where curve.scope = 'all'
