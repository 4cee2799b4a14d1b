-- slots._tickets: the lottery tickets of those who are covered, as in slots.person.
--
-- reads:   player, records.person
-- params:  seed
-- columns:
--   ticket  VARCHAR  md5 of the seed and the id of the person, and the id

select md5($seed || ':' || person.uid) || person.uid as ticket
from player
join records.person as person using (person)
where player.kept
