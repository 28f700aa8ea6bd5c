# SPDX-License-Identifier: BSD-3-Clause
"""A table of runs in the browser, of which one is shown at a time."""

import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from iap_bringup.viewing.run_table import RunTable, Selection, columns_of, label_of
from iap_bringup.viewing.run_viewer import RunViewer
from iap_bringup.viewing.source import RunSource
from iap_bringup.viewing.viser_stage import Server
from iap_description.errors import IapError

MOST_LISTED = 20  # runs
RUN_COLUMNS, VARIED_COLUMNS = ("seed", "outcome"), 3  # of a listed run
POLL = 0.2  # between two looks whether a run was chosen [s]


class TableViewer:
    """Lists runs in a server's pages, sorted and filtered by a metric; a click shows one.

    Args:
        server: of the pages.
        table: of the runs.
        scratch: folder for runs that are flown again.
    """

    def __init__(self, server: Server, table: RunTable, scratch: Path) -> None:
        self._server, self._table, self._scratch = server, table, scratch
        self._columns = columns_of(table.rows)
        self._selection = Selection(self._columns[0], descends=False, column=self._columns[0])
        self._clicked, self._number = threading.Event(), 0
        self._buttons: list[Any] = []
        self._add_table("Click a run to see it.")

    def run(self, stop: threading.Event) -> None:
        """Show what is clicked until an event is set."""
        while not stop.is_set():
            if not self._clicked.wait(POLL):
                continue
            self._clicked.clear()
            try:
                source = self._source(self._number)
            except IapError as error:
                self._show(str(error))
                continue
            self._show(label_of(self._table.rows[self._number], self._columns[:6]))
            RunViewer(self._server, [source]).run(self._clicked)

    def _source(self, number: int) -> RunSource:
        """A run's recording, flown again where there is none.

        Raises:
            IapError: it cannot be read, or flown.
        """
        folder = self._table.recorded(number) or self._scratch / str(number)
        if not folder.exists():
            self._show("This run has no recording: it is flown again by its seed.")
            folder.mkdir(parents=True)
            self._table.fly(number, folder)
        return RunSource.of_folder(folder)

    def _show(self, note: str) -> None:
        """The table alone, with a note."""
        self._server.gui.reset()
        self._server.scene.reset()
        self._add_table(note)

    def _add_table(self, note: str) -> None:
        gui, selection = self._server.gui, self._selection
        gui.add_markdown(note)
        with gui.add_folder("Runs") as self._folder:
            sort = gui.add_dropdown("sort by", self._columns, initial_value=selection.sort)
            descends = gui.add_checkbox("largest first", selection.descends)
            column = gui.add_dropdown("filter", self._columns, initial_value=selection.column)
            least = gui.add_text("at least", _text(selection.least))
            most = gui.add_text("at most", _text(selection.most))
            self._count = gui.add_markdown("")

        def select(_: object) -> None:
            limits = _limit(least.value, -math.inf), _limit(most.value, math.inf)
            self._selection = Selection(sort.value, descends.value, column.value, *limits)
            self._list()

        for each in (sort, descends, column, least, most):
            each.on_update(select)
        self._buttons = []
        self._list()

    def _list(self) -> None:
        """List the runs that are selected."""
        for each in self._buttons:
            each.remove()
        rows, selection = self._table.rows, self._selection
        numbers = selection.rows(rows)
        self._count.content = f"{len(numbers)} of {len(rows)} runs" + (
            f", the first {MOST_LISTED}:" if len(numbers) > MOST_LISTED else ":"
        )
        columns = [key for key in RUN_COLUMNS if key in rows[0]]
        columns += self._columns[:VARIED_COLUMNS]
        columns = list(dict.fromkeys([*columns, selection.sort, selection.column]))
        with self._folder:
            self._buttons = [
                self._server.gui.add_button(label_of(rows[i], columns))
                for i in numbers[:MOST_LISTED]
            ]
        for i, each in zip(numbers, self._buttons, strict=False):
            each.on_click(self._shows(i))

    def _shows(self, number: int) -> Callable[[object], None]:
        def show(_: object) -> None:
            self._number = number
            self._clicked.set()

        return show


def _text(limit: float) -> str:
    return f"{limit:g}" if math.isfinite(limit) else ""


def _limit(text: str, otherwise: float) -> float:
    """A limit that was typed; another one where it is no number."""
    try:
        value = float(text)
    except ValueError:
        return otherwise
    return otherwise if math.isnan(value) else value
