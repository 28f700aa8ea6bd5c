# SPDX-License-Identifier: BSD-3-Clause
"""Bars of what takes time, with the time that is left; they are seen on terminals alone, and go away at the end."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

from numba.core import event
from rich.console import Console
from rich.control import Control
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.segment import ControlType
from rich.text import Text

FLIGHT_TIME = "{task.completed:6.1f} of {task.total:.1f} s"
COUNTED = re.compile(r"(\d+) of (\d+)\b")  # of what is reported, at its begin
COMPILING = "numba:compile"
Piece = TypeVar("Piece")


class Compilations(event.Listener):
    """Counts the functions that numba has compiled in this process.

    Attributes:
        done: functions so far.
        open: functions that are being compiled, one for the other.
    """

    def __init__(self) -> None:
        self.done = self.open = 0

    def on_start(self, event: event.Event) -> None:
        """Note that a function begins."""
        self.open += 1

    def on_end(self, event: event.Event) -> None:
        """Note that a function is done."""
        self.open -= 1
        self.done += 1


class CompilationColumn(ProgressColumn):
    """Number of functions compiled so far; kernels are compiled once and kept."""

    def __init__(self, compilations: Compilations) -> None:
        super().__init__()
        self._compilations = compilations

    def render(self, task: Task) -> Text:
        """The number, or nothing."""
        if not self._compilations.open:
            return Text("")
        return Text(f"compiling, once: {self._compilations.done} functions")


class TimeLeft(ProgressColumn):
    """The time that is left at the mean pace since the begin."""

    def render(self, task: Task) -> Text:
        """The time, once something has been done."""
        if task.total is None or task.completed <= 0 or task.elapsed is None:
            return Text("")
        return Text(left_text(task.elapsed, task.completed, task.total))


def left_text(elapsed: float, done: float, total: float) -> str:
    """The time that is left at the mean pace of `elapsed` seconds in which so much of a total was done."""
    seconds = elapsed * max(0.0, total / done - 1.0)
    return f"{timedelta(seconds=round(seconds))} left"


class CountLine:
    """A line that counts pieces of work, with the time that is left, for work that forks or takes times itself.

    It needs no thread, as the bars do. It is seen on terminals alone, and `end` takes it away.

    Args:
        console: where it stands.
        total: number of pieces.
    """

    def __init__(self, console: Console, total: int) -> None:
        self._console, self._total, self._began = console, total, time.monotonic()

    def show(self, done: int, what: str) -> None:
        """Show how many pieces are done, and what they are or which one begins."""
        if not self._console.is_terminal:
            return
        left = left_text(time.monotonic() - self._began, done, self._total) if done else ""
        text = f"{done} of {self._total} {what}  {left}"[: self._console.width - 1]
        self.end()
        self._console.file.write(text)
        self._console.file.flush()

    def end(self) -> None:
        """Take the line away."""
        if self._console.is_terminal:
            self._console.control(
                Control((ControlType.CARRIAGE_RETURN,), (ControlType.ERASE_IN_LINE, 2))
            )


@contextmanager
def progress_bar(columns: Sequence[ProgressColumn], console: Console) -> Iterator[Progress]:
    """A bar that goes away when it is done, and is seen on terminals alone."""
    compilations = Compilations()
    bar = Progress(
        *columns,
        CompilationColumn(compilations),
        console=console,
        transient=True,
        refresh_per_second=5,
        disable=not console.is_terminal,
    )
    event.register(COMPILING, compilations)
    try:
        with bar:
            yield bar
    finally:
        event.unregister(COMPILING, compilations)


@contextmanager
def time_bar(
    console: Console, what: str, total: float | None = None
) -> Iterator[Callable[[float], None]]:
    """A bar over time [s], whose end may be unknown, below lines in markup; yields the function that moves it.

    The text stays once the time moves: what is refused before has nothing above its one line.
    """
    text = "{task.completed:6.1f} s of data" if total is None else FLIGHT_TIME
    columns = (
        BarColumn(30),
        TextColumn(text),
        TimeElapsedColumn(),
        TimeLeft(),
        TextColumn("{task.description}"),
    )
    with progress_bar(columns, console) as bar:
        task = bar.add_task(what, total=total)

        def move(t: float) -> None:
            if bar.tasks[0].description:
                bar.print(what, soft_wrap=True, markup=True)
                bar.update(task, description="")
            bar.update(task, completed=t)

        yield move


@contextmanager
def work_bar(console: Console, what: str = "") -> Iterator[Callable[[str], None]]:
    """A bar over pieces of work; yields the function that takes what is being done.

    Where a text begins with "N of M", the bar shows how far that is, and the time that is left of these M.
    """
    text = TextColumn("{task.description}", markup=False)
    columns = (BarColumn(30), TimeElapsedColumn(), TimeLeft(), text)
    with progress_bar(columns, console) as bar:
        task = bar.add_task(what, total=None)

        def report(text: str) -> None:
            match = COUNTED.match(text)
            count: dict[str, Any] = {}
            if match is not None:
                count = {"completed": float(match[1]), "total": float(match[2])}
            if count and is_another(bar.tasks[0], **count):
                bar.reset(task, description=text, **count)
            else:
                bar.update(task, description=text, **count)

        yield report


def is_another(task: Task, completed: float, total: float) -> bool:
    """True if a count belongs to other work than a bar has shown, whose pace says nothing about it."""
    return task.total not in (None, total) or completed < task.completed


def counted(
    report: Callable[[str], None], pieces: Sequence[Piece], text: Callable[[Piece], str] = str
) -> Iterator[Piece]:
    """Pieces of work one after the other; each is reported as "N of M: text" before it begins."""
    for number, piece in enumerate(pieces):
        report(f"{number} of {len(pieces)}: {text(piece)}")
        yield piece
