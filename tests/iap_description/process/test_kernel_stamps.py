# SPDX-License-Identifier: BSD-3-Clause
"""Causes for numba to compile a kernel anew: whatever it depends on, in whatever file, and nothing else."""

import importlib
import os
import subprocess
import sys

import pytest
from numba import config

from iap_description.kernel_folder import STAMPED
from iap_description.process.kernel_stamps import digest

HEAD = "from typing import NamedTuple\nfrom numba import njit\n"
FILES = {
    "called": "LIMIT = 1.0\n@njit(cache=True)\ndef clipped(x):\n    return min(x, LIMIT)\n",
    "between": "from called import clipped\n"
    "@njit(cache=True)\ndef twice(x):\n    return 2.0 * clipped(x)\n",
    "calling": "from between import twice\n"
    "@njit(cache=True)\ndef called_by_python(x):\n    return twice(x) + 1.0\n",
    "alone": "@njit(cache=True)\ndef called_by_python(x):\n    return x + 3.0\n",
    "records": "class Point(NamedTuple):\n    x: float\n    y: float\n",
    "reading": "from records import Point\n"
    "@njit(cache=True)\ndef called_by_python(point: Point):\n    return point.x\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Modules of a user's own, with a cache of their own."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(config, "CACHE_LOCATOR_CLASSES", STAMPED)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name, text in FILES.items():
        (tmp_path / f"{name}.py").write_text(HEAD + text)
    yield tmp_path
    for name in FILES:
        sys.modules.pop(name, None)


def fresh(name, argument=5.0):
    """Result of a kernel in a new process, and whether its code came from the cache."""
    for each in FILES:
        sys.modules.pop(each, None)
    importlib.invalidate_caches()
    module = importlib.import_module(name)
    kernel = module.called_by_python
    if isinstance(argument, tuple):
        argument = module.Point(*argument)
    return kernel(argument), sum(kernel.stats.cache_hits.values()) == 1


def edit(folder, name, before, after):
    path = folder / f"{name}.py"
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


@pytest.mark.parametrize(
    ("name", "before", "after", "result"),
    [
        ("called", "min(x, LIMIT)", "min(x, 2.0 * LIMIT)", 5.0),
        ("called", "LIMIT = 1.0", "LIMIT = 4.0", 9.0),
        ("between", "2.0 * clipped(x)", "3.0 * clipped(x)", 4.0),
    ],
)
def test_an_edit_of_what_a_kernel_calls_compiles_it_anew_and_keeps_all_others(
    folder, name, before, after, result
):
    assert fresh("calling") == (3.0, False)
    assert fresh("alone") == (8.0, False)
    assert fresh("calling") == (3.0, True)
    edit(folder, name, before, after)
    assert fresh("calling") == (result, False)
    assert fresh("calling") == (result, True)
    assert fresh("alone") == (8.0, True)


def test_a_comment_and_another_function_of_the_file_compile_nothing(folder):
    fresh("calling")
    edit(
        folder,
        "between",
        "@njit",
        "# A comment.\n@njit(cache=True)\ndef unused(x):\n    return x\n\n\n@njit",
    )
    edit(folder, "calling", "@njit", "\n\n# A comment.\n@njit")
    assert fresh("calling") == (3.0, True)


def test_another_docstring_compiles_nothing(folder):
    edit(folder, "called", "    return", '    """A limit."""\n    return')
    fresh("calling")
    edit(folder, "called", "A limit.", "A limit [m].")
    assert fresh("calling") == (3.0, True)


def test_another_option_of_a_called_kernel_compiles_anew(folder):
    fresh("calling")
    edit(folder, "called", "cache=True", "cache=True, fastmath=True")
    assert fresh("calling") == (3.0, False)


def test_a_kernel_that_a_function_makes_has_the_stamp_of_its_file(folder):
    """Its module has no dispatcher of it, whose options could be asked for."""
    text = HEAD + "def made():\n    def inner(x):\n        return x\n    return inner\n"
    stamps = []
    for more in ("", "FASTER = True\n"):
        (folder / "called.py").write_text(text + more)
        sys.modules.pop("called", None)
        importlib.invalidate_caches()
        stamps.append(digest(importlib.import_module("called").made()))
    assert stamps[0] != stamps[1]


def test_fields_in_another_order_compile_what_reads_them(folder):
    assert fresh("reading", (1.0, 2.0)) == (1.0, False)
    assert fresh("reading", (1.0, 2.0)) == (1.0, True)
    edit(folder, "records", "    x: float\n    y: float\n", "    y: float\n    x: float\n")
    assert fresh("reading", (1.0, 2.0)) == (2.0, False)


@pytest.mark.parametrize("module", ["records", "places"])
def test_a_record_that_is_renamed_or_moved_compiles_what_reads_it(folder, module):
    """The index of machine code names a record that is no longer there."""
    assert fresh("reading", (1.0, 2.0)) == (1.0, False)
    edit(folder, "records", "class Point", "class Place")
    (folder / "records.py").rename(folder / f"{module}.py")
    edit(folder, "reading", "records import Point", f"{module} import Place as Point")
    sys.modules.pop("places", None)
    assert fresh("reading", (1.0, 2.0)) == (1.0, False)
    assert fresh("reading", (1.0, 2.0)) == (1.0, True)
    sys.modules.pop("places", None)


@pytest.mark.slow
def test_a_stamp_is_the_same_in_another_process():
    """Hashes of Python's own differ from process to process, and addresses do."""
    code = (
        "from iap_simulation.batch.compiled_run import fly_rows;"
        "from iap_description.process.kernel_stamps import digest; print(digest(fly_rows.py_func))"
    )
    digests = {
        subprocess.check_output(
            [sys.executable, "-P", "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}
        )
        for seed in ("1", "2")
    }
    assert len(digests) == 1
