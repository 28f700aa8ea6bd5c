# SPDX-License-Identifier: BSD-3-Clause
"""Signals and compiling, one piece at a time."""

import signal
import sys
from types import SimpleNamespace

import pytest

from iap_description.process import interrupts
from iap_description.process.compiling import UNNOTICED, CompilationNotice
from iap_description.process.interrupts import Deferral, SignalRecord, Terminated

INT, TERM = signal.SIGINT, signal.SIGTERM


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def notice(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("iap_description.process.compiling.atexit.register", lambda _: None)
    made = CompilationNotice(clock)

    def compile_for(seconds, module="iap_physics.kernels", depth=1):
        for _ in range(depth):
            made.on_start(None)
        clock.now += seconds
        dispatcher = SimpleNamespace(py_func=SimpleNamespace(__module__=module))
        for _ in range(depth):
            made.on_end(SimpleNamespace(data={"dispatcher": dispatcher}))

    made.compile_for = compile_for
    return made


def test_kernels_are_counted_and_timed_by_the_outermost(notice):
    notice.compile_for(0.5)
    notice.compile_for(1.0, depth=3)
    assert (notice.kernels, notice.elapsed) == (4, 1.5)
    notice.compile_for(0.25, module="numba.core.overloads")
    assert (notice.kernels, notice.elapsed) == (4, 1.75)
    notice.compile_for(0.0, module="numbat")
    assert notice.kernels == 5
    notice.on_start(None)
    notice.on_end(SimpleNamespace(data={"dispatcher": object()}))
    assert (notice.kernels, notice.elapsed) == (5, 1.75)


def test_compiling_is_told_once_it_takes_longer_than_a_moment(notice, capsys):
    assert UNNOTICED == notice.unnoticed == 2.0
    notice.compile_for(2.0)
    notice.tell()
    assert capsys.readouterr().err == ""
    notice.compile_for(0.5)
    assert capsys.readouterr().err == "iap: compiling to machine code, once\n"
    notice.compile_for(4.0)
    assert capsys.readouterr().err == ""
    notice.tell()
    assert capsys.readouterr().err.startswith("iap: compiled 3 kernels in 6 s, kept in ")
    notice.tell()
    assert capsys.readouterr().err == ""
    notice.compile_for(1.0)
    notice.tell()
    assert capsys.readouterr().err.startswith("iap: compiled 4 kernels in 8 s")


def test_a_kernel_that_takes_long_is_told_while_its_caller_is_compiled(notice, capsys):
    notice.on_start(None)
    notice.compile_for(2.5)
    assert capsys.readouterr().err == "iap: compiling to machine code, once\n"
    notice.tell()
    assert capsys.readouterr().err.startswith("iap: compiled 1 kernel in 0 s, kept in ")


def test_codes_and_words_of_signals():
    assert [interrupts.exit_code(each) for each in (INT, TERM)] == [130, 143]
    assert [interrupts.signal_of(each) for each in (KeyboardInterrupt(), Terminated())] == [
        INT,
        TERM,
    ]
    assert [interrupts.word(each) for each in (KeyboardInterrupt(), Terminated())] == [
        "interrupted",
        "terminated",
    ]


def test_what_arrives_is_remembered_by_the_innermost_alone():
    outer = SignalRecord.now
    before, hook = signal.getsignal(TERM), sys.unraisablehook
    with interrupts.handled(interrupts.raise_interrupt) as record:
        assert record is SignalRecord.now and record is not outer
        assert interrupts.exit_code() == 130
        with pytest.raises(Terminated):
            signal.raise_signal(TERM)
        assert record.number == TERM and interrupts.exit_code() == 143
        assert interrupts.exit_code(INT) == 130
        with interrupts.handled(interrupts.pass_by) as inner:
            signal.raise_signal(INT)
            assert inner.number is None and interrupts.exit_code() == 130
        with pytest.raises(KeyboardInterrupt) as caught:
            signal.raise_signal(INT)
        assert not isinstance(caught.value, Terminated) and record.number == INT
        assert sys.unraisablehook is interrupts.pass_over_interrupts
    assert SignalRecord.now is outer and outer.number is None
    assert signal.getsignal(TERM) == before and sys.unraisablehook is hook


def test_what_may_finish_passes_signals_by_until_it_is_left():
    before = signal.getsignal(TERM), signal.getsignal(INT)
    with interrupts.handled(interrupts.raise_interrupt) as record:
        interrupts.let_finish()
        signal.raise_signal(TERM)
        signal.raise_signal(INT)
        assert record.number is None
        with interrupts.handled(interrupts.raise_interrupt), pytest.raises(Terminated):
            signal.raise_signal(TERM)
        signal.raise_signal(TERM)
    assert (signal.getsignal(TERM), signal.getsignal(INT)) == before


def test_only_interrupts_are_passed_over_where_nothing_can_be_raised(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "__unraisablehook__", told.append)
    for error in (KeyboardInterrupt(), Terminated(), ValueError("x")):
        interrupts.pass_over_interrupts(SimpleNamespace(exc_value=error))
    assert [type(each.exc_value) for each in told] == [ValueError]


@pytest.mark.parametrize("step", ["check", "record", "record_rows"])
def test_a_signal_is_held_back_until_it_is_asked_for(step):
    told = []
    with interrupts.handled(lambda number, _: told.append(number)):
        with Deferral() as deferral:
            signal.raise_signal(TERM)
            assert told == []
            getattr(deferral, step)(*(() if step == "check" else (0, None)))
            assert told == [TERM]
            deferral.check()
            assert told == [TERM]
            signal.raise_signal(INT)
        assert told == [TERM, INT]
        signal.raise_signal(INT)
        assert told == [TERM, INT, INT]


def test_a_signal_that_is_held_back_makes_way_for_an_error():
    told = []
    with interrupts.handled(lambda number, _: told.append(number)):
        with pytest.raises(ZeroDivisionError), Deferral():
            signal.raise_signal(TERM)
            raise ZeroDivisionError
        assert told == []
        signal.raise_signal(TERM)
        assert told == [TERM]


def test_what_was_swallowed_before_is_answered_at_the_first_check():
    with interrupts.handled(interrupts.raise_interrupt) as record:
        record.number = TERM
        with pytest.raises(Terminated), Deferral() as deferral:
            deferral.check()


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(INT, signal.SIG_IGN)
    try:
        with Deferral():
            assert signal.getsignal(INT) == signal.SIG_IGN
            assert signal.getsignal(TERM) != interrupts.pass_by
    finally:
        signal.signal(INT, before)


def test_a_signal_that_is_ignored_since_it_came_is_not_answered():
    with interrupts.handled(interrupts.raise_interrupt) as record:
        record.number = INT
        before = signal.signal(INT, signal.SIG_IGN)
        try:
            with Deferral() as deferral:
                deferral.check()
        finally:
            signal.signal(INT, before)
