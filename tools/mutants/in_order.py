# SPDX-License-Identifier: BSD-3-Clause
"""A plug-in of pytest that runs tests in the order in which they are named, and no more once they have used their time.

The time is that of the processor, so that a machine with other jobs runs the same tests. What a test takes that
compiles kernels counts, too.
"""

import os
from pathlib import Path
from typing import Any

import pytest

SECONDS = float(os.environ["MUTANTS_SECONDS"])
RUNNING = Path(os.environ["MUTANTS_RUNNING"])  # file that has the name of the test that runs
_run = 0


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort after all others have sorted."""
    turns = {name: turn for turn, name in enumerate(config.args)}
    items.sort(
        key=lambda item: min(
            turns.get(n, len(turns)) for n in (item.nodeid, item.nodeid.split("[")[0])
        )
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Pass over a test once the time is used; the first always runs."""
    global _run
    if _run and _used() > SECONDS:
        return True
    _run += 1
    RUNNING.write_text(item.nodeid)
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:  # noqa: ANN401 - pytest keeps its type for itself
    """Say how many tests were run."""
    terminalreporter.write_line(f"run: {_run}")


def _used() -> float:
    """Time of the processor since the tests began, with that of the programs they have started [s]."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system - _BEGAN


_BEGAN = sum(os.times()[:4])
