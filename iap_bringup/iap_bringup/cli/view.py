# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap view``."""

from __future__ import annotations

import argparse
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.progress import counted, work_bar

if TYPE_CHECKING:
    from iap_bringup.viewing.run_table import RunTable
    from iap_bringup.viewing.viser_stage import Server


def serve(options: argparse.Namespace, title: str, console: Console) -> Server:
    """A server as options say, whose address is printed and opened in a browser.

    Raises:
        BadInput: no port is free, or there is no such address.
    """
    from iap_bringup.viewing.viser_stage import open_browser, open_server

    server = open_server(options.host, options.port, title)
    port = server.get_port()
    if options.port not in (0, port):
        console.print(f"port {options.port} is in use: {port} in its place")
    host = f"[{options.host}]" if ":" in options.host else options.host
    address = f"http://{host}:{port}"
    console.print(f"{title}: {address} (Ctrl-C ends)", soft_wrap=True)
    if not options.no_browser and not open_browser(address):
        console.print("no browser found: open the address by hand")
    return server


def view(options: argparse.Namespace) -> int:
    """Show runs, or a table of them, until interrupted."""
    from iap_bringup.cli.options import check_exists
    from iap_bringup.viewing.run_table import table_of

    check_exists(*options.folders)
    table = table_of(options.folders[0]) if len(options.folders) == 1 else None
    return _view_runs(options) if table is None else _view_table(options, table)


def _view_runs(options: argparse.Namespace) -> int:
    from iap_bringup.viewing.run_viewer import RunViewer
    from iap_bringup.viewing.source import RunSource

    with work_bar(make_console(stderr=True)) as say:
        sources = [RunSource.of_folder(folder) for folder in counted(say, options.folders)]
    server = serve(options, " and ".join(each.title for each in sources), make_console())
    try:
        RunViewer(server, sources, options.beside).run(threading.Event())
    finally:
        server.stop()
    return 0


def _view_table(options: argparse.Namespace, table: RunTable) -> int:
    from iap_bringup.viewing.table_viewer import TableViewer

    server = serve(options, table.title, make_console())
    try:
        with tempfile.TemporaryDirectory() as scratch:
            TableViewer(server, table, Path(scratch)).run(threading.Event())
    finally:
        server.stop()
    return 0
