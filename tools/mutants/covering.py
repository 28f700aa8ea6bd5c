# SPDX-License-Identifier: BSD-3-Clause
"""Which tests run a function: noted once for each test file, and anew when the file changes."""

import ast
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

LONGEST_NOTING = 1800.0  # [s] for the tests of one folder


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


class TestMap:
    """The tests under `root`/tests and the functions that each calls, kept in the file `store`."""

    def __init__(self, root: Path, store: Path, nice: int = 0) -> None:
        self._root, self._store, self._nice = root, store, nice
        self._files: dict[str, dict] = json.loads(store.read_text()) if store.exists() else {}

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

    def of(self, places: set[str], near: Path) -> list[Test]:
        """Tests that run one of these functions, then the others of their files; nearest and quickest first.

        Args:
            places: "module file:Class.method", as the tests' functions.
            near: the folder of tests of the same subject.
        """
        tests = [test for file in self._files for test in self._tests(file)]
        covering = [test for test in tests if places & test.functions]
        files = {test.file for test in covering}
        others = [test for test in tests if test.file in files and not places & test.functions]

        def order(test: Test) -> tuple[int, float]:
            at = (self._root / test.file).parent
            return (0 if at == near else 1 if at.is_relative_to(near.parent) else 2), test.seconds

        return [*sorted(covering, key=order), *sorted(others, key=order)]

    def _tests(self, file: str) -> list[Test]:
        noted = self._files[file]["tests"]
        return [
            Test(name, each["seconds"], frozenset(each["functions"]))
            for name, each in noted.items()
            if each.get("passed") and each.get("functions") is not None
        ]

    def _is_changed(self, file: Path) -> bool:
        return self._files.get(self._key(file), {}).get("digest") != _digest(file)

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
    """The functions and constants of all packages, and which names each mentions."""

    def __init__(self, root: Path, packages: list[str]) -> None:
        self._mentions: dict[str, set[str]] = {}
        self._compiled: set[str] = set()
        self._constants: set[str] = set()
        for package in packages:
            for file in sorted((root / package / package).rglob("*.py")):
                self._read(str(file.relative_to(root)), ast.parse(file.read_text()))

    def has_kernels(self, file: str) -> bool:
        """Whether a module has compiled functions."""
        return any(place.startswith(f"{file}:") for place in self._compiled)

    def kernels(self, places: set[str]) -> set[str]:
        """The modules of those places that are compiled."""
        return {place.split(":")[0] for place in places & self._compiled}

    def users(self, place: str) -> set[str]:
        """The place itself and what runs it, as far as no test is seen to call that: through kernels and constants.

        A method of a class counts for what stands in the class's body.
        """
        users, new = {place}, {place}
        if place in self._mentions and place not in self._compiled | self._constants:
            return users
        users |= {each for each in self._mentions if each.startswith(f"{place}.")}
        while new:
            names = {each.split(":")[1].split(".")[-1] for each in new}
            more = {
                each for each, mentioned in self._mentions.items() if names & mentioned
            } - users
            users |= more
            new = more & (self._compiled | self._constants)
        return users

    def _read(self, file: str, module: ast.Module) -> None:
        for node in module.body:
            if isinstance(node, ast.FunctionDef):
                self._add(f"{file}:{node.name}", node)
            elif isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef):
                        self._add(f"{file}:{node.name}.{method.name}", method)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    place = f"{file}:{_identifier(target)}"
                    self._constants.add(place)
                    self._mentions[place] = {
                        _identifier(each) for each in ast.walk(node) if each is not target
                    }

    def _add(self, place: str, node: ast.FunctionDef) -> None:
        self._mentions[place] = {_identifier(each) for each in ast.walk(node)} - {""}
        if any(_is_compiler(each) for each in node.decorator_list):
            self._compiled.add(place)


def _identifier(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_compiler(node: ast.expr) -> bool:
    return _identifier(node.func if isinstance(node, ast.Call) else node) in {
        "njit",
        "formula",
        "jit",
        "vectorize",
    }
