# SPDX-License-Identifier: BSD-3-Clause
"""Tests that run a function, noted once for each test file, and anew when the file changes."""

import ast
import hashlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

LONGEST_NOTING = 1800.0  # [s] for the tests of one folder
FAR = 99  # steps of use, of a test that does not run what is meant


@dataclass(frozen=True)
class Test:
    """One test, as pytest names it."""

    name: str
    seconds: float
    functions: frozenset[str]  # "package/package/folder/module.py:Class.method"

    @property
    def file(self) -> str:
        """The test's file, relative to the root."""
        return self.name.split("::")[0]


def _folder_of_tests(place: str) -> str:
    """The folder of the tests on the subject of a module."""
    package, _, *folders = Path(place.split(":")[0]).parent.parts
    return "/".join(["tests", package, *folders])


class TestMap:
    """The tests under `root`/tests and the functions that each calls, kept in the file `store`."""

    def __init__(self, root: Path, store: Path, nice: int = 0) -> None:
        self._root, self._store, self._nice = root, store, nice
        noted = json.loads(store.read_text()) if store.exists() else {}
        self._files: dict[str, dict] = {
            file: each for file, each in noted.items() if self._is_as_noted(root / file, each)
        }

    def update(self, folders: list[Path]) -> None:
        """Note what the quick tests in these folders call, where their files are not those of last time."""
        for folder in folders:
            changed = [f for f in sorted(folder.glob("test_*.py")) if self._is_changed(f)]
            if changed:
                sys.stderr.write(
                    f"noting what the tests of {folder.relative_to(self._root)} call\n"
                )
                self._note(changed)
                self._store.write_text(json.dumps(self._files))

    def of(self, places: dict[str, int]) -> list[Test]:
        """Tests that run one of these functions, then the others of their files; nearest and quickest first.

        Args:
            places: "module file:Class.method", as the tests' functions, and how far each is from what is meant.
        """
        near = {_folder_of_tests(place) for place, steps in places.items() if steps < 2}
        tests = [test for file in self._files for test in self._tests(file)]
        away = {
            test.name: min((places[f] for f in test.functions & places.keys()), default=FAR)
            for test in tests
        }
        files = {test.file for test in tests if away[test.name] < FAR}

        def order(test: Test) -> tuple[bool, int, int, float]:
            at, steps = str(Path(test.file).parent), away[test.name]
            folder = (
                0 if at in near else 1 if any(each.split("/")[1] in at for each in near) else 2
            )
            return steps == FAR, folder, steps, test.seconds

        return sorted((test for test in tests if test.file in files), key=order)

    def _tests(self, file: str) -> list[Test]:
        noted = self._files[file]["tests"]
        return [
            Test(name, each["seconds"], frozenset(each["functions"]))
            for name, each in noted.items()
            if each.get("passed") and each.get("functions") is not None
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


class Sources:
    """The functions, classes and constants of all packages, and which of them each uses."""

    def __init__(self, root: Path, packages: list[str]) -> None:
        self._uses: dict[str, set[str]] = {}
        self._compiled: set[str] = set()
        self._constants: set[str] = set()
        files = [
            f for package in packages for f in sorted((root / package / package).rglob("*.py"))
        ]
        self._files = {_module_name(f.relative_to(root)): str(f.relative_to(root)) for f in files}
        for file in files:
            self._read(str(file.relative_to(root)), ast.parse(file.read_text()))

    def has_kernels(self, file: str) -> bool:
        """True if a module has compiled functions."""
        return any(place.startswith(f"{file}:") for place in self._compiled)

    def kernels(self, places: Iterable[str]) -> set[str]:
        """The modules of those places that are compiled."""
        return {place.split(":")[0] for place in self._compiled.intersection(places)}

    def users(self, place: str) -> dict[str, int]:
        """The place itself and what runs it, as far as no test is seen to call that: through kernels and constants.

        Returns:
            How many steps of use each is away. Of what stands in the body of a class the methods are none away.
        """
        while place not in self._uses and "." in place.rpartition(":")[2]:  # within a function
            place = place.rpartition(".")[0]
        users = {place: 0}
        if place in self._uses and place not in self._compiled | self._constants:
            return users
        users |= {each: 0 for each in self._uses if each.startswith(f"{place}.")}
        new = {place}
        for step in itertools.count(1):
            more = {each for each, used in self._uses.items() if new & used} - users.keys()
            users |= dict.fromkeys(more, step)
            new = more & (self._compiled | self._constants)
            if not new:
                return users
        raise AssertionError

    def _read(self, file: str, module: ast.Module) -> None:
        known = self._imported(module)
        own = [each for node in module.body for each in _defined(node)]
        known |= {name: f"{file}:{name}" for name, _ in own}
        for name, node in own:
            if not isinstance(node, ast.ClassDef):
                self._add(f"{file}:{name}", node, known)
                continue
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    self._add(f"{file}:{name}.{method.name}", method, known)

    def _imported(self, module: ast.Module) -> dict[str, str]:
        """Targets of the names of a module: places of ours, or our modules ("file:")."""
        names = {}
        for node in ast.walk(module):
            if not isinstance(node, ast.ImportFrom) or node.module is None:
                continue
            for alias in node.names:
                name, whole = alias.asname or alias.name, f"{node.module}.{alias.name}"
                if whole in self._files:
                    names[name] = f"{self._files[whole]}:"
                elif node.module in self._files:
                    names[name] = f"{self._files[node.module]}:{alias.name}"
        return names

    def _add(self, place: str, node: ast.stmt, known: dict[str, str]) -> None:
        uses = {
            known[each.id]
            for each in ast.walk(node)
            if isinstance(each, ast.Name) and each.id in known
        }
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
                module = known.get(each.value.id, "")
                uses |= {module + each.attr} if module.endswith(":") else set()
        self._uses[place] = uses - {place}
        if not isinstance(node, ast.FunctionDef):
            self._constants.add(place)
        elif any(_is_compiler(each) for each in node.decorator_list):
            self._compiled.add(place)


def _module_name(file: Path) -> str:
    return ".".join(file.with_suffix("").parts[1:]).removesuffix(".__init__")


def _defined(node: ast.stmt) -> list[tuple[str, ast.stmt]]:
    """The names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [(node.name, node)]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        flat = [e for t in targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
        return [(each.id, node) for each in flat if isinstance(each, ast.Name)]
    return []


def _is_compiler(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in {"njit", "formula", "jit", "vectorize"}
