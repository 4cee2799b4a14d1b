-- student_t: how many standard errors a 95 % interval of a mean reaches to each side, given the degrees of freedom.
--
-- Up to 30 degrees as tabled, beyond that by the expansion around the normal distribution, right to five digits.
-- Without a degree of freedom there is none.
--
-- params:  freedom

select case
    when $freedom < 1 then null
    when $freedom <= 30 then [
        12.7062047364, 4.3026527297, 3.1824463053, 2.7764451052, 2.5705818356, 2.4469118511, 2.3646242516,
        2.3060041352, 2.2621571628, 2.2281388520, 2.2009851601, 2.1788128297, 2.1603686565, 2.1447866879,
        2.1314495456, 2.1199052992, 2.1098155778, 2.1009220402, 2.0930240544, 2.0859634473, 2.0796138447,
        2.0738730679, 2.0686576104, 2.0638985616, 2.0595385528, 2.0555294386, 2.0518305165, 2.0484071418,
        2.0452296421, 2.0422724563
    ][$freedom]::double
    else 1.959963985 + 2.372271 / $freedom + 2.822498 / $freedom / $freedom + 2.555852 / $freedom ** 3
end
