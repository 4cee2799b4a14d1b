-- report.cube_release: the releases that groups of cubes were made into, to be attacked and searched.
--
-- They are listed so that a page can show them as the groups that they are, and not as releases beside others.
--
-- grain:   cube_id, value, release_id
-- reads:   study.cube_run, study.cube_risk, study.risk, study.release
-- shards by: cube_id
-- view:    yes
-- columns:
--   cube_id     VARCHAR  the cube, see study.cube
--   value       VARCHAR  the group: the home area, or the value of the column; unknown where there is none
--   release_id  VARCHAR  the release of the group, protected or not

with asked as (
    select cube_id, value, release_id
    from study.cube_run
    where release_id is not null
    union all
    select cube_risk.cube_id, cube_risk.value, risk.release_id
    from study.cube_risk as cube_risk
    join study.risk as risk on risk.risk_id = cube_risk.risk_id
)

select cube_id, value, release_id
from asked
union
select asked.cube_id, asked.value, made.unprotected_id as release_id
from asked
join study.release as made on made.release_id = asked.release_id
