# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of messages that no flight has, quaternions that are none, tables too large, names that are alike."""

import numpy as np
import pytest

from iap_description.config.alternatives import alternatives, near, nearest
from iap_description.config.bounds import are_plausible, check_size, first_odd, is_unit
from iap_description.errors import BadInput


def test_no_number_of_a_flight_is_beyond_a_million():
    assert are_plausible(np.array([1e6, -1e6, 0.0])) and are_plausible(np.zeros(0))
    for odd in (1.01e6, -1.01e6, np.nan, np.inf, -np.inf):
        assert not are_plausible(np.array([0.0, odd]))


def test_a_unit_quaternion_has_a_square_within_a_thousandth_of_one():
    for square, is_one in ((1.00095, True), (0.99905, True), (1.00105, False), (0.99895, False)):
        for axis in np.eye(4):
            assert is_unit(np.sqrt(square) * axis) == is_one
    assert is_unit(0.5 * np.array([1.0, -1.0, 1.0, -1.0])) and not is_unit(np.full(4, np.nan))


def test_the_first_odd_number_or_quaternion_is_told_by_its_place():
    row = np.array([9e9, 0.0, 0.0, 0.0, 0.0, 1.0, 2e6])
    places, turns = np.array([1, 2]), np.array([2])
    assert first_odd(row, places, turns) == -1
    assert first_odd(row, np.array([1, 6]), turns) == 6
    assert first_odd(row, places, np.array([2, 1])) == 1  # 0 0 0 0
    assert first_odd(np.full(7, np.nan), places, turns) == 1


def test_a_table_takes_a_gibibyte_at_most():
    check_size("horizon", 2.0**20, 128)
    with pytest.raises(
        BadInput, match=r"^key 'horizon': takes 1025 MiB of memory, at most 1024 MiB"
    ):
        check_size("horizon", 2.0**20 + 1024.0, 128)
    with pytest.raises(BadInput, match="key 'horizon'"):
        check_size("horizon", np.nan, 128)


def test_names_are_offered_that_share_six_letters_of_ten_three_at_most():
    assert near("abcxy", ["abcde"]) == "did you mean abcde?"  # 2 * 3 / 10
    assert near("abcdxyz", ["abcdefg"]) == ""  # 2 * 4 / 14
    many = ["hover1", "hover2", "hover3", "hover4"]
    assert near("hover", many).count("or") == 2
    assert near("gains", ["Gains", "gain"], before="control.").startswith(
        "did you mean control.Gains"
    )
    assert alternatives("zzz", ["b", "a", "b"]) == "choose b, a"


def test_a_name_stands_for_another_that_shares_eight_letters_of_ten_or_all():
    assert nearest("abcdx", ["abcde"]) == "abcde"
    assert nearest("abcx", ["abcd"]) is None  # 2 * 3 / 8
    assert nearest("dcba", ["abcd", "dcbx"]) == "abcd"
