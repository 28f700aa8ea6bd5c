# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a block of worlds from one declaration, a named tuple of quantities with their sizes.

    class BodyRows(NamedTuple):
        p: int = 3
        q: int = 4

    BODY = numbered(BodyRows())  # BodyRows(p=0, q=3), in compiled loops constants

Compiled functions that move numbers between rows and records are made of declarations, too: `loader` and `storer` for
arrays that have the quantities' names, `reader` and `chooser` for named tuples of numbers.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import choose
from iap_description.math.lanes import get, get3, get4, get6, get9, set1
from iap_description.math.single_precision import FormulaCompiler

Rows = TypeVar("Rows", bound=tuple[int, ...])
Record = type[NamedTuple]
Compiled = Callable[..., Any]
_GETTERS = {3: get3, 4: get4, 6: get6, 9: get9}


def numbered(sizes: Rows, first: int = 0) -> Rows:
    """The first row of every quantity, one behind the other from a row on."""
    ends = np.cumsum([first, *sizes]).tolist()
    return type(sizes)(*ends[:-1])


def total(sizes: tuple[int, ...]) -> int:
    """Number of rows of all quantities."""
    return sum(sizes)


def fill(
    array: Array, rows: tuple[int, ...], at: Integers | slice = slice(None), **values: ArrayLike
) -> None:
    """Write numbers (n, ...) of n bodies into rows of an array (bodies, rows, ...), the same along all further axes.

    Args:
        array: changed in place.
        rows: first ones of all quantities.
        at: the bodies; all without.
        values: numbers by the names of their quantities; one number is the same for all bodies.
    """
    for name, value in values.items():
        numbers = np.asarray(value)
        count = len(numbers) if numbers.ndim else 1
        first, further = getattr(rows, name), (1,) * (array.ndim - 2)
        flat = numbers.reshape(count, -1, *further)
        array[at, first : first + flat.shape[1]] = flat


def loader(sizes: tuple[int, ...], *names: str) -> Compiled:
    """A compiled function that copies arrays of a record into rows.

    It is called with (block, row, k, lane, record, world, i): quantity `name` of the sizes goes from
    ``record.name[world, i]`` to its rows, the first quantity's being row + k.

    Args:
        sizes: all quantities.
        names: which of them are copied; all without.
    """
    lines = [
        f"{loop}set1(block, row, k + {row}, lane, record.{name}[world, i{at}])"
        for name, loop, row, at in _copies(sizes, names)
    ]
    return _compiled("load", "block, row, k, lane, record, world, i", lines)


def storer(sizes: tuple[int, ...], *names: str) -> Compiled:
    """A compiled function that copies rows into arrays of a record, see `loader`."""
    lines = [
        f"{loop}record.{name}[world, i{at}] = get(block, row, k + {row}, lane)"
        for name, loop, row, at in _copies(sizes, names)
    ]
    return _compiled("store", "block, row, k, lane, record, world, i", lines)


def _copies(sizes: tuple[int, ...], names: tuple[str, ...]) -> Iterator[tuple[str, str, str, str]]:
    """Name, head of a loop, row and last index of every quantity that is copied."""
    fields: tuple[str, ...] = sizes._fields  # type: ignore[attr-defined] # a named tuple
    for name, first, size in zip(fields, numbered(sizes), sizes, strict=True):
        if names and name not in names:
            continue
        if size == 1:
            yield name, "", str(first), ""
        else:
            yield name, f"for m in range({size}): ", f"{first} + m", ", m"


def size_of(record: Record) -> int:
    """Count the numbers of a named tuple of numbers and tuples of them."""
    return sum(_count(kind) for kind in get_type_hints(record).values())


def numbers_of(record: Record, values: Any) -> Array:  # noqa: ANN401 - any object with these fields
    """Numbers of fields that arrays or numbers have the names of, in the order of a record."""
    return np.concatenate(
        [np.ravel(np.float64(getattr(values, name))) for name in get_type_hints(record)]
    )


def reader(record: Record) -> Compiled:
    """A compiled function that makes a record of rows, called with (block, row, k, lane)."""
    parts, k = [], 0
    for kind in get_type_hints(record).values():
        parts.append(_read(kind, k))
        k += _count(kind)
    line = f"return record({', '.join(parts)})"
    return _compiled("read", "block, row, k, lane", [line], record=record)


def chooser(record: Record) -> Compiled:
    """A compiled function that writes one of two records into rows, called with (block, row, k, lane, which, a, b).

    Where `which` is true, `a` is written, else `b`.
    """
    lines, k = [], 0
    for name, kind in get_type_hints(record).items():
        for item in _items(kind, f".{name}"):
            pair = (f"choose({x}{item}, 1.0, 0.0)" if kind is bool else f"{x}{item}" for x in "ab")
            lines.append(f"set1(block, row, k + {k}, lane, choose(which, {', '.join(pair)}))")
            k += 1
    return _compiled("write", "block, row, k, lane, which, a, b", lines)


def _count(kind: Any) -> int:  # noqa: ANN401 - a type
    """Numbers of a value: of a number one, of a tuple those of its items."""
    return 1 if kind in (float, bool) else sum(map(_count, get_args(kind)))


def _items(kind: Any, path: str) -> Iterator[str]:  # noqa: ANN401 - a type
    """Paths to the numbers of a value."""
    if kind in (float, bool):
        yield path
    for i, each in enumerate(get_args(kind)):
        yield from _items(each, f"{path}[{i}]")


def _read(kind: Any, k: int) -> str:  # noqa: ANN401 - a type
    """Expression of a value that begins k rows behind the first."""
    if kind in (float, bool):
        return f"get(block, row, k + {k}, lane)" + (" > 0.0" if kind is bool else "")
    parts = get_args(kind)
    if set(parts) == {float} and len(parts) in _GETTERS:
        return f"get{len(parts)}(block, row, k + {k}, lane)"
    texts = []
    for each in parts:
        texts.append(_read(each, k))
        k += _count(each)
    return f"({', '.join(texts)})"


def _compiled(name: str, parameters: str, lines: list[str], **names: Any) -> Compiled:  # noqa: ANN401
    """A function of some statements, compiled like a formula; numba's cache keeps it within its callers."""
    scope = {"get": get, "set1": set1, "choose": choose, **names}
    scope |= {f"get{size}": getter for size, getter in _GETTERS.items()}
    exec("\n    ".join([f"def {name}({parameters}):", *lines]), scope)  # noqa: S102 - of declarations alone
    how = {"forceinline": True, "error_model": "numpy", "pipeline_class": FormulaCompiler}
    compiled: Compiled = njit(**how)(scope[name])
    return compiled
