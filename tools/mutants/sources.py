# SPDX-License-Identifier: BSD-3-Clause
"""Functions, classes and constants of packages and tests, and which of them each uses, read from the sources alone.

A use is a name: imported, of the same module, a fixture, a method by its name, a class that a table names as
"module:Class", a function that a call names by two texts, its module and its own. What a decorator is given uses
what is decorated, for that registers it. Compiled kernels, which no tracer sees, are followed as everything else. Who
is called by a library, as validators of records are, is found by its messages: a test that expects one has its words.
"""

import ast
import re
from collections import defaultdict, deque
from collections.abc import Iterator
from pathlib import Path

LEAST_WORDS = 12  # letters of a message that a test expects
MOST_NAMESAKES = 6  # methods of one name that an attribute of this name may mean
APART = {"ros", "launch"}  # folders of tests that start processes over DDS
NAMED = re.compile(r"(iap_\w+(?:\.\w+)+)(?::(\w+))?")  # "module" or "module:Class" in a table


class Sources:
    """Uses of each place; a place is "file:function", "file:Class", "file:Class.method" or "file:CONSTANT"."""

    def __init__(self, root: Path, packages: list[str]) -> None:
        self._uses: dict[str, set[str]] = {}
        self._compiled: set[str] = set()
        self._attributes: dict[str, set[str]] = {}
        self._methods: dict[str, set[str]] = defaultdict(set)
        self._slow: dict[str, bool] = {}  # of tests
        self._texts: dict[str, set[str]] = {}  # in a function
        self._registered: dict[str, set[str]] = defaultdict(
            set
        )  # by decorators, of what they are given
        folders = [root / package / package for package in packages]
        files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
        tests = [
            file
            for file in sorted((root / "tests").rglob("*.py"))
            if not APART & set(file.relative_to(root).parts)
        ]
        names = {file: str(file.relative_to(root)) for file in [*files, *tests]}
        self._modules = {_module_name(Path(name)): name for name in names.values()}
        parsed = {names[file]: ast.parse(file.read_text()) for file in names}
        self._fixtures = {
            name: {n: f"{name}:{n}" for each in module.body for n, _ in _defined(each)}
            for name, module in parsed.items()
            if name.endswith("conftest.py")
        }
        for name, module in parsed.items():
            self._read(name, module)
        self._users = self._by_used()

    def affected(self, place: str) -> set[str]:
        """A place, and what runs it in compiled code: by kernels and constants, to functions that call them."""
        return set(self._reached(self._known(place), through=self._compiled))

    def has_kernels(self, place: str) -> bool:
        """True if a fault there changes compiled code."""
        return not self._compiled.isdisjoint(self.affected(place))

    def tests(self, place: str) -> dict[str, int]:
        """Steps of use from each test ("file::function") to a place, of those that reach it or expect its messages."""
        steps = self._reached(self._known(place))
        steps |= dict.fromkeys(self._expecting(self._known(place)), 1)
        return {
            test: steps[test.replace("::", ":")]
            for test in self._slow
            if test.replace("::", ":") in steps
        }

    def tests_in(self, file: str) -> list[str]:
        """The tests of a file."""
        return [test for test in self._slow if test.startswith(f"{file}::")]

    def is_slow(self, test: str) -> bool:
        """True if a test is marked as slow."""
        return self._slow[test]

    def _expecting(self, place: str) -> list[str]:
        """The tests that have words of a function's messages."""
        texts = self._texts.get(place, set())
        tests = (test.replace("::", ":") for test in self._slow) if texts else ()
        return [
            test
            for test in tests
            if any(a in b or b in a for a in texts for b in self._texts.get(test, ()))
        ]

    def _known(self, place: str) -> str:
        """The place, or what it stands in: a function within another one."""
        while place not in self._uses and "." in place.rpartition(":")[2]:
            place = place.rpartition(".")[0]
        return place

    def _reached(self, place: str, through: set[str] | None = None) -> dict[str, int]:
        """Steps back from a place to all that use it, on the way only through some places and what is no function."""
        steps, ahead = {place: 0}, deque([place])
        while ahead:
            used = ahead.popleft()
            if (
                through is not None
                and used in self._attributes
                and used not in through
                and steps[used]
            ):
                continue
            for user in self._users.get(used, ()):
                if user not in steps:
                    steps[user] = steps[used] + 1
                    ahead.append(user)
        return steps

    def _by_used(self) -> dict[str, set[str]]:
        users: dict[str, set[str]] = defaultdict(set)
        for user, names in self._attributes.items():
            for name in names:
                meant = self._methods.get(name, set())
                if len(meant) <= MOST_NAMESAKES:
                    self._uses[user] |= meant - {user}
        for uses in (self._uses, self._registered):
            for user, names in uses.items():
                for used in names:
                    users[used].add(user)
        return users

    def _read(self, file: str, module: ast.Module) -> None:
        own = [each for node in module.body for each in _defined(node)]
        known = self._of_fixtures(file) | self._imported(module)
        known |= {name: f"{file}:{name}" for name, _ in own}
        is_slow = any(name == "pytestmark" and _is_marked_slow(node) for name, node in own)
        for name, node in own:
            place = f"{file}:{name}"
            for each in _given(node):
                self._registered[known.get(each, "")].add(place)
            if isinstance(node, ast.ClassDef):
                self._read_class(place, node, known)
            else:
                self._add(place, node, known)
            if "/test_" in file and name.startswith("test_"):
                marked = isinstance(node, ast.FunctionDef) and _is_marked_slow(
                    *node.decorator_list
                )
                self._slow[f"{file}::{name}"] = is_slow or marked

    def _read_class(self, place: str, node: ast.ClassDef, known: dict[str, str]) -> None:
        """A class uses its methods, for who has an object of it may call each."""
        rest = [each for each in node.body if not isinstance(each, ast.FunctionDef)]
        self._add(place, ast.Module([*map(ast.Expr, node.bases), *rest], []), known)
        for method in node.body:
            if isinstance(method, ast.FunctionDef):
                self._add(f"{place}.{method.name}", method, known)
                self._uses[place].add(f"{place}.{method.name}")
                if not method.name.startswith("__"):
                    self._methods[method.name].add(f"{place}.{method.name}")

    def _of_fixtures(self, file: str) -> dict[str, str]:
        """The fixtures that a file of tests shares with others."""
        above = [f"{folder}/conftest.py" for folder in reversed(Path(file).parents)]
        return {k: v for each in above for k, v in self._fixtures.get(each, {}).items()}

    def _imported(self, module: ast.Module) -> dict[str, str]:
        """Targets of the names of a module: places of ours, or our modules ("file:")."""
        names = {}
        for node in ast.walk(module):
            if not isinstance(node, ast.ImportFrom) or node.module is None:
                continue
            for alias in node.names:
                name, whole = alias.asname or alias.name, f"{node.module}.{alias.name}"
                if whole in self._modules:
                    names[name] = f"{self._modules[whole]}:"
                elif node.module in self._modules:
                    names[name] = f"{self._modules[node.module]}:{alias.name}"
        return names

    def _add(self, place: str, node: ast.AST, known: dict[str, str]) -> None:
        uses: set[str] = set()
        attributes = set()
        for each in ast.walk(node):
            if isinstance(each, ast.Name | ast.arg):
                uses.add(known.get(each.id if isinstance(each, ast.Name) else each.arg, ""))
            elif isinstance(each, ast.Attribute):
                module = known.get(each.value.id, "") if isinstance(each.value, ast.Name) else ""
                attributes.add(each.attr)
                uses |= {module + each.attr} if module.endswith(":") else set()
            elif isinstance(each, ast.Call):
                uses |= self._called_late(place, each)
            elif isinstance(each, ast.Constant) and isinstance(each.value, str):
                uses |= self._named(each.value)
        self._uses[place] = uses - {place, ""}
        if isinstance(node, ast.FunctionDef):
            self._attributes[place] = attributes
            self._texts[place] = set(_messages(node) if "/test_" not in place else _literals(node))
            if any(_is_compiler(each) for each in node.decorator_list):
                self._compiled.add(place)

    def _named(self, text: str) -> set[str]:
        match = NAMED.fullmatch(text)
        if match is None or match[1] not in self._modules or match[2] is None:
            return set()
        return {f"{self._modules[match[1]]}:{match[2]}"}

    def _called_late(self, place: str, call: ast.Call) -> set[str]:
        """The function that a call names by its module, within a package of the same name, and its own name."""
        match call.args:
            case [ast.Constant(value=str(module)), ast.Constant(value=str(function)), *_]:
                above = [".".join(each.parts[1:]) for each in Path(place).parents]
                names = [f"{folder}.{module}" for folder in above]
                return {f"{self._modules[n]}:{function}" for n in names if n in self._modules}
        return set()


def _given(node: ast.stmt) -> set[str]:
    """Names that decorators of a function or class are given."""
    calls = [each for each in getattr(node, "decorator_list", ()) if isinstance(each, ast.Call)]
    return {arg.id for call in calls for arg in call.args if isinstance(arg, ast.Name)}


def _module_name(file: Path) -> str:
    if file.parts[0] == "tests":
        return file.stem  # support/ stands in the path of tests
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


def _messages(node: ast.FunctionDef) -> Iterator[str]:
    """Literal parts of what a function raises."""
    for each in ast.walk(node):
        if isinstance(each, ast.Raise):
            yield from _literals(each)


def _literals(node: ast.AST) -> Iterator[str]:
    """Texts in a function and its decorators, as the pattern of a regular expression has them, too."""
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            text = each.value.replace("\\", "").strip(" .*^$")
            if len(text) >= LEAST_WORDS:
                yield text


def _is_marked_slow(*nodes: ast.AST) -> bool:
    return any(
        isinstance(each, ast.Attribute) and each.attr == "slow"
        for node in nodes
        for each in ast.walk(node)
    )


def _is_compiler(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in {"njit", "formula", "jit", "vectorize"}
