# SPDX-License-Identifier: BSD-3-Clause
"""A stray stamp changes nothing, and time that jumps is followed from the second message on."""

from iap_io.wire.stamp_guard import StampGuard
from iap_io.wire.stamps import SECOND

PERIOD = SECOND // 200


def guard_at(stamp: int) -> StampGuard:
    guard = StampGuard()
    assert guard.offer(stamp, stamp) == (stamp,)
    return guard


def test_what_goes_on_counts_at_once_and_so_does_what_comes_again():
    guard = guard_at(10 * PERIOD)
    for stamp in (10 * PERIOD, 11 * PERIOD, 30 * PERIOD):
        assert guard.offer(stamp, stamp) == (stamp,)
    assert not guard.stray()


def test_a_message_of_long_ago_or_far_ahead_is_a_stray():
    for stamp in (0, 10**18):
        guard = guard_at(2 * SECOND)
        assert guard.offer(stamp, stamp) == ()
        assert guard.offer(2 * SECOND + PERIOD, "next") == ("next",)
        assert f"a message of {stamp / SECOND:.3f} s, while time is 2.005 s" in guard.stray()
        assert not guard.stray()


def test_a_reset_is_followed_by_its_second_message_and_nothing_is_lost():
    guard = guard_at(2 * SECOND)
    assert guard.offer(0, "first") == ()
    assert guard.offer(PERIOD, "second") == ("first", "second")
    assert guard.offer(2 * PERIOD, "third") == ("third",)
    assert not guard.stray()


def test_the_copy_of_a_reset_s_first_message_stands_for_both():
    guard = guard_at(2 * SECOND)
    assert guard.offer(0, "state") == ()
    assert guard.offer(0, "copy") == ("copy",)


def test_of_two_publishers_the_one_that_was_heard_first_stays():
    guard = guard_at(100 * SECOND)
    for k in range(1, 50):
        assert guard.offer(3 * SECOND + k * PERIOD, "other") == ()
        assert guard.offer(100 * SECOND + k * PERIOD, "own") == ("own",)
        assert guard.stray()


def test_late_ones_count_where_the_topic_may_have_them():
    guard = StampGuard(back=SECOND // 2)
    guard.offer(SECOND, "newest")
    assert guard.offer(SECOND // 2, "late") == ("late",)
    assert guard.offer(0, "too late") == ()
