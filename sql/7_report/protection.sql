-- report.protection: what an attack recovers of protected counts, beside the same attack on the counts as they are.
--
-- One row for each run on a release whose counts are protected, and on one whose counts are not: about the published
-- table. Optimal pairing where it was run. A recipe of several steps has no strength by which to put it in order.
--
-- grain:   run_id
-- reads:   counts.release, report.accuracy, study.release, study.run
-- shards by: none
-- view:    yes
-- columns:
--   run_id          VARCHAR  the run, see study.run
--   release_id      VARCHAR  the release attacked
--   unprotected_id  VARCHAR  the release without protection that it was made from; itself where it has none
--   recipe          VARCHAR  the protections, in order, with blanks between; empty where there are none
--   protection      VARCHAR  suppress, round, noise, several or none
--   strength        DOUBLE   k of suppress, step of round, ε of noise; null where there is no one of them
--   privacy_unit    VARCHAR  what ε is spent on, for noise: person-slot, person-day, person-week or person
--   attack          VARCHAR  name of the attack
--   seed            BIGINT   seed of its chance
--   estimate        DOUBLE   share of slots in which a recovered track is in the right cell
--   low             DOUBLE   lower end of its 95 % interval over people
--   high            DOUBLE   upper end of its 95 % interval over people
--   shuffle         DOUBLE   the same of slots joined at random
--   stay            DOUBLE   the same of people who stay where they are
--   unprotected     DOUBLE   the same of this attack, with these settings and seed, on the counts as they are

with scored as (
    select run_id, release_id, attack, estimate, low, high, shuffle, stay
    from report.accuracy
    where level = 3
    qualify row_number() over (partition by run_id order by pairing desc) = 1
),

run as (
    select
        scored.*,
        run.seed,
        run.settings,
        coalesce(made.unprotected_id, scored.release_id) as unprotected_id,
        coalesce(release.recipe, '') as recipe
    from scored
    join study.run as run on run.run_id = scored.run_id
    join counts.release as release on release.release_id = scored.release_id
    left join study.release as made on made.release_id = scored.release_id
),

named as (
    select
        *,
        case
            when recipe = '' then 'none'
            when contains(recipe, ' ') then 'several'
            else split_part(recipe, ':', 1)
        end as protection
    from run
)

select
    named.run_id,
    named.release_id,
    named.unprotected_id,
    named.recipe,
    named.protection,
    case
        when named.protection in ('suppress', 'round') then try_cast(split_part(named.recipe, ':', 2) as double)
        when named.protection = 'noise' then try_cast(regexp_extract(named.recipe, 'eps=([^:]+)', 1) as double)
    end as strength,
    case when named.protection = 'noise' then regexp_extract(named.recipe, 'unit=([^:]+)', 1) end as privacy_unit,
    named.attack,
    named.seed,
    named.estimate,
    named.low,
    named.high,
    named.shuffle,
    named.stay,
    whole.estimate as unprotected
from named
left join run as whole
    on whole.release_id = named.unprotected_id
    and whole.attack = named.attack
    and whole.settings = named.settings
    and whole.seed = named.seed
