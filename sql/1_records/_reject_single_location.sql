-- records._reject_single_location: people whom the lab knows at one place only.
--
-- A place is known by its name where it has one, by its coordinates otherwise.
--
-- reads:   records.fix
-- params:  none
-- columns:
--   person  INTEGER  the person

select person
from records.fix
group by person
having (count(place) = count(*) and min(place) = max(place))
    or (count(place) = 0 and min(lat) = max(lat) and min(lng) = max(lng))
