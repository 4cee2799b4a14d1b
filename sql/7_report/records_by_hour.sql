-- report.records_by_hour: how much of a release was recorded and how much filled, by time of day.
--
-- grain:   release_id, from_hour
-- reads:   slots.position, slots.slot, study.release
-- shards by: none
-- view:    yes
-- columns:
--   release_id      VARCHAR  the release
--   from_hour       VARCHAR  when the slot begins, HH:MM
--   person_slots    BIGINT   people times slots
--   observed_share  DOUBLE   share of person-slots known from records, the rest filled

select
    made.release_id,
    strftime(slot.starts, '%H:%M') as from_hour,
    count(*) as person_slots,
    avg(case when position.observed then 1.0 else 0.0 end) as observed_share
from slots.position as position
join slots.slot as slot using (release_id, slot)
join study.release as made on made.unprotected_id = position.release_id
group by made.release_id, from_hour
