-- records._prepare_porto_week: the week with most trips, of those that lie wholly in a month.
--
-- reads:   trip
-- params:  month
-- columns:
--   week  DATE  its Monday; no row where no trip begins in a whole week

select week
from trip
where month = $month and date_trunc('month', week) = $month and date_trunc('month', week + 6) = $month
group by week
order by count(*) desc, week
limit 1
