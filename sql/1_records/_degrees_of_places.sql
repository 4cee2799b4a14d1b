-- records._degrees_of_places: rows without coordinates of their own get those of the place that they name.
--
-- reads:   ingest_coordinates, ingest_gazetteer
-- params:  missing, unknown
-- columns: those of ingest_coordinates but lat, lng, lat_given and lng_given, and
--   own          BOOLEAN  whether the row has coordinates of its own
--   lat          DOUBLE   latitude
--   lng          DOUBLE   longitude
--   lat_given    BOOLEAN  whether there is a latitude, of the row or of its place
--   lng_given    BOOLEAN  whether there is a longitude
--   place_fault  VARCHAR  $missing where no place is named, $unknown where nobody knows it; null otherwise

select
    records.* exclude (lat, lng, lat_given, lng_given),
    coalesce(records.lat_given, false) or coalesce(records.lng_given, false) as own,
    case when own then records.lat else known.lat end as lat,
    case when own then records.lng else known.lng end as lng,
    case when own then records.lat_given else known.lat is not null end as lat_given,
    case when own then records.lng_given else known.lng is not null end as lng_given,
    case
        when records.place is null then $missing::varchar
        when known.place is null then $unknown::varchar
    end as place_fault
from ingest_coordinates as records
left join ingest_gazetteer as known on known.place = records.place
