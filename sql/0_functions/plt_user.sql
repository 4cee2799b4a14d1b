-- plt_user: the user whom a file of GeoLife is about, by its path <user>/Trajectory/<name>.plt.
--
-- params:  path

select regexp_extract($path, '([^/\\]+)[/\\]Trajectory[/\\][^/\\]+$', 1)
