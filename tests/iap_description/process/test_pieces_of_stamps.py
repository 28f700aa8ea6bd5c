# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a value that belong to a kernel's stamp."""

import math
import re
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from iap_description.math import kernels
from iap_description.process import kernel_stamps as stamps

FACTOR = 2.0


class Kind(IntEnum):
    ONE = 1
    TWO = 2


class Pair(NamedTuple):
    a: int
    b: float


class Riap(NamedTuple):
    b: float
    a: int


@njit
def twice(x):
    return FACTOR * x


@njit
def four_times(x):
    """Twice, twice."""
    return twice(twice(x))


def text(value):
    called = []
    return stamps._text(value, called), called


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ("1", 1),
        (Kind.ONE, Kind.TWO),
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.array([1.0, 2.0]), np.array([2.0, 1.0])),
        ((1, 2), [1, 2]),
        ((1, 2), (2, 1)),
        (((1, 2), 3), ((1, 2), 4)),
        (Pair(1, 2.0), Riap(1, 2.0)),
        (Pair, Riap),
        (np.float32(1.0), np.float64(1.0)),
        (math, re),
    ],
)
def test_values_that_compile_to_other_code_have_other_texts(one, other):
    (a, called), (b, _) = text(one), text(other)
    assert a != b and called == []
    assert text(one)[0] == a and " at 0x" not in a


def test_arrays_count_by_their_numbers_however_they_lie():
    rows = np.arange(6.0).reshape(2, 3)
    assert text(np.asfortranarray(rows))[0] == text(rows)[0] == text(rows.copy())[0]
    assert text(rows.T)[0] != text(rows)[0]


def test_a_kernel_is_called_by_its_name_wherever_it_stands():
    words, called = text((1, twice))
    assert called == [twice] and f"{__name__}.twice" in words


@pytest.fixture
def forgetful():
    """Entries are made anew, before and after."""
    stamps._entry.cache_clear()
    yield
    stamps._entry.cache_clear()


def test_a_digest_holds_all_that_is_called_and_its_constants(monkeypatch, forgetful):
    entry, called = stamps._entry(four_times)
    assert called == [twice] and "twice" in entry
    entry, called = stamps._entry(twice)
    assert called == [] and "FACTOR=float 2.0" in entry
    whole = stamps.digest(four_times.py_func)
    assert re.fullmatch("[0-9a-f]{64}", whole) and whole == stamps.digest(four_times.py_func)
    assert stamps.digest(twice.py_func) != whole
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert stamps.digest(four_times.py_func) == whole
    stamps._entry.cache_clear()
    assert stamps.digest(four_times.py_func) != whole


def test_a_stamp_is_made_once_and_compares_as_its_text(monkeypatch):
    made = []
    monkeypatch.setattr(stamps, "digest", lambda function: made.append(function) or "abc")
    stamp = stamps.Stamp(twice.py_func)
    assert made == []
    assert stamp == "abc" and stamp != "abd" and stamp == stamps.Stamp(twice.py_func)
    assert str(stamp) == "abc" and hash(stamp) == hash("abc")
    assert made == [twice.py_func] * 2
    assert stamp.__reduce__() == (str, ("abc",))


def test_byte_code_counts_without_its_docstring_and_with_what_is_inside():
    def code(source):
        names = {}
        exec(source, names)  # noqa: S102
        return stamps._code(names["f"].__code__, names["f"].__doc__)

    plain = code("def f(x):\n    return x + 1\n")
    assert code('\n\ndef f(x):\n    """Words."""\n    return x + 1\n') != code(
        "def f(x):\n    return x + 2\n"
    )
    assert code("\n\ndef f(x):\n    return x + 1  # words\n") == plain
    for other in ("return x + 2", "return x - 1", "return y + 1", "return x.a + 1"):
        assert code(f"def f(x):\n    {other}\n") != plain
    assert code("def f(y):\n    return y + 1\n") != plain
    inside = "def f(x):\n    def g(y):\n        return y + {}\n    return g\n"
    assert code(inside.format(1)) != code(inside.format(2)) != plain
    assert stamps._constant(frozenset("ab")) == stamps._constant(frozenset("ba"))


def test_names_of_inner_functions_cells_and_defaults_are_referred_to():
    cell = 5.0

    def outer(x, more=7):
        return [math.sqrt(FACTOR * x * cell * each) for each in range(more)]

    found = dict(stamps._referred(outer))
    assert found["FACTOR"] == 2.0 and found["math"] is math
    assert found["cell"] == 5.0 and found["defaults"] == (7,)
    assert "math.sqrt" not in found

    def of_the_suite(x):
        return kernels.cross(x, x)

    assert dict(stamps._referred(of_the_suite))["kernels.cross"] is kernels.cross


def test_files_of_the_suite_count_and_libraries_by_their_name(tmp_path):
    assert stamps._is_library("numpy.linalg", "/x/site-packages/numpy/linalg.py")
    assert stamps._is_library("math", "/usr/lib/math.py")
    assert not stamps._is_library("iap_io.runs", "/x/site-packages/iap_io/runs.py")
    assert not stamps._is_library("mine", "/home/me/mine.py")
    assert stamps._home(np.linalg.norm).startswith("numpy")
    path = tmp_path / "a.py"
    path.write_text("1")
    first = stamps._content(str(path))
    path.write_text("22")
    assert stamps._content(str(path)) != first
