# SPDX-License-Identifier: BSD-3-Clause
"""Pages that show a flight while a command flies it."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

from iap_bringup.cli.arguments.options import ALONE
from iap_bringup.cli.view import serve

if TYPE_CHECKING:
    from iap_bringup.viewing.live_flight import LiveFlight
    from iap_bringup.viewing.live_viewer import LiveViewer


def may_control(options: argparse.Namespace, console: Console) -> bool:
    """True if pages may do more than look on, which is said where they may not."""
    may: bool = options.host == ALONE or options.allow_control
    if not may:
        console.print(f"pages at {options.host} only look on; --allow-control lets them control")
    return may


@contextmanager
def live_pages(
    options: argparse.Namespace, live: "LiveFlight", console: Console
) -> Iterator["LiveViewer"]:
    """Serve pages of a flight within this context.

    Raises:
        BadInput: no port is free, or there is no such address.
    """
    from iap_bringup.viewing.live_viewer import LiveViewer

    server = serve(options, live.title, console)
    with LiveViewer(server, live, may_control=may_control(options, console)) as viewer:
        yield viewer
