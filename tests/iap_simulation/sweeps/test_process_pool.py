# SPDX-License-Identifier: BSD-3-Clause
"""Processes do each piece of work once, whatever becomes of them."""

import time
from pathlib import Path

import pytest
from farm_work import die, die_first, square, stay
from hang import HANG

from iap_description.errors import IapError
from iap_simulation.sweeps.process_pool import MAX_RETRIES, ProcessPool


def test_every_piece_comes_back_once():
    done = list(ProcessPool(2).map(square, range(50)))
    assert sorted((each.work, each.result) for each in done) == [(x, x * x) for x in range(50)]


@pytest.mark.slow
def test_what_a_killed_process_was_at_is_begun_again(tmp_path):
    pool = ProcessPool(2)
    done = list(pool.map(die_first, [(str(tmp_path), x) for x in range(12)]))
    assert sorted(each.result for each in done) == [x * x for x in range(12)]
    assert pool.retried >= 2


@pytest.mark.slow
def test_work_that_always_kills_its_process_is_given_up():
    pool = ProcessPool(1)
    with pytest.raises(IapError, match=f"died {MAX_RETRIES + 1} times"):
        list(pool.map(die, [1]))


@pytest.mark.slow
def test_processes_end_with_the_farm():
    """Whoever stops asking for results leaves no process behind, whatever it is at."""
    done = ProcessPool(2).map(stay, range(3))
    number = next(done).result
    done.close()
    until = time.monotonic() + HANG
    while _is_alive(number) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _is_alive(number)


def _is_alive(number):
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # it may end while its file is read
        return False
    return state != "Z"
