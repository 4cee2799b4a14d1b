-- study._notes_of_study: what to know of the releases of a study: hours of UTC, and positions that are filled in.
--
-- reads:   study.study_answer, study.note
-- params:  study_id
-- columns:
--   subject   VARCHAR  tz or filled
--   releases  BIGINT   releases that it is to be said of
--   note      VARCHAR  the note on the one with the largest share

select
    note.subject,
    count(distinct note.release_id) as releases,
    arg_max(note.note, (note.share, note.note)) as note
from study.note as note
where
    note.subject in ('tz', 'filled')
    and note.release_id in (select release_id from study.study_answer where study_id = $study_id)
group by note.subject
order by note.subject desc
