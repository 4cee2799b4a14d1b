-- records._reference_stations_in_use: stations that records already lie at and that a table would move.
--
-- reads:   ingest_reference, records.station, records.fix
-- params:  none
-- columns:
--   station  VARCHAR  id of the station

select distinct station
from records.station
join ingest_reference as given on given.place = station
where (station.lat <> given.lat or station.lng <> given.lng)
    and station in (select place from records.fix)
order by station
