-- study._compared_cells: between which cells and zones the flows of a study were compared.
--
-- reads:   study.study_answer, study.utility, study.od
-- params:  study_id
-- columns:
--   index_id    UBIGINT  index of the cells
--   index_name  VARCHAR  its name
--   zones_id    UBIGINT  index of the zones
--   zones_name  VARCHAR  its name

select distinct od.index_id, od.index_name, od.zones_id, od.zones_name
from study.study_answer as answer
join study.utility as utility on utility.utility_id = answer.result_id
join study.od as od on od.od_id = utility.after_id
where answer.study_id = $study_id and answer.result = 'flows'
order by od.index_name, od.zones_name
