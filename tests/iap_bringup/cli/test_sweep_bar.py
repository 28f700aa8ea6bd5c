# SPDX-License-Identifier: BSD-3-Clause
"""The bar over a sweep's runs."""

import pytest
from rich.progress import Progress

from iap_bringup.cli.sweep import Pace


@pytest.mark.parametrize(
    ("there", "completed", "now", "text"),
    [
        (0, 0, 30.0, ""),
        (30, 30, 1.0, ""),
        (0, 20, 10.0, "2 runs/s, 0:00:40 left"),
        (0, 20, 15.0, "2 runs/s, 0:00:35 left"),
        (80, 85, 10.0, "0.5 runs/s, 0:00:30 left"),
    ],
)
def test_what_was_there_already_does_not_count_for_the_pace(there, completed, now, text):
    with Progress(get_time=lambda: clock) as bar:
        clock = 0.0
        task = bar.add_task("", total=100, there=there, seconds=10.0, completed=completed)
        clock = now
        assert Pace().render(bar.tasks[task]).plain == text
