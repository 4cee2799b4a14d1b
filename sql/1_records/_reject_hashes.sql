-- records._reject_hashes: one hash for every fix that may be a duplicate or have one, of those between two hashes.
--
-- Fixes of $first_source and later, and others of their time. $mask cuts hashes off.
--
-- reads:   records.fix
-- params:  first_source, since, until, mask, low, high
-- columns:
--   hash  UBIGINT  hash of who, when and where

with hashed as (
    select hash(person, ts, lat, lng) & $mask::ubigint as hash
    from records.fix
    where source_id >= $first_source or ts between $since and $until
)

select hash from hashed where hash between $low::ubigint and $high::ubigint
