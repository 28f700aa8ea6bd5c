# SPDX-License-Identifier: BSD-3-Clause
"""Messages become ticks again, in whatever order they come, and without what was lost on the way."""

import random

import numpy as np

from iap_description.signals import ForceMode, ForceTask, Reference
from iap_description.states import Command
from iap_io.recording.step_synchronizer import PATIENCE, StepSynchronizer
from iap_io.runs.topics import COMMAND, REFERENCE, REVISED, TASK, WRENCHES

PERIOD = 5_000_000


FREE = (REFERENCE, COMMAND)
TOUCHING = (REFERENCE, COMMAND, *WRENCHES[:3], REVISED, TASK)


class Book:
    def __init__(self, vehicles=1, expected=FREE):
        self.ticks, self.now = [], 0.0
        clock = lambda: self.now  # noqa: E731
        self.book = StepSynchronizer([expected] * vehicles, self.ticks.append, clock)

    def state(self, k, vehicle=0):
        self.book.take_state(vehicle, k * PERIOD, k, np.full((4, 13), k), np.zeros((3, 4)))

    def reference(self, k, vehicle=0):
        self.book.take(vehicle, REFERENCE, k * PERIOD, Reference(np.full(22, k)))

    def command(self, k, vehicle=0):
        command = Command.zeros(3)
        command.thrust[:] = k
        self.book.take(vehicle, COMMAND, k * PERIOD, command)

    @property
    def numbers(self):
        return [
            (tick.k, tick.x[0, 0], tick.reference.row[0], tick.command.thrust[0])
            for ticks in self.ticks
            for tick in ticks
        ]


def test_ticks_come_out_in_order_whatever_the_messages_order():
    book, parts = Book(), []
    for k in range(20):
        group = [(book.state, k), (book.reference, k), (book.command, k)]
        random.Random(k).shuffle(group)
        parts += group
    for part, k in parts:
        part(k)
    assert book.numbers == [(k, k, k, k) for k in range(20)]


def test_a_state_that_comes_again_is_one_tick():
    book = Book()
    for _ in range(3):
        book.state(0)
        book.reference(0)
        book.command(0)
    assert len(book.ticks) == 1


def test_what_is_lost_is_replaced_by_the_last_one_once_the_next_is_there_and_counted():
    book = Book()
    for k in range(7):
        book.state(k)
        book.reference(k)
        if k != 5:
            book.command(k)
    assert book.numbers[4:] == [(4, 4, 4, 4), (5, 5, 5, 4), (6, 6, 6, 6)]
    assert book.book.missing == {COMMAND: 1}


def test_what_a_topic_holds_back_is_waited_for_however_long_the_flight_goes_on():
    book = Book()
    for k in range(2000):  # 10 s of simulation time, in no time
        book.state(k)
        book.reference(k)
        if k < 5:
            book.command(k)
    assert len(book.ticks) == 5
    for k in range(5, 2000):
        book.command(k)
    assert book.numbers == [(k, k, k, k) for k in range(2000)]
    assert not book.book.missing


def test_what_stays_away_is_given_up_after_a_while():
    book = Book()
    for k in range(3):
        book.state(k)
        book.reference(k)
    book.command(0)
    book.now = 1.01 * PATIENCE
    book.state(3)
    book.reference(3)
    assert book.numbers == [(0, 0, 0, 0), (1, 1, 1, 0), (2, 2, 2, 0)]
    assert book.book.missing == {COMMAND: 2}


def test_ticks_before_the_first_command_are_left_out():
    book = Book()
    for k in range(3):
        book.state(k)
        book.reference(k)
    book.command(2)
    book.book.finish()
    assert book.numbers == [(2, 2, 2, 2)]


def test_several_vehicles_make_one_instant_and_a_lost_state_drops_it():
    book = Book(2)
    for k in range(4):
        for vehicle in (0, 1):
            if (k, vehicle) != (2, 1):
                book.state(k, vehicle)
            book.reference(k, vehicle)
            book.command(k, vehicle)
    assert [[tick.k for tick in ticks] for ticks in book.ticks] == [[0, 0], [1, 1], [3, 3]]


def test_an_older_state_is_a_reset():
    book = Book()
    book.state(7)
    assert not book.book.is_reset(0, 7 * PERIOD)
    assert book.book.is_reset(0, 0)


def test_what_comes_before_the_first_state_after_a_reset_belongs_to_the_new_run():
    before, after = Book(), Book()
    for k in range(8):
        for take in (before.state, before.reference, before.command):
            take(k)
    before.state(8)  # its reference and its command are still on their way
    before.reference(8)
    before.reference(0)
    before.command(0)
    after.book.take_over(before.book)
    after.state(0)
    assert after.numbers == [(0, 0, 0, 0)]
    after.state(8)
    after.command(8)
    assert after.numbers == [(0, 0, 0, 0)]


def feel(book, k, wrenches=WRENCHES[:3]):
    for number, name in enumerate(wrenches):
        book.book.take(0, name, k * PERIOD, np.full(6, 10.0 * number + k))
    book.book.take(0, REVISED, k * PERIOD, Reference(np.full(22, 100.0 + k)))
    task = ForceTask(ForceMode.PAPER, np.zeros(6), np.full(6, 5.0), np.ones(6, dtype=bool))
    book.book.take(0, TASK, k * PERIOD, task)


def test_a_measured_wrench_belongs_to_its_tick_and_is_waited_for():
    book = Book(expected=TOUCHING)
    for k in range(2):
        book.state(k)
        book.reference(k)
        book.command(k)
        assert len(book.ticks) == k
        feel(book, k)
    felt = book.ticks[1][0].wrench_record
    assert [felt.raw_P[0], felt.filtered_P[0], felt.estimated_P[0]] == [1.0, 11.0, 21.0]
    assert felt.tracked.row[0] == 101.0
    assert felt.task.desired_P[0] == 5.0


def test_a_wrench_that_stays_away_is_the_last_one_and_zero_before_the_first():
    book = Book(expected=TOUCHING)
    for k in range(9):
        book.state(k)
        book.reference(k)
        book.command(k)
        feel(book, k, WRENCHES[:1] if k else ())
    book.book.finish()
    ticks = [tick for ticks in book.ticks for tick in ticks]
    assert ticks[0].wrench_record.raw_P[0] == 0.0
    assert ticks[7].wrench_record.raw_P[0] == 7.0
    assert not ticks[7].wrench_record.estimated_P.any()


def test_without_an_admittance_the_reference_is_tracked_and_without_a_push_there_is_no_task():
    book = Book(expected=(REFERENCE, COMMAND, *WRENCHES[:3]))
    book.state(0)
    book.reference(0)
    book.command(0)
    for name in WRENCHES[:3]:
        book.book.take(0, name, 0, np.ones(6))
    ((tick,),) = book.ticks
    assert tick.wrench_record.tracked is tick.reference
    assert tick.wrench_record.task is None
