# SPDX-License-Identifier: BSD-3-Clause
"""A plug-in of pytest that writes which functions of the suite each test calls, and how long it takes.

Compiled kernels are not seen: they are found by the names of those who call them.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

ROOT, OUT = os.environ["MUTANTS_ROOT"], os.environ["MUTANTS_OUT"]
_codes: set[CodeType] = set()
_of_fixture: dict[str, set[CodeType]] = {}
_tests: dict[str, dict[str, Any]] = {}


def _note(frame: FrameType, event: str, argument: object) -> None:
    _codes.add(frame.f_code)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    """Keep what a fixture calls, for all tests that share it."""
    outer = set(_codes)
    _codes.clear()
    try:
        return (yield)
    finally:
        _of_fixture[f"{fixturedef.baseid}::{fixturedef.argname}"] = set(_codes)
        _codes.update(outer)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Function) -> Iterator[None]:
    """Follow one test with its fixtures."""
    _codes.clear()
    began = time.perf_counter()
    threading.settrace(_note)
    sys.settrace(_note)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        fixtures = item._fixtureinfo.name2fixturedefs.values()
        names = {f"{each.baseid}::{each.argname}" for several in fixtures for each in several}
        codes = _codes.union(*(_of_fixture.get(name, set()) for name in names))
        called = sorted({_place(code) for code in codes if code.co_filename.startswith(ROOT)})
        _tests.setdefault(item.nodeid, {"passed": True}).update(
            seconds=round(time.perf_counter() - began, 3), functions=called
        )


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note the tests that do not pass: they can notice nothing."""
    if not report.passed:
        _tests.setdefault(report.nodeid, {})["passed"] = False


def pytest_sessionfinish() -> None:
    """Write what was noted."""
    Path(OUT).write_text(json.dumps(_tests))


def _place(code: CodeType) -> str:
    file = os.path.relpath(os.path.realpath(code.co_filename), ROOT)
    return f"{file}:{code.co_qualname.split('.<locals>')[0]}"
