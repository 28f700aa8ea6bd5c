# SPDX-License-Identifier: BSD-3-Clause
"""Options of the benchmarks on the command line, and the figures that they measure."""

import json
import math
import sys
import time
from pathlib import Path

import pytest

from iap_bringup.terminal.progress import left_text

FIGURES = pytest.StashKey[dict]()


def pytest_addoption(parser):
    parser.addoption("--device", default="cpu", help="that flies worlds: cpu or cuda")
    parser.addoption("--figures", type=Path, help="file for the figures by name, as JSON")


def pytest_configure(config):
    """Begin with no figures."""
    config.stash[FIGURES] = {}


def pytest_sessionfinish(session):
    """Write what was measured, also where a benchmark failed."""
    if path := session.config.getoption("--figures"):
        path.write_text(json.dumps(session.config.stash[FIGURES]), encoding="utf-8")


@pytest.fixture
def figure(request):
    """The function that prints a figure and keeps it for ``--json``.

    Its arguments are the name, which is unique and has no full stop, the value in its unit, that unit, the digits
    behind the point, and the bar that the value is held against, if there is one.
    """
    figures = request.config.stash[FIGURES]

    def show(name, value, unit, digits=0, bar=None):
        assert name not in figures, f"two figures are called '{name}'"
        assert "." not in name, f"a path in a page's template ends at a full stop: '{name}'"
        against = "" if bar is None else f" (bar: {bar:,g})"
        print(f"\n{name}: {value:,.{digits}f} {unit}".rstrip() + against)
        figures[name] = {"value": float(value) if math.isfinite(value) else None, "unit": unit}
        if bar is not None:
            figures[name]["bar"] = float(bar)

    return show


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
