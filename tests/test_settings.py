"""Settings: a whole number is one, within its bounds, and anything else is refused in one wording."""

from __future__ import annotations

import numpy as np
import pytest

from trajlab.errors import ReleaseError
from trajlab.settings import LARGEST, whole_number


@pytest.mark.parametrize("value", [1, LARGEST, np.int64(7), np.uint8(7)])
def test_a_whole_number_comes_back_as_an_int(value):
    number = whole_number("people", value, 1, error=ReleaseError)
    assert number == value
    assert type(number) is int


@pytest.mark.parametrize(
    ("value", "least", "most", "message"),
    [
        (0, 1, LARGEST, "people must be a whole number, 1 or more, not 0"),
        (True, 1, LARGEST, "people must be a whole number, 1 or more, not True"),
        (2.0, 1, LARGEST, "people must be a whole number, 1 or more, not 2.0"),
        ("2", None, LARGEST, "people must be a whole number, not '2'"),
        (None, 0, None, "people must be a whole number, 0 or more, not None"),
        (2**31, 1, LARGEST, "people must be a whole number below two billion, not 2147483648"),
        (-(2**31), None, LARGEST, "people must be a whole number below two billion, not -2147483648"),
        (1025, 1, 1024, "people must be a whole number of at most 1,024, not 1025"),
    ],
)
def test_anything_else_is_refused_in_words(value, least, most, message):
    with pytest.raises(ReleaseError) as refusal:
        whole_number("people", value, least, most, error=ReleaseError)
    assert str(refusal.value) == message


def test_without_a_bound_any_size_will_do():
    assert whole_number("seed", 10**30, 0, None, error=ReleaseError) == 10**30
