# SPDX-License-Identifier: BSD-3-Clause
"""A fault put into modules that are imported already: the code of a function, or a constant, is exchanged in place.

Kernels cannot be exchanged, for compiled code holds them; nor can class-level numbers, nor functions within one that
has run already.
"""

import ast
import gc
import sys
from collections import defaultdict
from functools import cache
from inspect import getattr_static
from types import CodeType, FunctionType, ModuleType
from typing import Any

from small_faults import Mutation


class Exchange:
    """What a fault exchanges in a module that is imported.

    Attributes:
        codes: functions, and the code that each gets.
        constants: names of the module, what each stands for, and what it gets.
    """

    def __init__(self, module: ModuleType, source: str, fault: Mutation) -> None:
        faulty = ast.parse(fault.applied(source))
        self.codes = _changed_codes(module, source, faulty)
        self.constants = [] if self.codes else _changed_constants(module, fault.function, faulty)

    def __bool__(self) -> bool:
        return bool(self.codes or self.constants)

    def apply(self, packages: list[str]) -> None:
        """Exchange; modules that have imported a constant get the new one, too.

        Args:
            packages: whose modules may have imported it; modules of tests stand beside them.
        """
        for function, code in self.codes:
            function.__code__ = code
        importing = [each for each in list(sys.modules.values()) if _may_import(each, packages)]
        for name, old, new in self.constants:
            for module in importing:
                if vars(module).get(name) is old:
                    setattr(module, name, new)


def _may_import(module: ModuleType | None, packages: list[str]) -> bool:
    name = getattr(module, "__name__", "").partition(".")[0]
    return name in packages or name.startswith(("test_", "conftest"))


def _changed_codes(
    module: ModuleType, source: str, faulty: ast.Module
) -> list[tuple[FunctionType, CodeType]]:
    """The functions of a module whose code a fault changes; none if one of them cannot be exchanged."""
    file = str(module.__file__)
    before, after = (_codes(compile(each, file, "exec")) for each in (source, faulty))
    changed = {
        name
        for name, codes in after.items()
        if [_content(code) for code in codes] != [_content(code) for code in before.get(name, [])]
    }
    pairs = []
    for function in _functions(file):
        name = function.__code__.co_qualname
        if name not in changed:
            continue
        lines = [code.co_firstlineno for code in before[name]]
        code = after[name][lines.index(function.__code__.co_firstlineno)]
        if function in _compiled() or code.co_freevars != function.__code__.co_freevars:
            return []
        pairs.append((function, code))
    return pairs


def _functions(file: str) -> list[FunctionType]:
    return [
        each
        for each in _objects()
        if type(each) is FunctionType and each.__code__.co_filename == file
    ]


@cache
def _compiled() -> set[FunctionType]:
    """The functions of which compiled code was made, by all that numba has so far."""
    of_numba = [each for each in _objects() if str(type(each).__module__).startswith("numba.")]
    names = "py_func", "_pyfunc"
    functions = [getattr_static(each, name, None) for each in of_numba for name in names]
    return {each for each in functions if type(each) is FunctionType}


def _objects() -> list[Any]:
    gc.unfreeze()  # what is frozen is not among the objects that are listed
    return gc.get_objects()


def _codes(code: CodeType) -> dict[str, list[CodeType]]:
    """All codes within one, by their names; properties have several of one name."""
    found: dict[str, list[CodeType]] = defaultdict(list)
    ahead = [code]
    while ahead:
        for each in ahead.pop().co_consts:
            if isinstance(each, CodeType):
                found[each.co_qualname].append(each)
                ahead.append(each)
    return found


def _content(code: CodeType) -> tuple[Any, ...]:
    """What a code does, wherever its lines are."""
    constants = [
        _content(each) if isinstance(each, CodeType) else (type(each), repr(each))
        for each in code.co_consts
    ]
    return code.co_code, constants, code.co_names


def _changed_constants(
    module: ModuleType, name: str, faulty: ast.Module
) -> list[tuple[str, Any, Any]]:
    """A module's constants of one statement, as they are and as a fault makes them."""
    if name not in vars(module) or isinstance(vars(module)[name], type | FunctionType):
        return []
    scope = dict(vars(module))
    for node in faulty.body:
        names = _targets(node)
        if name in names:
            try:
                exec(compile(ast.Module([node], []), str(module.__file__), "exec"), scope)
            except Exception:  # the module could not be imported: nothing to exchange
                return []
            return [(each, vars(module)[each], scope[each]) for each in names]
    return []


def _targets(node: ast.stmt) -> list[str]:
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    flat = [e for t in targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return [each.id for each in flat if isinstance(each, ast.Name)]
