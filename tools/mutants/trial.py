# SPDX-License-Identifier: BSD-3-Clause
"""One package in a copy, where a fault stands in one module and tests are run; the checkout stays as it is.

The copy is links but for that module. It stands first in PYTHONPATH, so that programs that tests start import it, too.
Kernels that numba has cached are taken over into a cache of the copy's own. The cached kernels of all modules that use
the faulty function are left out, and compiled anew.
"""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from covering import Sources, Test, TestMap
from mutations import Mutation

OPTIONS = ["-q", "--no-header", "--tb=no", "-rfE", "-p", "no:cacheprovider"]
START = 40.0  # [s] of a process of tests that imports all, on a busy machine
COMPILING = 240.0  # [s] that may go into kernels
NO_TESTS = 4  # exit code of pytest that finds a named test not
SLOWER = 4.0  # times the seconds that were noted


@dataclass(frozen=True)
class Outcome:
    """Outcome of one mutant: killed, survived, "not run" (by no test that is known), or undecided (out of time)."""

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

    def try_out(self, file: Path, mutation: Mutation, seconds: float, nice: int) -> Outcome:
        """Run tests on the package with one fault until one fails.

        Args:
            file: the module, in the checkout.
            mutation: its fault.
            seconds: of tests, as they were noted; nearest first.
            nice: priority that the tests lose.
        """
        began = time.monotonic()
        tests = self._chosen(file, mutation, seconds)
        if not tests:
            return Outcome("not run", 0.0)
        name, failed = self._with_fault(file, mutation, tests, nice)
        return Outcome(name, time.monotonic() - began, failed, len(tests))

    def unsound(self, tests: set[str], nice: int) -> set[str]:
        """Those of some tests that fail without a fault, too."""
        if not tests:
            return set()
        each = [Test(name, 20.0, frozenset()) for name in sorted(tests)]
        code, said = self._run(each, self._numba / "sound", nice, COMPILING, first=False)
        return tests.intersection(_failed(said)) if code in (0, 1) else tests

    def _chosen(self, file: Path, mutation: Mutation, seconds: float) -> list[Test]:
        place = self._place(file, mutation)
        chosen, left = [], seconds
        for test in self._tests.of(self._sources.users(place)):
            if test.seconds < left or not chosen:  # the nearest one runs however long it took
                left -= test.seconds
                chosen.append(test)
        return chosen

    def _place(self, file: Path, mutation: Mutation) -> str:
        return f"{file.relative_to(self._root)}:{mutation.function}"

    def _with_fault(
        self, file: Path, mutation: Mutation, tests: list[Test], nice: int
    ) -> tuple[str, str]:
        link = self._folder / file.relative_to(self._root / self._package)
        users = self._sources.users(self._place(file, mutation))
        kernels = self._sources.kernels(users)
        if self._sources.has_kernels(str(file.relative_to(self._root))):
            kernels |= {str(file.relative_to(self._root))}
        numba = self._numba / "faulty" if kernels else self._numba / "sound"
        if kernels:
            self._without(kernels, numba)
        link.unlink()
        link.write_text(mutation.applied(file.read_text()))
        try:
            return _outcome(*self._run(tests, numba, nice, COMPILING if kernels else 0.0))
        finally:
            link.unlink()
            link.symlink_to(file)
            for stale in link.parent.glob(f"__pycache__/{link.stem}.*.pyc"):
                stale.unlink()

    def _run(
        self, tests: list[Test], numba: Path, nice: int, compiling: float, *, first: bool = True
    ) -> tuple[int | None, str]:
        """Exit code, None out of time, and words of pytest, which ends with the first test that fails, or goes on."""
        limit = START + compiling + SLOWER * sum(test.seconds for test in tests)
        path = f"{self._folder}:{os.environ.get('PYTHONPATH', '')}"
        options = [*OPTIONS, *(["-x"] if first else [])]
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "pytest", *options, *(test.name for test in tests)],
            cwd=self._root, env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(numba)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=lambda: os.nice(nice),
        )  # fmt: skip
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
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

    def _without(self, kernels: set[str], numba: Path) -> None:
        """Make a cache without the kernels of these modules."""
        shutil.rmtree(numba, ignore_errors=True)
        shutil.copytree(self._numba / "sound", numba, copy_function=_link)
        for module in map(Path, kernels):
            for stale in numba.glob(f"{module.parent.name}_*/{module.stem}.*"):
                stale.unlink()


def _outcome(code: int | None, said: str) -> tuple[str, str]:
    """Meaning of pytest's exit code and output, and the test that has noticed.

    Who is out of time may be in a loop without an end, or on a busy machine: that tells nothing.
    """
    if code is None:
        return "undecided", ""
    if code == NO_TESTS and "loading conftest" not in said:
        return "undecided", ""  # tests have other names than when they were noted
    return ("killed" if code else "survived"), next(iter(_failed(said)), "")


def _failed(said: str) -> list[str]:
    return re.findall(r"^(?:FAILED|ERROR) (tests/.*?)(?: - .*)?$", said, re.MULTILINE)


def _link(source: str, target: str) -> None:
    os.link(source, target)  # numba replaces files, it never writes into one


def _numba_name(folder: Path) -> str:
    return f"{folder.name}_{hashlib.sha1(str(folder).encode()).hexdigest()}"
