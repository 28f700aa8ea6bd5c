# SPDX-License-Identifier: BSD-3-Clause
"""Threads that share out the worlds of a batch."""

import threading
import time

import pytest

from iap_description.errors import BadInput
from iap_description.math.lanes import LANES, VECTOR
from iap_physics.batch.threads import Threads, VectorTime


def shared(threads, batch, pace, vector=0.0):
    """Stretches of a batch, the caller's first; work takes so long a vector [s]."""
    stretches, mine = [], []

    def work(first, last):
        own = threading.current_thread() is threading.main_thread()
        (mine if own else stretches).append((first, last))
        time.sleep(vector * -(-(last - first) // VECTOR))

    threads.run(work, batch, pace)
    return mine + sorted(stretches)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("batch", [1, 32, 33, 64, 100, 1000])
@pytest.mark.parametrize(
    ("size", "late", "vector"),
    [(LANES, 0.0, None), (VECTOR, 0.0, 0.0), (VECTOR, 1e-4, 1e-3), (VECTOR, 1.0, 1e-6)],
)
def test_every_world_is_done_once_in_whole_blocks_or_vectors(count, batch, size, late, vector):
    threads, pace = Threads(count), None
    if vector is not None:
        threads._late, pace = late, VectorTime()
        pace.vector = vector
    stretches = shared(threads, batch, pace)
    firsts, lasts = zip(*stretches, strict=True)
    assert (firsts[0], lasts[-1]) == (0, batch)
    assert firsts[1:] == lasts[:-1]
    assert all(first % size == 0 < last - first for first, last in stretches)
    assert len(stretches) == min(count, -(-batch // LANES))


def test_threads_that_begin_late_are_given_less():
    threads, pace = Threads(2), VectorTime()
    even = shared(threads, 20 * VECTOR, pace, vector=1e-3)
    assert even[0] == (0, 10 * VECTOR)
    assert pace.vector >= 1e-3
    threads._late = 4 * pace.vector
    assert shared(threads, 20 * VECTOR, pace)[0] == (0, 12 * VECTOR)


def test_without_a_pace_worlds_are_shared_evenly():
    threads = Threads(2)
    threads._late = 1.0
    assert shared(threads, 20 * LANES, None)[0] == (0, 10 * LANES)


def test_no_threads_are_refused():
    with pytest.raises(BadInput, match="at least one"):
        Threads(0)
