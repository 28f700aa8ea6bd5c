# SPDX-License-Identifier: BSD-3-Clause
"""A plug-in of pytest that tries faults in forks of one process, which has collected the tests of all of them.

A fork exchanges the code of one function and runs that fault's tests until one fails. Nothing is imported anew, so
that a fault takes no longer than its tests.
"""

import importlib
import json
import os
import resource
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from exchange import Exchange
from small_faults import Mutation

PLAN, OUT = Path(os.environ["MUTANTS_PLAN"]), Path(os.environ["MUTANTS_OUT"])
GRACE = 10.0  # [s] of the processor that a fork may take beyond its tests' time
BUSY = 30.0  # times longer than that on the clock
POLL = 0.002  # [s]
_failed: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that fails."""
    if report.failed:
        _failed.append(report.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try every fault of the plan in place of running the tests."""
    plan = json.loads(PLAN.read_text())
    tests = _by_name(session.items)
    rows = []
    for row in plan["faults"]:
        items = [item for name in row["tests"] for item in tests.get(name, [])]
        rows.append(_outcome(row, items, plan["packages"]))
        OUT.write_text(json.dumps(rows))
    return True


def _by_name(items: list[pytest.Item]) -> dict[str, list[pytest.Item]]:
    """Tests by their names, with and without parameters."""
    found: dict[str, list[pytest.Item]] = {}
    for item in items:
        for name in {item.nodeid, item.nodeid.split("[")[0]}:
            found.setdefault(name, []).append(item)
    return found


def _outcome(row: dict[str, Any], items: list[pytest.Item], packages: list[str]) -> str | None:
    """The test that notices a fault, empty if none does; None if it cannot be tried so, or has no end."""
    source = Path(row["file"]).read_text()
    module = importlib.import_module(row["module"])
    fault = Mutation(**row["fault"])
    exchange = Exchange(module, source, fault)
    if not exchange or not items:
        return None
    name = _in_fork(
        lambda: _first_to_fail(items, row["seconds"], exchange, packages), row["seconds"]
    )
    if name and _in_fork(lambda: _first_to_fail(_of(name, items), row["seconds"]), row["seconds"]):
        return None  # it fails without the fault, too
    return name


def _of(name: str, items: list[pytest.Item]) -> list[pytest.Item]:
    return [item for item in items if item.nodeid == name]


def _first_to_fail(
    items: list[pytest.Item],
    seconds: float,
    exchange: Exchange | None = None,
    packages: list[str] | None = None,
) -> str:
    """Name of the first test that fails, within some time of the processor; the first always runs."""
    if exchange is not None:
        exchange.apply(packages or [])
    began = time.process_time()
    _failed.clear()
    for item, following in zip(items, [*items[1:], items[-1]], strict=True):  # fixtures stay
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if _failed:
            return _failed[0]
        if time.process_time() - began > seconds:
            break
    return ""


def _in_fork(work: Callable[[], str], seconds: float) -> str | None:
    """What some work comes to in a process of its own; None if that ends otherwise."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _be_child(work, writing, seconds)
    os.close(writing)
    until, status = time.monotonic() + BUSY * (seconds + GRACE), None
    while status is None:
        ended, code = os.waitpid(child, os.WNOHANG)
        if ended:
            status = code
        elif time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
        else:
            time.sleep(POLL)
    with suppress(ProcessLookupError):  # programs that a test has started, if any
        os.killpg(child, signal.SIGKILL)
    said = b""
    if status == 0:
        os.set_blocking(reading, False)  # such a program may hold the other end still
        said = os.read(reading, 1 << 16)
    os.close(reading)
    return said.decode() if status == 0 else None


def _be_child(work: Callable[[], str], writing: int, seconds: float) -> None:
    code = 1
    try:
        os.setsid()
        limit = int(seconds + GRACE)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.write(writing, work().encode())
        code = 0
    finally:  # whatever was raised: the parent knows by the code
        os._exit(code)
