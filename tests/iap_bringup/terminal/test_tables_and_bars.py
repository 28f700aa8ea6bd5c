# SPDX-License-Identifier: BSD-3-Clause
"""Tables fit a narrow terminal and show three digits; bars tell the time that is left, and nothing on a pipe."""

import io
import time
from types import SimpleNamespace

import pytest
from numba.core import event
from rich.console import Console
from rich.progress import Progress

from iap_bringup.terminal import progress
from iap_bringup.terminal.progress import (
    COMPILING,
    CompilationColumn,
    Compilations,
    CountLine,
    counted,
    is_another,
    left_text,
    time_bar,
    work_bar,
)
from iap_bringup.terminal.tables import show_rows, three_digits

ROW = {"depth_m": 0.60412, "settled_pitch_deg": 11.6, "outcome": "completed", "force_max_n": 5.013}
MANY = {f"quantity_{n}_of_many": 0.1 * n for n in range(12)}


def terminal():
    return Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)


def text_of(console):
    return console.file.getvalue()


def test_a_table_of_many_columns_fits_a_narrow_terminal_and_has_all_of_them():
    console = terminal()
    show_rows(console, "title", {"a flight of some name": {**ROW, **MANY}, "another one": MANY})
    lines = text_of(console).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("a flight of some name" in line for line in lines) > 1
    assert "\N{HORIZONTAL ELLIPSIS}" not in text_of(console)


def test_a_table_ends_with_its_frame_on_a_narrow_terminal():
    drifts = {"order": 1.03, "energy": "5.2e-03", "momentum": "9.2e-04"}
    row = {"position error, mm": "8.102e-05", **drifts, "angular momentum": "7.0e-04"}
    console = terminal()
    show_rows(console, "title", {"closed_form, 1000 Hz": row, "closed_form, 5000 Hz": row})
    lines = text_of(console).splitlines()[1:]
    assert {line[-1] for line in lines} == set("┓┃┩│┘")  # what is too wide is cut without a word


def test_lengths_are_shown_in_millimetres():
    console = terminal()
    show_rows(console, "title", {"peg": ROW})
    assert "604" in text_of(console) and "depth mm" in text_of(console)


def test_what_is_no_number_is_a_word_or_a_dash():
    console = terminal()
    show_rows(console, "title", {"a": {"docked": True, "late": False, "lock_s": None, "why": "-"}})
    row = next(line for line in text_of(console).splitlines() if " a " in line)
    cells = row.split("\N{BOX DRAWINGS LIGHT VERTICAL}")
    assert [each.strip() for each in cells if each.strip()] == ["a", "yes", "no", "-", "-"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.60412, "0.604"),
        (11.0, "11.0"),
        (123.4, "123"),
        (-45.67, "-45.7"),
        (1234.5, "1234"),
        (1.23456e-7, "1.23e-07"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_have_three_digits(value, text):
    assert three_digits(value) == text


def test_the_time_that_is_left_follows_from_the_pace():
    console = terminal()
    with work_bar(console) as report:
        time.sleep(0.5)
        report("1 of 4: the first one")
        time.sleep(0.5)
    assert "the first one" in text_of(console) and "0:00:0" in text_of(console)
    assert " left" in text_of(console)


@pytest.mark.parametrize(
    ("done", "total", "is_other"), [(2.0, 4.0, False), (1.0, 4.0, True), (2.0, 5.0, True)]
)
def test_a_count_that_falls_or_has_another_total_is_of_other_work(done, total, is_other):
    bar = Progress()
    bar.add_task("first", total=None)
    assert not is_another(bar.tasks[0], 3.0, 9.0)
    bar.update(bar.tasks[0].id, completed=2.0, total=4.0)
    assert is_another(bar.tasks[0], done, total) is is_other


def test_pieces_of_work_are_reported_with_their_number_before_they_begin():
    said = []
    for piece in counted(said.append, ["hover", "spiral"], str.title):
        said.append(piece)
    assert said == ["0 of 2: Hover", "hover", "1 of 2: Spiral", "spiral"]


def test_a_line_that_counts_goes_away_and_is_not_written_to_a_pipe():
    assert left_text(30.0, 2.0, 8.0) == "0:01:30 left"
    console, pipe = terminal(), Console(file=io.StringIO(), width=80)
    for each in (console, pipe):
        line = CountLine(each, 4)
        line.show(1, "cases")
        line.end()
    assert "1 of 4 cases  " in text_of(console) and " left" in text_of(console)
    assert text_of(console).endswith("\r\x1b[2K") and text_of(pipe) == ""


NO_KERNEL = {"dispatcher": None}  # what other listeners of this process look at


def test_a_bar_says_while_kernels_are_compiled_and_how_many_there_are():
    compilations = Compilations()
    column = CompilationColumn(compilations)
    event.register(COMPILING, compilations)
    try:
        with event.trigger_event(COMPILING, data=NO_KERNEL):
            with event.trigger_event(COMPILING, data=NO_KERNEL):
                pass
            assert column.render(None).plain == "compiling, once: 1 functions"
    finally:
        event.unregister(COMPILING, compilations)
    assert column.render(None).plain == ""


def test_a_pipe_takes_no_bar():
    console = Console(file=io.StringIO(), width=80)
    with work_bar(console, "drawing") as report, time_bar(console, "what", 3.0) as move:
        report("1 of 2: first")
        move(1.0)
    assert text_of(console) in ("", "what\n")


def test_a_line_above_a_bar_of_time_is_one_line_however_narrow_the_terminal_is():
    console = Console(file=io.StringIO(), width=20)
    with time_bar(console, "a flight of many words and numbers", 3.0) as move:
        move(1.0)
        move(2.0)
    assert text_of(console) == "a flight of many words and numbers\n"


class Clock:
    """A clock that is set by hand [s]."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        """The time."""
        return self.now


def timed_terminal(clock):
    """A terminal whose bars read a clock."""
    return Console(
        file=io.StringIO(), width=120, force_terminal=True, color_system=None, get_time=clock
    )


def last_bar(console):
    """The last line with times."""
    lines = reversed(text_of(console).splitlines())
    return " ".join(next(line for line in lines if "0:0" in line).split())


@pytest.mark.parametrize(
    ("reports", "left"),
    [
        ([(10.0, "1 of 4: a")], "0:00:30 left 1 of 4: a"),
        ([(10.0, "1 of 4: a"), (30.0, "3 of 4: b")], "0:00:10 left 3 of 4: b"),
        ([(90.0, "1 of 4: a"), (100.0, "1 of 2: b"), (110.0, "1 of 2: c")], "0:00:10 left 1 of 2: c"),
        ([(90.0, "3 of 4: a"), (100.0, "1 of 4: b"), (110.0, "1 of 4: c")], "0:00:30 left 1 of 4: c"),
        ([(10.0, "1 of 4: a"), (20.0, "at last")], "0:01:00 left at last"),
    ],
)  # fmt: skip
def test_a_count_of_other_work_has_a_pace_of_its_own(reports, left):
    clock = Clock()
    console = timed_terminal(clock)
    with work_bar(console) as report:
        for seconds, text in reports:
            clock.now = 100.0 + seconds
            report(text)
    assert last_bar(console).endswith(left) and text_of(console).endswith("\x1b[1A\x1b[2K")


@pytest.mark.parametrize(
    ("total", "shown"), [(None, "12.5 s of data 0:00:05"), (50.0, "12.5 of 50.0 s 0:00:05 0:00:15 left")]
)  # fmt: skip
def test_a_bar_of_time_tells_its_end_where_it_has_one(total, shown):
    clock = Clock()
    console = timed_terminal(clock)
    with time_bar(console, "hover", total) as move:
        clock.now = 105.0
        move(12.5)
    assert "hover\n" in text_of(console)
    assert shown in last_bar(console)


def test_a_bar_listens_to_compilations_until_its_end(monkeypatch):
    compilations = Compilations()
    monkeypatch.setattr(progress, "Compilations", lambda: compilations)
    for done in (1, 1):
        with event.trigger_event(COMPILING, data=NO_KERNEL):
            pass
        with work_bar(terminal()):
            if not compilations.done:
                with event.trigger_event(COMPILING, data=NO_KERNEL):
                    pass
        assert compilations.done == done


class Flushed(io.StringIO):
    """A file that keeps what was flushed."""

    def flush(self):
        """Keep what there is."""
        self.flushed = self.getvalue()


def test_a_line_that_counts_takes_the_place_of_the_last_and_fits_the_terminal(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=clock))
    console = Console(file=Flushed(), width=26, force_terminal=True, color_system=None)
    line = CountLine(console, 4)
    line.show(0, "cases")
    clock.now = 130.0
    line.show(1, "cases")
    away = "\r\x1b[2K"
    assert console.file.flushed == f"{away}0 of 4 cases  {away}1 of 4 cases  0:01:30 lef"
