-- polyline_points: the points [lng, lat] of a polyline of Porto's taxis; null where it is no JSON.
--
-- params:  polyline

select case when json_valid($polyline) then from_json($polyline, '[["DOUBLE"]]') end
