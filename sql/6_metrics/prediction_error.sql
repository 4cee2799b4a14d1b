-- metrics.prediction_error: how far people are from where a simple rule expects them next.
--
-- The rules are those of xu2017 (figure 6). `stay`: the next place is the present one; `velocity`: the
-- last move is made once more, 2 * present - previous. By night, which is every slot that begins
-- before 06:00, the attack uses `stay`; by day it uses `velocity`, and `stay` stands
-- beside it as its yardstick, on the same moves. Moves over midnight are left out: days
-- are linked in another way. So are moves from or to a slot without a position.
--
-- Filled positions count, because an attack has to recover them too; where much was filled, staying
-- looks better than it is. Errors are distances between the points that stand for cells, to the
-- millimetre, so one of 0 is a place hit exactly. Places without coordinates have none.
--
-- `estimate` gives every person the same weight; `low` and `high` as in metrics.place_share.
--
-- grain:   release_id, time_of_day, model, metres
-- reads:   slots.position, counts.release, grid.cell
-- params:  release_id, slots_per_day, night_slots
-- shards by: release_id
-- columns:
--   release_id   VARCHAR  the release
--   time_of_day  VARCHAR  part of the day in which the move begins: night or day
--   model        VARCHAR  what is expected: stay or velocity
--   metres       INTEGER  largest error counted: 0, 250, 500, up to 5,000
--   people       BIGINT   people with such moves
--   transitions  BIGINT   moves from a slot to the next that were predicted, whatever the error
--   estimate     DOUBLE   mean over people of the share of their moves with no larger error
--   low          DOUBLE   lower end of the 95 % interval of the estimate
--   high         DOUBLE   upper end

with place as (
    select cell.cell, cell.x, cell.y
    from counts.release as release
    join grid.cell as cell using (index_id)
    where release.release_id = $release_id and cell.x is not null
),

step as (
    select
        person,
        slot,
        case when slot % $slots_per_day < $night_slots then 'night' else 'day' end as time_of_day,
        lag(slot) over in_time as previous_slot,
        lead(slot) over in_time as next_slot,
        lag(cell) over in_time as previous_cell,
        cell,
        lead(cell) over in_time as next_cell
    from slots.position
    where release_id = $release_id
    window in_time as (partition by person order by slot)
),

predictable as (
    select person, time_of_day, case when time_of_day = 'day' then previous_cell end as previous_cell, cell, next_cell
    from step
    where
        next_slot = slot + 1
        and next_slot % $slots_per_day > 0
        and (time_of_day = 'night' or previous_slot = slot - 1)
),

same_move as (
    select person, time_of_day, previous_cell, cell, next_cell, count(*) as transitions
    from predictable
    group by person, time_of_day, previous_cell, cell, next_cell
),

predicted as (
    select move.person, move.time_of_day, 'stay' as model, move.transitions, move.next_cell, here.x, here.y
    from same_move as move
    join place as here on here.cell = move.cell
    union all
    select
        move.person,
        move.time_of_day,
        'velocity' as model,
        move.transitions,
        move.next_cell,
        2 * here.x - before.x as x,
        2 * here.y - before.y as y
    from same_move as move
    join place as here on here.cell = move.cell
    join place as before on before.cell = move.previous_cell
),

error as (
    select
        predicted.person,
        predicted.time_of_day,
        predicted.model,
        predicted.transitions,
        sqrt(pow(predicted.x - next.x, 2) + pow(predicted.y - next.y, 2)) as metres
    from predicted
    join place as next on next.cell = predicted.next_cell
),

person_error as (
    select
        person,
        time_of_day,
        model,
        greatest(ceil((metres - 0.001) / 250), 0)::integer * 250 as metres,
        sum(transitions) as transitions,
        sum(sum(transitions)) over (partition by person, time_of_day, model) as transitions_of_the_person
    from error
    group by person, time_of_day, model, greatest(ceil((metres - 0.001) / 250), 0)::integer * 250
),

-- Shares are summed in decimals: a sum of doubles would depend on the number of threads.
sum_over_people as (
    select
        time_of_day,
        model,
        metres,
        sum(transitions) as transitions,
        sum((transitions / transitions_of_the_person::double)::decimal(18, 12)) as shares
    from person_error
    group by time_of_day, model, metres
),

population as (
    select time_of_day, model, count(distinct person) as people, sum(transitions)::bigint as transitions
    from person_error
    group by time_of_day, model
),

up_to as (
    select unnest(range(0, 5001, 250)) as metres
),

cumulated as (
    select
        population.time_of_day,
        population.model,
        up_to.metres,
        population.people,
        population.transitions,
        round(coalesce(sum(found.shares), 0)::double / population.people, 9) as estimate
    from population
    cross join up_to
    left join sum_over_people as found
        on found.time_of_day = population.time_of_day and found.model = population.model and found.metres <= up_to.metres
    group by population.time_of_day, population.model, up_to.metres, population.people, population.transitions
)

select
    $release_id as release_id,
    time_of_day,
    model,
    metres::integer as metres,
    people,
    transitions,
    estimate,
    wilson_low(estimate, people) as low,
    wilson_high(estimate, people) as high
from cumulated
