-- report.release_settings: how each release was made, in a line.
--
-- Counts that somebody else published have no people, no source and no settings here: nobody told them.
--
-- grain:   release_id
-- reads:   counts.release, study.release
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id    VARCHAR    the release
--   index_name    VARCHAR    kind and size of the cells; matrix for a table that somebody else published
--   slot_seconds  INTEGER    length of a slot
--   fill          VARCHAR    how empty slots were filled: static, linear or none
--   min_count     INTEGER    smaller counts are left out
--   starts        TIMESTAMP  local time at which slot 0 begins
--   slots         INTEGER    slots of the release
--   tz            VARCHAR    zone of the local time
--   people        BIGINT     people in the release
--   last_source   INTEGER    the newest source of its records, see records.source; later ones are not in it
--   settings      VARCHAR    JSON: every setting of the release, sorted by name

select
    release.release_id,
    release.index_name,
    release.slot_seconds,
    release.fill,
    release.min_count,
    release.starts,
    release.slots,
    release.tz,
    made.people,
    made.last_source,
    made.settings
from counts.release as release
left join study.release as made on made.release_id = release.release_id
