# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and switches of records, wherever they stand in them, and whether they take what only looks like one."""

import types
import typing
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo


def records_in(kind: Any, known: set[type] | None = None) -> set[type]:
    """A record and all that its fields are made of."""
    known = set() if known is None else known
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if kind not in known:
            known.add(kind)
            for field in kind.model_fields.values():
                records_in(field.annotation, known)
        return known
    if isinstance(kind, typing.TypeAliasType if hasattr(typing, "TypeAliasType") else ()):
        return records_in(kind.__value__, known)
    for part in typing.get_args(kind):
        if not isinstance(part, (str, bytes, types.EllipsisType)):
            records_in(part, known)
    return known


def plain_fields(*roots: type) -> Iterator[tuple[str, FieldInfo]]:
    """Numbers and switches of records and of all below them, with their names."""
    for record in sorted(set().union(*map(records_in, roots)), key=lambda each: each.__qualname__):
        for name, field in record.model_fields.items():
            if field.annotation in (float, int, bool):
                yield f"{record.__qualname__}.{name}", field


def takes(field: FieldInfo, value: object) -> bool:
    """Whether a field takes a value."""
    try:
        TypeAdapter(Annotated[(field.annotation, *field.metadata)]).validate_python(value)
    except ValidationError:
        return False
    return True


def lax_fields(*roots: type) -> list[str]:
    """Names of numbers that take texts or truths, and of switches that take numbers or words."""
    out = []
    for name, field in plain_fields(*roots):
        odd = ("true", 1, 0) if field.annotation is bool else ("1", "0.5", True)
        out += [f"{name} takes {value!r}" for value in odd if takes(field, value)]
    return out
