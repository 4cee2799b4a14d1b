-- report.place_time: how much of their time people spend in their most frequent places, by day and by night.
--
-- Over the whole day only slots with records count; at night, from midnight to six, filled slots count too. Means
-- over people. See metrics.place_share and metrics.night_share.
--
-- grain:   release_id, when_counted, places
-- reads:   metrics.place_share, metrics.night_share
-- shards by: release_id
-- view:    yes
-- columns:
--   release_id    VARCHAR  the release
--   when_counted  VARCHAR  whole day or night
--   places        INTEGER  how many of a person's most frequent places, 1 to 5
--   people        BIGINT   people that the mean is over
--   estimate      DOUBLE   mean share of a person's slots that fall in those places
--   low           DOUBLE   lower end of the 95 % interval of the estimate
--   high          DOUBLE   upper end

select release_id, 'whole day' as when_counted, places, people, estimate, low, high
from metrics.place_share
union all
select release_id, 'night' as when_counted, places, people, estimate, low, high
from metrics.night_share
