-- metrics.person_recovery: how much of each person's trajectory a run recovered: who is exposed.
--
-- Shares are over the slots in which the person is somewhere and which the run has reached. Nights
-- and days count by their slots, so that an unfinished last day does not weigh as much as a whole one.
-- A person without a track (see metrics.pair) has accuracy 0 and no error: nothing was recovered, and the
-- denominator stays what it is.
--
-- grain:   run_id, pairing, person
-- reads:   metrics.pair, metrics.person_error
-- params:  run_id
-- shards by: person
-- columns:
--   run_id          VARCHAR  the run, see study.run
--   pairing         VARCHAR  how tracks were paired with people, see metrics.pair
--   person          INTEGER  the person, see records.person
--   track           INTEGER  the track taken for the person; null where there is none
--   slots           INTEGER  slots compared
--   hits            BIGINT   slots in which the track is in the person's cell
--   accuracy        DOUBLE   hits / slots
--   day_accuracy    DOUBLE   the same when each day is paired by itself (stage 2)
--   night_accuracy  DOUBLE   the same for each night by itself (stage 1); null when no slot starts before 06:00
--   levenshtein     DOUBLE   1 - edits / slots: accuracy that forgives being a little early or late
--   error_m         DOUBLE   mean distance in metres between track and person
--   within_1000m    DOUBLE   share of slots with a distance above 0 and up to 1,000 metres
--   beyond_1000m    DOUBLE   share of slots with a distance above 1,000 metres

with agreement as (
    select
        pairing,
        person,
        max(track) filter (where stage = 3) as track,
        sum(slots) filter (where stage = 3)::integer as slots,
        sum(hits) filter (where stage = 3)::bigint as hits,
        sum(edits) filter (where stage = 3)::bigint as edits,
        sum(hits) filter (where stage = 2) / sum(slots) filter (where stage = 2)::double as day_accuracy,
        sum(hits) filter (where stage = 1)
            / nullif(sum(slots) filter (where stage = 1), 0)::double as night_accuracy
    from metrics.pair
    where run_id = $run_id
    group by pairing, person
),

error as (
    select
        pairing,
        person,
        sum(millimetres) / 1000.0::double / sum(slots) as error_m,
        sum(case when up_to > 0 and up_to <= 1000 then slots else 0 end) / sum(slots)::double as within_1000m,
        sum(case when up_to > 1000 then slots else 0 end) / sum(slots)::double as beyond_1000m
    from metrics.person_error
    where run_id = $run_id
    group by pairing, person
)

select
    $run_id as run_id,
    agreement.pairing,
    agreement.person,
    agreement.track,
    agreement.slots,
    agreement.hits,
    agreement.hits / agreement.slots::double as accuracy,
    agreement.day_accuracy,
    agreement.night_accuracy,
    (agreement.slots - agreement.edits) / agreement.slots::double as levenshtein,
    error.error_m,
    error.within_1000m,
    error.beyond_1000m
from agreement
left join error using (pairing, person)
where agreement.slots > 0
