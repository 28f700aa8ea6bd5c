# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of a text file as programs write them, and their words for a number that is missing."""

import math
import re
from pathlib import Path

from iap_description.errors import BadInput

MISSING = set(
    "nan -nan +nan nan(ind) -nan(ind) nan(snan) 1.#qnan -1.#qnan 1.#ind -1.#ind 1.#snan na n/a #n/a #value! null none"
    " nil - -- ? missing lost".split()
)
_TIME_OF_DAY = re.compile(r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?")
_MARKS = str.maketrans(
    {"\u2212": "-", "d": "e"}
)  # a minus of typesetting, and Fortran's exponents


def number_of(text: str) -> float:
    """The number of a cell without blanks; NaN of one that is empty, or that a program writes where it has none.

    Raises:
        ValueError: it is none.
    """
    word = text.lower()
    return math.nan if not word or word in MISSING else float(word.translate(_MARKS))


def is_number(text: str) -> bool:
    """True if a cell has a number, with a point or a comma; an empty one and words for a missing one are none."""
    try:
        return not math.isnan(number_of(text.replace(",", ".")))
    except ValueError:
        return False


def is_value(text: str) -> bool:
    """True if a cell has a number, or a time of day."""
    return is_number(text) or _TIME_OF_DAY.fullmatch(text) is not None


def numbers(path: Path, number: int, texts: list[str], columns: tuple[str, ...]) -> list[float]:
    """The numbers of a line.

    Raises:
        BadInput: one is none; the line and the column are named.
    """
    values = []
    for name, text in zip(columns, texts, strict=True):
        try:
            values.append(number_of(text))
        except ValueError as error:
            raise BadInput(f"{path}: line {number}: {name} is {text!r}, not a number") from error
    return values
