# SPDX-License-Identifier: BSD-3-Clause
"""What a terminal shows, as text."""

import io

from rich.console import Console


def text_of(show_it, *content, width=120):
    """What is shown on a terminal of a width."""
    console = Console(file=io.StringIO(), width=width, markup=False)
    show_it(console, *content)
    return console.file.getvalue()
