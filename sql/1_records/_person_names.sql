-- records._person_names: everybody in the sources, by their id as text without outer spaces.
--
-- A whole number that went through a float column (as pandas does where ids are missing) loses
-- its ".0"; $decimals says that the ids are such.
--
-- reads:   ingest_survey
-- params:  decimals
-- columns:
--   uid           ANY      the person as the input says it
--   name          VARCHAR  the id as text; null where there is none
--   first_source  INTEGER  the first source with a sound row about the person; null where none has one
--   uid_fault     VARCHAR  why rows about the person are refused; null where they are not

with named as (
    select
        uid,
        min(source_id) filter (rows > faults) as first_source,
        case
            when not $decimals then nullif(trim(uid::varchar), '')
            when uid::varchar in ('nan', 'inf', '-inf') then null
            when regexp_matches(uid::varchar, '[.]0$|e[+]') and try_cast(uid as hugeint) is not null
                then try_cast(uid as hugeint)::varchar
            else uid::varchar
        end as name
    from ingest_survey
    group by uid
)

select
    uid,
    name,
    first_source,
    case
        when name is null then 'person missing'
        when length(name) > 1000 then 'person id longer than 1000 characters'
    end as uid_fault
from named
