# SPDX-License-Identifier: BSD-3-Clause
"""Tests that may notice a fault of a function, the likeliest first.

The sources tell how many steps of use lie between a test and the function. What tests were seen to call, where that
was noted, tells which of them run it and how long they take.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from sources import Sources

LONGEST_NOTING = 1800.0  # [s] for the tests of one folder
FAR = 9  # steps of use; who is farther is as likely as any other
NAMESAKE = 2  # steps by which a test is nearer that has a word of the function's name
ALIKE = 5  # letters in which two words begin alike that are forms of one
USUAL, SLOW = 0.5, 15.0  # [s] of a test that was not noted, and of one that is marked as slow


@dataclass(frozen=True)
class Test:
    """One test, as pytest names it."""

    name: str
    seconds: float
    functions: frozenset[str] = frozenset()  # "package/package/folder/module.py:Class.method"

    @property
    def file(self) -> str:
        """The test's file, relative to the root."""
        return self.name.split("::")[0]

    @property
    def function(self) -> str:
        """The test without its parameters."""
        return self.name.split("[")[0]


class TestMap:
    """The tests under `root`/tests, with what each was seen to call where the file `store` has that."""

    def __init__(self, root: Path, sources: Sources, store: Path, nice: int = 0) -> None:
        self._root, self._sources, self._store, self._nice = root, sources, store, nice
        noted = json.loads(store.read_text()) if store.exists() else {}
        self._files: dict[str, dict] = {
            file: each for file, each in noted.items() if self._is_as_noted(root / file, each)
        }

    def note(self, folders: list[Path]) -> None:
        """Note what the quick tests in these folders call, where their files are not those of last time."""
        for folder in folders:
            changed = [f for f in sorted(folder.glob("test_*.py")) if self._is_changed(f)]
            if changed:
                sys.stderr.write(
                    f"noting what the tests of {folder.relative_to(self._root)} call\n"
                )
                self._note(changed)
                self._store.write_text(json.dumps(self._files))

    def of(self, place: str) -> list[Test]:
        """Tests that may notice a fault, the likeliest first: near in steps, folder and name, not slow, quick.

        Args:
            place: "module file:Class.method", where the fault is.
        """
        steps = self._sources.tests(place)
        callers = self._sources.affected(place)
        ranked = [(FAR + 3, test) for test in self._beside(place) if test.function not in steps]
        by_file: dict[str, list[str]] = defaultdict(list)
        for name in steps:
            by_file[name.split("::")[0]].append(name)
        for file, names in by_file.items():
            for test in self._noted(file, names):
                runs = not test.functions or bool(test.functions & callers)
                away = min(steps[test.function], FAR) + _apart(place, file) + (0 if runs else FAR)
                away -= NAMESAKE * _is_namesake(place, test.function)
                ranked.append((away + 4 * self._sources.is_slow(test.function), test))
        return [test for _, test in sorted(ranked, key=lambda each: (each[0], each[1].seconds))]

    def _beside(self, place: str) -> list[Test]:
        """The tests on the subject of a module, whatever they reach."""
        folder = self._root / _folder_of_tests(place)
        files = [str(file.relative_to(self._root)) for file in folder.glob("test_*.py")]
        return [test for file in files for test in self._noted(file, self._sources.tests_in(file))]

    def _noted(self, file: str, names: list[str]) -> list[Test]:
        """The tests of these names in a file, with their parameters where it was noted."""
        noted = self._files.get(file, {"tests": {}})["tests"]
        seen = [
            Test(name, each["seconds"], frozenset(each["functions"]))
            for name, each in noted.items()
            if each.get("passed") and each.get("functions") is not None
        ]
        seen = [test for test in seen if test.function in names]
        others = set(names) - {test.function for test in seen}
        return seen + [
            Test(name, SLOW if self._sources.is_slow(name) else USUAL) for name in sorted(others)
        ]

    def _is_changed(self, file: Path) -> bool:
        return self._key(file) not in self._files

    @staticmethod
    def _is_as_noted(file: Path, noted: dict) -> bool:
        """True if a file is still there, with the tests that were noted."""
        return file.exists() and noted.get("digest") == _digest(file)

    def _key(self, file: Path) -> str:
        return str(file.relative_to(self._root))

    def _note(self, files: list[Path]) -> None:
        out = self._store.with_suffix(".part")
        out.unlink(missing_ok=True)
        here = Path(__file__).parent
        environment = {**os.environ, "MUTANTS_ROOT": str(self._root), "MUTANTS_OUT": str(out)}
        environment["PYTHONPATH"] = f"{here}:{environment.get('PYTHONPATH', '')}"
        options = [
            "-q",
            "--no-header",
            "-p",
            "no:cacheprovider",
            "-p",
            "called_functions",
            "-m",
            "not slow",
        ]
        command = [
            sys.executable,
            "-P",
            "-m",
            "pytest",
            *options,
            "--continue-on-collection-errors",
            *map(str, files),
        ]
        subprocess.run(
            command, cwd=self._root, env=environment, stdout=subprocess.DEVNULL, timeout=LONGEST_NOTING,
            preexec_fn=lambda: os.nice(self._nice),
        )  # fmt: skip
        noted = json.loads(out.read_text())
        for file in files:
            key = self._key(file)
            tests = {name: each for name, each in noted.items() if name.split("::")[0] == key}
            if tests:  # otherwise it could not be imported
                self._files[key] = {"digest": _digest(file), "tests": tests}


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _folder_of_tests(place: str) -> str:
    """The folder of the tests on the subject of a module."""
    package, _, *folders = Path(place.split(":")[0]).parent.parts
    return "/".join(["tests", package, *folders])


def _apart(place: str, file: str) -> int:
    """Distance of a file of tests from the subject of a module: in steps of use, by experience."""
    mirror, folder = Path(_folder_of_tests(place)), Path(file).parent
    stem = Path(place.split(":")[0]).stem
    if stem in Path(file).stem and folder in [mirror, *mirror.parents]:
        return 0
    if folder == mirror or (folder in mirror.parents and len(folder.parts) > 2):
        return 1
    return 3 if folder.parts[:2] == mirror.parts[:2] else 5


def _is_namesake(place: str, test: str) -> bool:
    """True if a word of a function's name begins as one of a test's or of its file's does: resist, resistance."""
    names, tests = _words(place.split(".")[-1]), _words(test)
    return any(os.path.commonprefix([a, b])[ALIKE - 1 :] for a in names for b in tests)


def _words(name: str) -> set[str]:
    return set(re.findall("[a-z]+", name.lower())) - {"tests"}
