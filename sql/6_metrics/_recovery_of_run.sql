-- metrics._recovery_of_run: the accuracy of a run over the whole period, beside what chance gives.
--
-- Of the pairings the lab has, optimal is taken before greedy: it finds at least as much.
--
-- reads:   metrics.recovery, metrics.control, metrics.person_recovery, report.every_metric
-- params:  run_id, accuracy
-- columns:
--   pairing       VARCHAR  how tracks were paired with people, see metrics.pair
--   estimate      DOUBLE   mean accuracy
--   low           DOUBLE   lower end of its interval
--   high          DOUBLE   upper end of its interval
--   yardstick     DOUBLE   the best of what needs no skill: shuffle, stay and control
--   control       DOUBLE   accuracy for people who are not meant, see metrics.control; null where there is none
--   control_low   DOUBLE   lower end of its interval
--   control_high  DOUBLE   upper end of its interval
--   worst_decile  DOUBLE   mean accuracy over the tenth of people, rounded up, of whom most was recovered
--   people        BIGINT   people with an accuracy above $accuracy

with score as (
    select pairing, estimate, low, high
    from metrics.recovery
    where run_id = $run_id and of = 'recovered' and metric = 'accuracy' and level = 3
    order by case pairing when 'optimal' then 1 else 2 end
    limit 1
),

person as (
    select
        recovered.accuracy,
        row_number() over (order by recovered.accuracy desc) as place,
        count(*) over () as everybody
    from metrics.person_recovery as recovered
    join score on score.pairing = recovered.pairing
    where recovered.run_id = $run_id
),

people as (
    select
        avg(accuracy) filter (where place <= (everybody + 9) // 10) as worst_decile,
        count(*) filter (where accuracy > $accuracy) as people
    from person
)

select
    score.pairing,
    score.estimate,
    score.low,
    score.high,
    greatest(beside.shuffle, beside.stay, control.estimate) as yardstick,
    control.estimate as control,
    control.low as control_low,
    control.high as control_high,
    people.worst_decile,
    people.people
from score
cross join people
left join report.every_metric as beside
    on beside.run_id = $run_id
    and beside.of = 'recovered'
    and beside.metric = 'accuracy'
    and beside.level = 3
    and beside.pairing = score.pairing
left join metrics.control as control
    on control.run_id = $run_id
    and control.metric = 'accuracy'
    and control.level = 3
    and control.pairing = score.pairing
