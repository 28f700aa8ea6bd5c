# SPDX-License-Identifier: BSD-3-Clause
"""Words of users on the terminal: brackets in them are letters."""

import io
import re
from pathlib import Path

from rich.console import Console

import iap_bringup
from iap_bringup.terminal.console import headline, make_console
from iap_bringup.terminal.progress import time_bar, work_bar
from iap_bringup.terminal.tables import show_rows

WORD = "a[/b] [red]\\[x]"


def _shown(show) -> str:
    console = make_console()
    console.file, console.width = io.StringIO(), 100
    show(console)
    return console.file.getvalue()


def test_words_with_brackets_are_shown_as_they_are():
    assert _shown(lambda console: console.print(WORD)) == f"{WORD}\n"
    assert WORD in _shown(lambda console: show_rows(console, WORD, {WORD: {"a": WORD}}))
    first = _shown(lambda console: console.print(headline(WORD, WORD), markup=True))
    assert first == f"{WORD}: {WORD}\n"


def test_bars_show_words_with_brackets_as_they_are():
    console = Console(file=io.StringIO(), width=200, force_terminal=True, markup=False)
    with time_bar(console, headline(WORD, WORD), 1.0) as show:
        show(0.5)
    with work_bar(console, WORD) as report:
        report(f"1 of 2 {WORD}")
    letters = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", console.file.getvalue())
    assert f"{WORD}: {WORD}" in letters
    assert f"1 of 2 {WORD}" in letters


def test_all_consoles_are_such():
    made = {
        path.name
        for path in Path(iap_bringup.__file__).parent.rglob("*.py")
        if re.search(r"(?<![A-Za-z_])Console\(", path.read_text(encoding="utf-8"))
    }
    assert made == {"console.py"}
