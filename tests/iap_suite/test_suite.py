# SPDX-License-Identifier: BSD-3-Clause
"""The suite in one place."""

import pytest

import iap_suite as iap


@pytest.mark.parametrize("name", sorted(iap.HOMES))
def test_every_name_of_the_suite_is_there_and_says_what_it_is(name):
    assert name in dir(iap)
    assert getattr(iap, name).__doc__


def test_a_name_that_is_not_there_is_missing_as_in_any_module():
    with pytest.raises(AttributeError, match="no attribute 'Simulator'"):
        _ = iap.Simulator
