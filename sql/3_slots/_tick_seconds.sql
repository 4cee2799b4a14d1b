-- slots._tick_seconds: how long a tick of a release's clock is (slots.clock).
--
-- From when the period begins or, where that is in 1970, from when it ends.
--
-- reads:   counts.release, slots.clock
-- params:  release_id
-- columns:
--   tick_seconds  BIGINT  seconds of a tick

select
    case
        when min(clock.tick) <> 0 then epoch(timezone(min(tz), min(starts))) // min(clock.tick)
        else epoch(timezone(min(tz), min(starts) + to_seconds((max(clock.slot) + 1) * min(slot_seconds))))
            // (max(clock.tick) + 1)
    end::bigint as tick_seconds
from counts.release
join slots.clock as clock using (release_id)
where release_id = $release_id
