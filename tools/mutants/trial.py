# SPDX-License-Identifier: BSD-3-Clause
"""One package in a copy, where a fault stands in one module and tests are run; the checkout stays as it is.

The copy is links but for that module. It stands first in PYTHONPATH, so that programs that tests start import it, too.
Kernels that numba has cached are taken over into a cache of the copy's own, where their stamps tell what a fault
compiles anew.
"""

import hashlib
import itertools
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from covering import Test, TestMap
from sources import Sources

OPTIONS = ["-q", "--no-header", "--tb=no", "-rfE", "-p", "no:cacheprovider"]
START = 20.0  # [s] of the processor, of a process of tests that imports all
COMPILING = 120.0  # [s] of it that may go into kernels
ENDLESS = 60.0  # [s] of it, that the last test may take beyond the time of all
BUSY = 30.0  # times longer than that on the clock: a machine with other jobs, or tests that wait for ever
ENDED = "no end of "  # the test that noticed
MOST = 2.0  # times the seconds of tests that are named, for noted ones were slowed down by noting
NO_TESTS = 4  # exit code of pytest that finds a named test not


@dataclass(frozen=True)
class Outcome:
    """Outcome of one mutant: killed, survived, "not run" (by no test that is known), or undecided (tests gone)."""

    name: str
    seconds: float
    test: str = ""  # that noticed
    tests: int = 0  # that were run, at most


class Copy:
    """A copy of one package under `scratch`, with its tests."""

    def __init__(
        self, root: Path, package: str, scratch: Path, tests: TestMap, sources: Sources
    ) -> None:
        self._root, self._package, self._tests, self._sources = root, package, tests, sources
        self._folder, self._numba = scratch / package, scratch / "numba"
        self._running = scratch / f"{package}.running"
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.rmtree(self._numba, ignore_errors=True)
        original = root / package / package
        for file in [
            f for f in original.rglob("*") if f.is_file() and "__pycache__" not in f.parts
        ]:
            link = self._folder / package / file.relative_to(original)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file)
        self._take_kernels(original)

    def try_out(
        self, file: Path, faulty: str, function: str, seconds: float, nice: int
    ) -> Outcome:
        """Run tests on the package with one fault until one fails.

        Args:
            file: the module, in the checkout.
            faulty: its text with the fault.
            function: that has it.
            seconds: of the processor for tests, the likeliest first; compiling has its own.
            nice: priority that the tests lose.
        """
        began = time.monotonic()
        place = f"{file.relative_to(self._root)}:{function}"
        tests = first_within(self._tests.of(place), MOST * seconds)
        if not tests:
            return Outcome("not run", 0.0)
        compiles = self._sources.has_kernels(place)
        outcome = self._with_fault(file, faulty, tests, (seconds, compiles), nice)
        if outcome.test.startswith(ENDED) and not self._ends(
            outcome.test.removeprefix(ENDED), nice
        ):
            outcome = replace(outcome, name="survived", test="")
        return replace(outcome, seconds=time.monotonic() - began)

    def _ends(self, test: str, nice: int) -> bool:
        """Whether a test comes to an end without a fault, in the time of the processor that the last one has."""
        if not test:  # what was imported had none
            return True
        return self._run([Test(test, 0.0)], self._numba / "sound", nice, 0.0)[0] is not None

    def unsound(self, tests: set[str], nice: int) -> set[str]:
        """Those of some tests that fail without a fault, too."""
        if not tests:
            return set()
        each = [Test(name, 20.0) for name in sorted(tests)]
        code, said = self._run(
            each, self._numba / "sound", nice, COMPILING + 20.0 * len(each), first=False
        )
        return tests.intersection(_failed(said)) if code in (0, 1) else tests

    def _with_fault(
        self,
        file: Path,
        faulty: str,
        tests: list[Test],
        time_of: tuple[float, bool],
        nice: int,
    ) -> Outcome:
        link = self._folder / file.relative_to(self._root / self._package)
        seconds, compiles = time_of
        numba = self._numba / "faulty" if compiles else self._numba / "sound"
        if compiles:
            shutil.rmtree(numba, ignore_errors=True)
            shutil.copytree(self._numba / "sound", numba, copy_function=_link)
        link.unlink()
        link.write_text(faulty)
        try:
            code, said = self._run(tests, numba, nice, seconds + (COMPILING if compiles else 0.0))
            if code is None:
                return Outcome("killed", 0.0, f"{ENDED}{self._running.read_text()}", len(tests))
            return _outcome(code, said, len(tests))
        finally:
            link.unlink()
            link.symlink_to(file)
            for stale in link.parent.glob(f"__pycache__/{link.stem}.*.pyc"):
                stale.unlink()

    def _run(
        self, tests: list[Test], numba: Path, nice: int, seconds: float, *, first: bool = True
    ) -> tuple[int | None, str]:
        """Exit code, None if one never ends, and words of pytest, which ends with the first failure, or goes on.

        Whatever takes a minute more of the processor than all tests may is in a loop without an end.
        """
        path = f"{self._folder}:{os.environ.get('PYTHONPATH', '')}:{Path(__file__).parent}"
        options = [*OPTIONS, "-p", "in_order", *(["-x"] if first else [])]
        limit = math.ceil(START + seconds + ENDLESS)
        settings = {
            "PYTHONPATH": path,
            "NUMBA_CACHE_DIR": str(numba),
            "MUTANTS_SECONDS": str(seconds),
            "MUTANTS_RUNNING": str(self._running),
        }
        self._running.write_text("")

        def prepare() -> None:
            os.nice(nice)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "pytest", *options, *(test.name for test in tests)],
            cwd=self._root, env={**os.environ, **settings}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=prepare,
        )  # fmt: skip
        try:
            said, _ = process.communicate(timeout=BUSY * limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, ""
        if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return None, ""
        return process.returncode, said

    def _take_kernels(self, original: Path) -> None:
        """Link the cached kernels into a cache of the copy's, under the names of its folders."""
        sound = self._numba / "sound"
        sound.mkdir(parents=True)
        cached = os.environ.get("NUMBA_CACHE_DIR", "")
        spec = find_spec(self._package)
        if not Path(cached).is_dir() or not cached or spec is None or spec.origin is None:
            return
        shutil.copytree(cached, sound, dirs_exist_ok=True, copy_function=_link)
        imported = Path(spec.origin).parent
        for folder in {file.parent for file in original.rglob("*.py")}:
            at = folder.relative_to(original)
            kept = sound / _numba_name(imported / at)
            if kept.exists():
                kept.rename(sound / _numba_name(self._folder / self._package / at))


def first_within(tests: list[Test], seconds: float) -> list[Test]:
    """The first tests, as many as take these seconds; the first one however long it takes."""
    spent = itertools.accumulate(test.seconds for test in tests)
    return [
        test
        for test, until in zip(tests, spent, strict=True)
        if until < seconds or test is tests[0]
    ]


def _outcome(code: int, said: str, named: int) -> Outcome:
    """Meaning of pytest's exit code and output, and the test that has noticed."""
    failed = next(iter(_failed(said)), "")  # a test, or a file of them that cannot be imported
    if code == NO_TESTS and not failed and "loading conftest" not in said:
        return Outcome("undecided", 0.0)  # tests have other names than when they were noted
    run = re.findall(r"^run: (\d+)$", said, re.MULTILINE)
    return Outcome("killed" if code else "survived", 0.0, failed, int(run[-1]) if run else named)


def _failed(said: str) -> list[str]:
    return re.findall(r"^(?:FAILED|ERROR) (tests/.*?)(?: - .*)?$", said, re.MULTILINE)


def _link(source: str, target: str) -> None:
    os.link(source, target)  # numba replaces files, it never writes into one


def _numba_name(folder: Path) -> str:
    return f"{folder.name}_{hashlib.sha1(str(folder).encode()).hexdigest()}"
