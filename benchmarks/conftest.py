# SPDX-License-Identifier: BSD-3-Clause
"""Options of the benchmarks on the command line."""

import sys
import time

import pytest

from iap_bringup.terminal.progress import left_text


def pytest_addoption(parser):
    parser.addoption("--device", default="cpu", help="that flies worlds: cpu or cuda")


@pytest.fixture(scope="session")
def device(request):
    """The function that flies worlds."""
    return request.config.getoption("--device")


def pytest_runtestloop(session):
    """Note how many benchmarks there are, and when the first one begins."""
    session.config.pluginmanager.register(Progress(len(session.items)))


class Progress:
    """On a terminal, a line above each benchmark: which it is, and the time that is left at the pace so far."""

    def __init__(self, total):
        self.total, self.done, self.began = total, 0, time.monotonic()

    def pytest_runtest_logstart(self, nodeid):
        """Write the line."""
        left = left_text(time.monotonic() - self.began, self.done, self.total) if self.done else ""
        if sys.stderr.isatty():
            name = nodeid.rpartition("::")[2]
            sys.stderr.write(f"{self.done} of {self.total}: {name}  {left}\n")
        self.done += 1


def pytest_collection_modifyitems(config, items):
    """On a GPU, its own benchmarks alone; elsewhere, all others."""
    on_gpu = config.getoption("--device") == "cuda"
    chosen = [item for item in items if ("on_gpu" in item.path.name) == on_gpu]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen
