# SPDX-License-Identifier: BSD-3-Clause
"""Damage to tables of numbers and to XML that stays readable: values, columns, rows and their order."""

from collections.abc import Callable
from random import Random
from xml.etree import ElementTree

from iap_bringup.fuzz.damage import WORDS

Rows = list[list[str]]
CELLS = (
    "nan", "inf", "-inf", "", "0", "-0.0", "1e300", "-1e300", "1e-320", "1e19", "-1", "1", "x", "None", "0x10",
    "1_0", "9" * 400, "1e9999", "1,5", '"1"', " ", "ä", "true", "2024-01-01T00:00:00",
)  # fmt: skip
FACTORS = (-1.0, 0.0, 1e-9, 1e-6, 1e-3, 0.5, 1.02, 57.29578, 1e3, 1e6, 1e9, 1e30)


def damaged_table(text: str, rng: Random) -> bytes:
    """A table whose rows keep their form; the rows that begin with # or have no number are its head."""
    lines = text.splitlines()
    mark = "," if "," in (lines[-1] if lines else "") else " "
    body = [i for i, line in enumerate(lines) if _is_row(line, mark)]
    if len(body) < 2:
        return text.encode()
    head, rows = lines[: body[0]], [lines[i].split(mark) for i in body]
    for _ in range(rng.randint(1, 2)):
        rng.choice(_TABLES)(rows, rng)
        if not rows:
            break
    return "\n".join([*head, *map(mark.join, rows), ""]).encode(errors="surrogatepass")


def _is_row(line: str, mark: str) -> bool:
    return not line.startswith("#") and any(_number(each) is not None for each in line.split(mark))


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _cell(rows: Rows, rng: Random) -> None:
    row = rng.choice(rows)
    if row:
        row[rng.randrange(len(row))] = rng.choice(CELLS)


def _column(rows: Rows, rng: Random) -> None:
    """One word, from a row on or in a stretch of rows."""
    column, word = rng.randrange(max(map(len, rows), default=1) or 1), rng.choice(CELLS)
    for row in _stretch(rows, rng):
        if column < len(row):
            row[column] = word


def _scale(rows: Rows, rng: Random) -> None:
    """A column in other units, from a row on or in a stretch of rows."""
    factor = rng.choice(FACTORS)
    _change(rows, rng, lambda value: value * factor)


def _shift(rows: Rows, rng: Random) -> None:
    """A step of a column that lasts, or comes back."""
    step = rng.choice((-1.0, 1.0)) * rng.choice(FACTORS)
    _change(rows, rng, lambda value: value + step)


def _noise(rows: Rows, rng: Random) -> None:
    width = 10.0 ** rng.randint(-6, 6)
    _change(rows, rng, lambda value: value + rng.gauss(0.0, width))


def _change(rows: Rows, rng: Random, change: Callable[[float], float]) -> None:
    column = rng.randrange(max(map(len, rows), default=1) or 1)
    for row in _stretch(rows, rng):
        value = _number(row[column]) if column < len(row) else None
        if value is not None:
            is_whole = row[column].lstrip("-").isdigit() and abs(change(value)) < 1e300
            row[column] = str(int(change(value))) if is_whole else repr(change(value))


def _stretch(rows: Rows, rng: Random) -> Rows:
    begin = rng.choice((0, rng.randrange(len(rows))))
    return rows[begin : rng.choice((None, begin + rng.randint(1, 20)))]


def _left_out(rows: Rows, rng: Random) -> None:
    begin = rng.randrange(len(rows))
    del rows[begin : begin + rng.choice((1, 5, len(rows) // 2, len(rows)))]


def _again(rows: Rows, rng: Random) -> None:
    """Rows that come twice, at once or at the end."""
    begin = rng.randrange(len(rows))
    copies = [list(row) for row in rows[begin : begin + rng.randint(1, 50)]]
    at = rng.choice((begin, len(rows)))
    rows[at:at] = copies


def _order(rows: Rows, rng: Random) -> None:
    what = rng.random()
    if what < 0.3:
        rows.reverse()
    elif what < 0.6:
        rng.shuffle(rows)
    else:
        i, j = rng.randrange(len(rows)), rng.randrange(len(rows))
        rows[i], rows[j] = rows[j], rows[i]


def _width(rows: Rows, rng: Random) -> None:
    """A column too few or too many."""
    column, adds = rng.randrange(len(rows[0]) or 1), rng.random() < 0.5
    for row in _stretch(rows, rng):
        if adds:
            row.insert(column, rng.choice(("0.0", rng.choice(CELLS))))
        else:
            del row[column : column + 1]


def _swap(rows: Rows, rng: Random) -> None:
    i, j = rng.randrange(len(rows[0]) or 1), rng.randrange(len(rows[0]) or 1)
    for row in rows:
        if max(i, j) < len(row):
            row[i], row[j] = row[j], row[i]


_TABLES: tuple[Callable[[Rows, Random], None], ...] = (
    _cell, _cell, _column, _column, _scale, _scale, _shift, _noise, _left_out, _again, _order, _width, _swap,
)  # fmt: skip


def damaged_xml(text: str, rng: Random) -> bytes:
    """XML with other values of attributes and texts, or elements left out, repeated or put elsewhere."""
    root = ElementTree.fromstring(text)  # noqa: S314 - of the suite's own making
    for _ in range(rng.randint(1, 3)):
        elements = list(root.iter())
        element, parent = rng.choice(elements), rng.choice(elements)
        what = rng.random()
        if what < 0.6 and element.attrib:
            key = rng.choice(list(element.attrib))
            element.set(key, _other_words(element.get(key, ""), rng))
        elif what < 0.75:
            element.text = _other_words(element.text or "", rng)
        elif what < 0.85 and len(parent):
            parent.remove(parent[rng.randrange(len(parent))])
        elif what < 0.93 and len(parent):
            parent.append(parent[rng.randrange(len(parent))])
        elif element is not root and parent not in list(element.iter()):
            parent.append(element)
    return ElementTree.tostring(root, encoding="unicode").encode(errors="replace")


def _other_words(text: str, rng: Random) -> str:
    """A word or number of several in the place of one, one more or fewer, or another text."""
    words = text.split()
    if not words or rng.random() < 0.2:
        return rng.choice(
            (*CELLS, *(each for each in WORDS if each.isprintable() and len(each) < 50))
        )
    place = rng.randrange(len(words))
    number, what = _number(words[place]), rng.random()
    if what < 0.15:
        del words[place]
    elif what < 0.3:
        words.append(words[place])
    elif number is not None and what < 0.7:
        words[place] = repr(number * rng.choice(FACTORS))
    else:
        words[place] = rng.choice(CELLS)
    return " ".join(words)
