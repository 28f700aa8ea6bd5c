# SPDX-License-Identifier: BSD-3-Clause
"""Rules by which a fault changes no behaviour, so that no test can notice it; docs/how_to/test_the_tests.md lists them.

A rule looks at the source alone and holds for every input, up to rounding. A fault that some test kills is never
looked at. What a rule does not prove counts as not noticed.
"""

import ast
import re

from small_faults import Mutation

TINY = 1e-6  # constants up to it stand against divisions by zero and rounding
BOUNDS = {"min", "max", "minimum", "maximum", "clip", "fmax", "fmin"}
BLOCK = re.compile(r"#.*does not depend on it")
NEUTRAL = {"Add to Sub": 0, "Sub to Add": 0, "Mult to Div": 1, "Div to Mult": 1}


def rule(source: str, fault: Mutation) -> str:
    """Name of the rule by which a fault changes nothing; empty if none says so."""
    for name, holds in (("guard", _is_guard), ("neutral", _is_neutral), ("block", _is_block)):
        if holds(source, fault):
            return name
    return ""


def _is_guard(source: str, fault: Mutation) -> bool:
    """A tiny positive constant, 10 % larger, as a bound or in a comparison: it decides alike but within rounding."""
    if fault.kind != "constant 10 % larger" or not 0.0 < abs(float(fault.text)) <= 1.2 * TINY:
        return False
    parent = _path(source, fault)[-2]
    if isinstance(parent, ast.Call):
        return _last_name(parent.func) in BOUNDS
    return isinstance(parent, ast.Compare)


def _is_neutral(source: str, fault: Mutation) -> bool:
    """A sum with zero for a difference, a product with one for a quotient."""
    if fault.kind not in NEUTRAL:
        return False
    node = _path(source, fault)[-1]
    right = node.right if isinstance(node, ast.BinOp) else None
    return isinstance(right, ast.Constant) and right.value == NEUTRAL[fault.kind]


def _is_block(source: str, fault: Mutation) -> bool:
    """A module's number whose comment says that results do not depend on it: how much is made at once, or a gauge."""
    if fault.kind not in ("constant one larger", "constant 10 % larger"):
        return False
    path = _path(source, fault)
    if len(path) < 3 or not isinstance(path[1], ast.Assign):
        return False
    if not all(isinstance(each, ast.BinOp) for each in path[2:-1]):  # such as 1 << 20
        return False
    lines = source.splitlines()[path[1].lineno - 1 : path[1].end_lineno]
    return any(BLOCK.search(line) for line in lines)


def _path(source: str, fault: Mutation) -> list[ast.AST]:
    """The nodes from the module to the one that is changed, the outermost of its span."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    path: list[ast.AST] = [ast.parse(source)]
    while True:
        for child in ast.iter_child_nodes(path[-1]):
            if not hasattr(child, "lineno"):
                continue
            begin = starts[child.lineno - 1] + child.col_offset
            end = starts[child.end_lineno - 1] + child.end_col_offset
            if begin <= fault.begin and fault.end <= end:
                path.append(child)
                break
        else:
            return path
        if (begin, end) == (fault.begin, fault.end):
            return path


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
