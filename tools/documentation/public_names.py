# SPDX-License-Identifier: BSD-3-Clause
"""Public names of the packages, and those that the built site has no entry for."""

import ast
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path


def public_names(package: Path) -> Iterator[str]:
    """Dotted names of public modules, classes, functions and methods below a package's folder."""
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if any(part.startswith("_") for part in parts):
            continue
        module = ".".join(parts)
        yield module
        yield from _members(ast.parse(path.read_text(encoding="utf-8")), module)


def _members(node: ast.Module | ast.ClassDef, name: str) -> Iterator[str]:
    for each in node.body:
        if isinstance(each, ast.FunctionDef | ast.ClassDef) and not each.name.startswith("_"):
            if _is_setter(each):
                continue
            yield f"{name}.{each.name}"
            if isinstance(each, ast.ClassDef):
                yield from _members(each, f"{name}.{each.name}")


def _is_setter(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """True for the second function of a property or of an overload, which has the entry of the first."""
    names = [each.attr for each in node.decorator_list if isinstance(each, ast.Attribute)]
    return "setter" in names


def entries(site: Path) -> set[str]:
    """Names of Python that a built site has entries for, of its ``objects.inv``."""
    content = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(content).decode().splitlines()
    return {name for name, kind, *_ in map(str.split, lines) if kind.startswith("py:")}


def missing_names(site: Path, packages: Sequence[Path]) -> list[str]:
    """Public names without an entry."""
    known = entries(site) if packages else set()
    return [name for package in packages for name in public_names(package) if name not in known]
