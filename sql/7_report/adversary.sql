-- report.adversary: what each adversary was given, taken apart: one row for each question that `lab.risk` was asked.
--
-- grain:   risk_id
-- reads:   study.risk, study.traces
-- shards by: run_id
-- view:    yes
-- columns:
--   risk_id         VARCHAR  the question, see study.risk
--   release_id      VARCHAR  the release it is about
--   knowledge       VARCHAR  what the adversary knows, as it was asked
--   knowledge_kind  VARCHAR  kind of knowledge: top, points and so on
--   size            VARCHAR  how much of it, in words: a number, or variable
--   known           INTEGER  how much of it as a number, where it is one
--   sequence        VARCHAR  ordered or unordered, of top places
--   basis           VARCHAR  what the traces searched are made of: records, slots or observed slots
--   protection      VARCHAR  none, or what was done to the traces searched, such as cut:6h
--   run_id          VARCHAR  the attack whose tracks are searched; null where the people's own traces are
--   seed            BIGINT   seed of its chance
--   sample          BIGINT   people asked about; null for everybody

select
    asked.risk_id,
    asked.release_id,
    asked.knowledge,
    split_part(asked.knowledge, ':', 1) as knowledge_kind,
    split_part(asked.knowledge, ':', 2) as size,
    try_cast(split_part(asked.knowledge, ':', 2) as integer) as known,
    case when asked.knowledge like 'top:%' then split_part(asked.in_full, ':', 3) end as sequence,
    searched.basis,
    searched.protection,
    searched.run_id,
    asked.seed,
    asked.sample
from study.risk as asked
join study.traces as searched on searched.traces_id = asked.searched_id
