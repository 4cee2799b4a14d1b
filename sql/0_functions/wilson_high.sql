-- wilson_high: upper end of Wilson's 95 % interval of a share, given the share and how many it is of.
--
-- It never lies below the share, and never above 1.
--
-- params:  share, people

select least(greatest(
    ($share + 1.9208 / $people) / (1 + 3.8416 / $people)
    + 1.96 * sqrt($share * (1 - $share) / $people + 0.9604 / $people / $people) / (1 + 3.8416 / $people),
    $share
), 1)
