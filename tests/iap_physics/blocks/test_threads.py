# SPDX-License-Identifier: BSD-3-Clause
"""Threads that share out the worlds of a batch."""

import threading
import time

import pytest

from iap_description.errors import BadInput
from iap_description.lanes import LANES
from iap_physics.blocks.threads import Pace, Threads


def shared(threads, batch, pace, block=0.0):
    """Stretches of a batch, the caller's first; work takes so long a block [s]."""
    stretches, mine = [], []

    def work(first, last):
        own = threading.current_thread() is threading.main_thread()
        (mine if own else stretches).append((first, last))
        time.sleep(block * -(-(last - first) // LANES))

    threads.run(work, batch, pace)
    return mine + sorted(stretches)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("batch", [1, 32, 33, 64, 100, 1000])
@pytest.mark.parametrize(("late", "block"), [(0.0, 0.0), (1e-4, 1e-3), (1.0, 1e-6)])
def test_every_world_is_done_once_in_whole_blocks(count, batch, late, block):
    threads, pace = Threads(count), Pace()
    threads._late, pace.block = late, block
    stretches = shared(threads, batch, pace)
    firsts, lasts = zip(*stretches, strict=True)
    assert (firsts[0], lasts[-1]) == (0, batch)
    assert firsts[1:] == lasts[:-1]
    assert all(first % LANES == 0 < last - first for first, last in stretches)
    assert len(stretches) == min(count, -(-batch // LANES))


def test_threads_that_begin_late_are_given_less():
    threads, pace = Threads(2), Pace()
    even = shared(threads, 20 * LANES, pace, block=1e-3)
    assert even[0] == (0, 10 * LANES)
    assert pace.block >= 1e-3
    threads._late = 4 * pace.block
    assert shared(threads, 20 * LANES, pace)[0] == (0, 12 * LANES)


def test_without_a_pace_worlds_are_shared_evenly():
    threads = Threads(2)
    threads._late = 1.0
    assert shared(threads, 20 * LANES, None)[0] == (0, 10 * LANES)


def test_no_threads_are_refused():
    with pytest.raises(BadInput, match="at least one"):
        Threads(0)
