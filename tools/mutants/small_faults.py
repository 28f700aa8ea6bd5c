# SPDX-License-Identifier: BSD-3-Clause
"""Small faults in Python source: each is one expression or one statement, changed as text.

What cannot be a fault of behaviour stays: annotations, docstrings, decorators, imports, what is raised or printed
as text, what is asserted, which narrows types alone, and `strict=True` of `zip`, which asserts that lengths are equal.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

FLIPPED = {
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.Gt, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPPOSITE = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}
BOUNDS = {"min", "max", "minimum", "maximum", "clip", "clamp", "clamped"}
TEXTS = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Mutation:
    """One fault: a span of the source and what stands there instead."""

    line: int
    function: str  # Class.method, or the constant of a module
    kind: str
    begin: int  # [byte] in the source
    end: int
    text: str

    def applied(self, source: str) -> str:
        """The source with this fault."""
        raw = source.encode()
        return (raw[: self.begin] + self.text.encode() + raw[self.end :]).decode()


def mutations(source: str) -> list[Mutation]:
    """All faults of a module that change its compiled code.

    Args:
        source: the module's text.
    """
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for function, node, kind, text in _faults(ast.parse(source), "", False):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        elif_ = (
            "el" if text.startswith("if ") and source.encode()[begin:].startswith(b"elif") else ""
        )
        found.append(Mutation(node.lineno, function, kind, begin, end, elif_ + text))
    return found


def _faults(node: ast.AST, function: str, inside: bool) -> Iterator[tuple[str, ast.AST, str, str]]:
    """(function, node, kind, new text) of a node and of all below it; ``inside`` a function's body."""
    if isinstance(node, TEXTS) or _is_docstring(node):
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}" if function else node.name
    if not function and isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        function = _name(target.elts[0] if isinstance(target, ast.Tuple) else target)
    if isinstance(node, ast.FunctionDef) and all(_is_docstring(each) for each in node.body):
        return  # of a protocol
    if inside or not isinstance(node, ast.stmt):
        for kind, text in _of_expression(node):
            yield function, node, kind, text
    if inside:
        for kind, text in _of_statement(node):
            yield function, node, kind, text
    yield from _of_defaults(node, function)
    for child in _children(node):
        yield from _faults(child, function, inside or isinstance(node, ast.FunctionDef))


def _children(node: ast.AST) -> list[ast.AST]:
    """Nodes below a node, without annotations, decorators and base classes."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return list(node.body)
    if isinstance(node, ast.AnnAssign):
        return [] if node.value is None else [node.value]
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return []
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return [node.value]
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return []  # its sign is a fault already, and -2 means to numpy what -1 does
    if isinstance(node, ast.Call) and _name(node.func) == "zip":
        return [*node.args, *(k for k in node.keywords if ast.unparse(k) != "strict=True")]
    return list(ast.iter_child_nodes(node))


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _of_expression(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Compare):
        operators = [FLIPPED[type(node.ops[0])](), *node.ops[1:]]
        yield (
            "comparison flipped",
            _in_brackets(ast.Compare(node.left, operators, node.comparators)),
        )
    elif isinstance(node, ast.BinOp) and type(node.op) in OPPOSITE and not _is_text(node):
        other = OPPOSITE[type(node.op)]
        yield (
            f"{type(node.op).__name__} to {other.__name__}",
            _in_brackets(ast.BinOp(node.left, other(), node.right)),
        )
    elif isinstance(node, ast.BoolOp):
        other_bool = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and, or exchanged", _in_brackets(ast.BoolOp(other_bool, node.values))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield "sign or not removed", _in_brackets(node.operand)
    elif isinstance(node, ast.IfExp):
        yield (
            "condition negated",
            _in_brackets(ast.IfExp(_negated(node.test), node.body, node.orelse)),
        )
    elif (
        isinstance(node, ast.Call)
        and _name(node.func) in BOUNDS
        and len(node.args) > 1
        and not any(isinstance(each, ast.Starred) for each in node.args)
    ):
        kept = next((a for a in node.args if not isinstance(a, ast.Constant)), node.args[0])
        yield "bound removed", _in_brackets(kept)
    elif (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and type(node.slice.value) is int
    ):
        index = node.slice.value - 1 if node.slice.value > 0 else 1
        yield (
            "index off by one",
            ast.unparse(ast.Subscript(node.value, ast.Constant(index), ast.Load())),
        )
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        yield from _of_constant(node.value)


def _of_constant(value: float | bool) -> Iterator[tuple[str, str]]:
    if isinstance(value, bool):
        yield "constant negated", str(not value)
    elif isinstance(value, float) and value:
        yield "constant 10 % larger", repr(value * 1.1)
    elif isinstance(value, int):
        yield "constant one larger", repr(value + 1)


def _of_statement(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.If):
        for kind, test in (
            ("if False", "False"),
            ("if negated", f"not ({ast.unparse(node.test)})"),
        ):
            lines = ast.unparse(ast.If(ast.Name("TEST"), node.body, node.orelse)).splitlines()
            indent = "\n" + " " * node.col_offset
            yield kind, indent.join([lines[0].replace("TEST", test), *lines[1:]])
    elif isinstance(node, ast.Continue | ast.Break | ast.AugAssign | ast.Return):
        if not isinstance(node, ast.Return) or node.value is None:
            yield "statement removed", "pass"
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "statement removed", "pass"
    elif isinstance(node, ast.Assign) and all(
        isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets
    ):
        yield "statement removed", "pass"


def _of_defaults(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST, str, str]]:
    """Faults of the defaults of a function's parameters."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if isinstance(default, ast.Constant) and type(default.value) in (int, float, bool):
                for _, text in _of_constant(default.value):
                    yield function, default, "default changed", text


def _in_brackets(node: ast.AST) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(node))})"


def _negated(node: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), node)


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(s, ast.JoinedStr) or isinstance(s, ast.Constant) and isinstance(s.value, str)
        for s in sides
    )
