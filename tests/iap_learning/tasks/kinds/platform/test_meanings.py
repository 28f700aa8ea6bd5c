# SPDX-License-Identifier: BSD-3-Clause
"""What the numbers of an action mean, and how many they are."""

from iap_learning.tasks.kinds.platform.task import CommandRange


def test_numbers_mean_their_kind_or_what_a_function_makes_of_them():
    low, high = (-1.0,) * 3, (1.0,) * 3
    plain = CommandRange.model_construct(kind="velocity", low=low, high=high, function=None)
    assert plain.meaning == "velocity" and plain.size(4) == plain.size(1) != 0
    own = plain.model_copy(update={"function": "my.module:steer"})
    assert own.meaning == "velocity by my.module:steer"
    assert own.size(4) == 3 and own.scale(4).size == 3
    assert plain.columns == plain.size(1) and plain.user_function(4, None) is None
