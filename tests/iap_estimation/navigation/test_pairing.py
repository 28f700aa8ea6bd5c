# SPDX-License-Identifier: BSD-3-Clause
"""Images of two cameras are paired by their times, whichever comes first."""

import pytest

from iap_estimation.navigation.measurements import Tally
from iap_estimation.navigation.streams import Pairing


@pytest.mark.parametrize("first", [0, 1])
def test_a_pair_has_the_time_of_its_left_image_and_that_image_first(first):
    pairing: Pairing[str] = Pairing(tally := Tally())
    sent = [(0, 1.0, "left"), (1, 1.0 + 1e-7, "right")]
    assert pairing.add(*sent[first]) is None
    assert pairing.add(*sent[1 - first]) == (1.0, "left", "right")
    pairing.end()
    assert tally.unpaired == 0
