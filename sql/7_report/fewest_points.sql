-- report.fewest_points: the fewest random points among those asked that leave a person alone.
--
-- A row is about a person. `lab.smallest_set` looks for the fewest there are.
--
-- grain:   release_id, person
-- reads:   records.person, metrics.anonymity, metrics.target, report.plain_risk
-- shards by: person
-- view:    yes
-- columns:
--   release_id  VARCHAR  the release
--   person      INTEGER  the person, see records.person
--   uid         VARCHAR  the name that the person has in the records
--   enough      INTEGER  fewest points that single the person out; null where none asked do
--   crowd_at_1  BIGINT   the crowd that one point leaves
--   crowd_at_2  BIGINT   the crowd that two points leave
--   crowd_at_4  BIGINT   the crowd that four points leave

select
    asked.release_id,
    target.person,
    person.uid,
    min(asked.known) filter (answer.k = 1) as enough,
    max(answer.k) filter (asked.known = 1) as crowd_at_1,
    max(answer.k) filter (asked.known = 2) as crowd_at_2,
    max(answer.k) filter (asked.known = 4) as crowd_at_4
from report.plain_risk as asked
join metrics.target as target using (risk_id)
join metrics.anonymity as answer using (risk_id, trace)
join records.person as person using (person)
where asked.knowledge_kind = 'points' and asked.protection = 'none'
group by asked.release_id, target.person, person.uid
