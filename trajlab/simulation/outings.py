"""Where people go when they are free: favourites, places visited before, and new ones.

Exploration and preferential return (Song et al. 2010): a person who knows S places
goes to a new one with probability rho * S^-gamma, otherwise back to a known one,
with probability proportional to past visits. Copying the place of a past visit drawn
at random does the second exactly, with no table of counts. Everybody starts with
3 to 8 favourites and a past of visits to them, shared out by Zipf's law.
"""

from __future__ import annotations

import numpy as np

from trajlab.simulation.chance import Bools, Floats, Ints
from trajlab.simulation.city import City, Residents

RHO, GAMMA = 0.6, 0.21
_PAST = 20  # visits to favourites before the first day
_FAVOURITES = 8


def outing_places(city: City, people: Residents, goes_out: Bools) -> tuple[Floats, Floats]:
    """(x, y) of each outing that happens, people down and outings across in order of time.

    Entries of outings that do not happen are left at zero.
    """
    n, outings = goes_out.shape
    chance, row = city.chance, np.arange(n)
    visited_x = np.zeros((n, _PAST + outings))
    visited_y = np.zeros_like(visited_x)
    favourites = 3 + np.floor(6 * chance.uniform("favourites", people.person)).astype(np.int64)
    place_x, place_y = _new_places(city, people, "favourite", np.arange(_FAVOURITES))
    rank = _past_ranks(favourites)
    visited_x[:, :_PAST] = np.take_along_axis(place_x, rank, axis=1)
    visited_y[:, :_PAST] = np.take_along_axis(place_y, rank, axis=1)

    known = favourites + 2  # and home, and work
    visits = np.full(n, _PAST)
    new_x, new_y = _new_places(city, people, "explore", np.arange(outings))
    explores = chance.uniform("explores", people.person[:, None], np.arange(outings))
    returns = chance.uniform("returns", people.person[:, None], np.arange(outings))
    x, y = np.zeros((2, n, outings))
    for k in range(outings):
        out = goes_out[:, k]
        new = explores[:, k] < RHO * known**-GAMMA
        past = (returns[:, k] * visits).astype(np.int64)
        x[:, k] = np.where(out, np.where(new, new_x[:, k], visited_x[row, past]), 0.0)
        y[:, k] = np.where(out, np.where(new, new_y[:, k], visited_y[row, past]), 0.0)
        visited_x[row, visits] = x[:, k]  # counts only once `visits` moves past it
        visited_y[row, visits] = y[:, k]
        known = known + (out & new)
        visits = visits + out
    return x, y


def _new_places(city: City, people: Residents, purpose: str, counter: Ints) -> tuple[Floats, Floats]:
    """Addresses near home, for those who work also near work, and now and then downtown."""
    chance, person = city.chance, people.person[:, None]
    bend, stretch = chance.normal_pair(f"{purpose}: reach", person, counter)
    distance = 0.07 * city.radius * np.exp(0.8 * stretch)
    angle = 2 * np.pi * chance.uniform(f"{purpose}: angle", person, counter)
    around = chance.uniform(f"{purpose}: around", person, counter)
    downtown = np.searchsorted(np.cumsum(city.district_share[:-1]), (around % 0.2) / 0.2)
    near_work = people.works[:, None] & (around > 0.75)
    anchor_x = np.where(near_work, people.work[0][:, None], people.home[0][:, None])
    anchor_y = np.where(near_work, people.work[1][:, None], people.home[1][:, None])
    to_town = around < 0.2
    x = np.where(to_town, city.districts[downtown, 0] + 0.02 * city.radius * bend, anchor_x)
    y = np.where(to_town, city.districts[downtown, 1] + 0.02 * city.radius * stretch, anchor_y)
    return city.address(
        np.where(to_town, x, x + distance * np.cos(angle)), np.where(to_town, y, y + distance * np.sin(angle))
    )


def _past_ranks(favourites: Ints) -> Ints:
    """Which favourite each past visit went to: rank r gets a share proportional to 1 / r."""
    rank = np.arange(_FAVOURITES)
    weight = np.where(rank < favourites[:, None], 1.0 / (1 + rank), 0.0)
    reached = np.cumsum(weight, axis=1)
    visit = (np.arange(_PAST) + 0.5) / _PAST
    drawn = visit * reached[:, -1:]
    ranks: Ints = (reached[:, None, :] < drawn[:, :, None]).sum(axis=2)
    return ranks
