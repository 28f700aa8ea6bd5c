# SPDX-License-Identifier: BSD-3-Clause
"""Faults that tools/mutants puts into a package, and whether it tells which of them the tests notice."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from iap_description import kernel_folder

TOOL = Path(__file__).parents[2] / "tools" / "mutants"
FACTORS = '''
"""Factors."""

from numba import njit

@njit(cache=True)
def doubled(x):
    return 2.0 * x

def unused(x):
    return 3.0 * x
'''
SUMS = '''
"""Sums of factors."""

from numba import njit
from iap_toy.factors import doubled

NAME = ("sums",)[0]

@njit(cache=True)
def total(a, b):
    return doubled(a) + doubled(b)

class Sum:
    """A sum, at most ten."""

    def of(self, a, b):
        def bounded(x):
            return min(x, 10.0)
        return bounded(total(a, b))
'''
TESTS = """
from iap_toy.sums import Sum

def test_twice_the_sum():
    assert Sum().of(1.0, 2.0) == 6.0
"""


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(TOOL), *sys.path])
    names = [file.stem for file in TOOL.glob("*.py")]
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def mutations(tool):
    return tool("small_faults").mutations


@pytest.fixture
def toy(tmp_path):
    package, tests = tmp_path / "iap_toy" / "iap_toy", tmp_path / "tests" / "iap_toy"
    package.mkdir(parents=True)
    tests.mkdir(parents=True)
    for name, text in (("__init__", ""), ("factors", FACTORS), ("sums", SUMS)):
        (package / f"{name}.py").write_text(text)
    (tests / "test_sums.py").write_text(TESTS)
    return tmp_path


def test_tests_of_a_kernel_are_those_that_reach_it_through_other_kernels_nearest_first(tool, toy):
    (toy / "tests" / "iap_toy" / "test_factors.py").write_text(
        "import pytest\nfrom iap_toy.factors import doubled\n\n"
        "def test_twice():\n    assert doubled(1.0) == 2.0\n\n"
        "@pytest.mark.slow\ndef test_twice_very_often():\n    assert doubled(1.0) == 2.0\n"
    )
    sources = tool("sources").Sources(toy, ["iap_toy"])
    place = "iap_toy/iap_toy/factors.py:doubled"
    assert sources.tests(place) == {
        "tests/iap_toy/test_factors.py::test_twice": 1,
        "tests/iap_toy/test_factors.py::test_twice_very_often": 1,
        "tests/iap_toy/test_sums.py::test_twice_the_sum": 3,  # by a method and the kernel total
    }
    likely = tool("covering").TestMap(toy, sources, toy / "none.json").of(place)
    assert [test.name.split("::")[1] for test in likely] == [
        "test_twice", "test_twice_the_sum", "test_twice_very_often",
    ]  # fmt: skip


def test_tests_that_have_a_word_of_the_function_s_name_are_tried_before_others(tool, toy):
    (toy / "tests" / "iap_toy" / "test_friction.py").write_text(
        "from iap_toy.friction import Joint\n\n"
        "def test_a_hinge_turns():\n    assert Joint()\n\n"
        "def test_resistance_ends_a_spin():\n    assert Joint()\n"
    )
    (toy / "iap_toy" / "iap_toy" / "friction.py").write_text(
        "class Joint:\n    def _resist(self):\n        return 1.0\n"
    )
    sources = tool("sources").Sources(toy, ["iap_toy"])
    likely = (
        tool("covering")
        .TestMap(toy, sources, toy / "none.json")
        .of("iap_toy/iap_toy/friction.py:Joint._resist")
    )
    assert [test.name.split("::")[1] for test in likely][:2] == [
        "test_resistance_ends_a_spin", "test_a_hinge_turns",
    ]  # fmt: skip


def test_a_test_that_expects_a_message_is_one_of_the_function_that_raises_it(tool, toy):
    (toy / "iap_toy" / "iap_toy" / "checks.py").write_text(
        "def check(x):\n    if x < 0:\n        raise ValueError(f\"key 'x': {x} is below zero\")\n"
    )
    (toy / "tests" / "iap_toy" / "test_checks.py").write_text(
        "def test_what_is_below_zero_is_refused():\n    assert 'x: -1 is below zero' in by_library()\n\n"
        "def test_another():\n    assert by_library() == 'is above'\n"
    )
    sources = tool("sources").Sources(toy, ["iap_toy"])
    assert sources.tests("iap_toy/iap_toy/checks.py:check") == {
        "tests/iap_toy/test_checks.py::test_what_is_below_zero_is_refused": 1
    }


def test_what_is_registered_by_a_decorator_or_named_by_two_texts_is_reached(tool, toy):
    (toy / "iap_toy" / "iap_toy" / "kinds.py").write_text(
        "class Spec:\n    pass\n\n"
        "@kind_of(Spec)\nclass Kind:\n    def apply(self):\n        return 1\n\n"
        "def names():\n    return Later('late', 'run')\n"
    )
    (toy / "iap_toy" / "iap_toy" / "late.py").write_text("def run():\n    return 1\n")
    (toy / "tests" / "iap_toy" / "test_kinds.py").write_text(
        "from iap_toy.kinds import Spec, names\n\n"
        "def test_spec():\n    assert Spec()\n\ndef test_names():\n    assert names()\n"
    )
    sources = tool("sources").Sources(toy, ["iap_toy"])
    reached = {"kinds.py:Kind.apply": "test_spec", "late.py:run": "test_names"}
    for place, test in reached.items():
        assert [*sources.tests(f"iap_toy/iap_toy/{place}")] == [
            f"tests/iap_toy/test_kinds.py::{test}"
        ]


@pytest.mark.parametrize(
    ("line", "kind", "expected"),
    [
        ("x = a / max(b, 1e-9)", "constant 10 % larger", "guard"),
        ("x = a if b > 1e-9 else 0.0", "constant 10 % larger", "guard"),
        ("x = a / (b + 1e-9)", "constant 10 % larger", ""),  # a small b shows it
        ("x = a / max(b, 1e-3)", "constant 10 % larger", ""),
        ("x = a * 1.0", "Mult to Div", "neutral"),
        ("x = 1.0 / a", "Div to Mult", ""),
        ("x = a + 0", "Add to Sub", "neutral"),
        ("x = 0 + a", "Add to Sub", "neutral of the right alone"),
        ("SIZE = 64  # the sequence does not depend on it", "constant one larger", "block"),
        ("SIZE = 64  # rows that are kept", "constant one larger", ""),
        ("SIZE = 1.5  # R does not depend on it", "constant 10 % larger", "block"),
        ("SIZE = 1.5  # of a ball [m]", "constant 10 % larger", ""),
        ("SIZE = 64 << n  # the sequence does not depend on it", "constant one larger", "block"),
        ("SIZE = f(64)  # the sequence does not depend on it", "constant one larger", ""),
    ],
)
def test_a_fault_is_equivalent_only_where_a_rule_proves_it(tool, mutations, line, kind, expected):
    source = line if line.startswith("SIZE") else f"def f(a, b):\n    {line}\n    return x\n"
    (fault,) = [each for each in mutations(source) if each.kind == kind]
    rule = tool("equivalents").rule(source, fault)
    assert rule == ("" if expected.endswith("alone") else expected)


@pytest.mark.slow
def test_faults_are_killed_also_where_a_cached_kernel_holds_them_and_survivors_are_shown(
    toy, tmp_path
):
    package = toy / "iap_toy" / "iap_toy"
    (package / "signs.py").write_text("def negative(x):\n    return -x\n")
    (toy / "tests" / "iap_toy" / "test_signs.py").write_text(
        "from iap_toy.signs import negative\n\ndef test_sign():\n    assert negative(1) == -1\n"
    )
    shutil.copytree(TOOL, tmp_path / "tools" / "mutants")
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow']\n")
    cache = tmp_path / "numba"
    cache.mkdir()
    before = {p: p.read_text() for p in package.glob("*.py")}
    out = tmp_path / "out.json"
    ours = {
        k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")
    }  # the toy stands alone
    paths = os.pathsep.join([str(package.parent), os.environ.get("PYTHONPATH", "")])
    stamped = {"NUMBA_CACHE_DIR": str(cache), kernel_folder.LOCATORS: kernel_folder.STAMPED}
    environment = {**ours, "PYTHONPATH": paths, **stamped}
    command = [sys.executable, "tools/mutants", "iap_toy", "--count", "10", "--json", str(out)]
    done = subprocess.run(
        [*command, "--scratch", str(tmp_path / "scratch")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text())
    in_forks = [r["function"] for r in rows if r["outcome"] == "killed" and not r["seconds"]]
    assert in_forks == ["negative"], done.stderr
    outcomes = {(r["function"], r["kind"]): r["outcome"] for r in rows}
    assert outcomes == {
        ("doubled", "constant 10 % larger"): "killed",  # of which sums.py has a cached kernel
        ("doubled", "Mult to Div"): "killed",
        ("total", "Add to Sub"): "killed",
        ("NAME", "index off by one"): "killed",  # the tests cannot be imported
        ("Sum.of.bounded", "bound removed"): "survived",  # within a function that the test calls
        ("Sum.of.bounded", "constant 10 % larger"): "survived",
        ("negative", "sign or not removed"): "killed",
        ("unused", "constant 10 % larger"): "survived",
        ("unused", "Mult to Div"): "survived",
    }
    assert "-            return min(x, 10.0)" in done.stdout
    assert {p: p.read_text() for p in package.glob("*.py")} == before


@pytest.mark.slow
def test_a_test_without_an_end_has_noticed_a_fault_unless_it_takes_as_long_without_it(
    tool, toy, tmp_path, monkeypatch
):
    """Times of the processor are seconds here in place of a minute."""
    package, tests = toy / "iap_toy" / "iap_toy", toy / "tests" / "iap_toy"
    (tests / "test_sums.py").unlink()
    (package / "sums.py").write_text(
        "def down(n):\n    while n > 0:\n        n -= 1\n    return n\n"
    )
    (tests / "test_down.py").write_text(
        "import time\nfrom iap_toy.sums import down\n\n"
        "def test_down():\n    assert down(3) == 0\n    begun = time.process_time()\n"
        "    while time.process_time() < begun + LONG:\n        pass\n"
    )
    (toy / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(package.parent), *sys.path]))
    trial, sources = tool("trial"), tool("sources").Sources(toy, ["iap_toy"])
    monkeypatch.setattr(trial, "START", 4.0)
    monkeypatch.setattr(trial, "ENDLESS", 1.0)
    test_map = tool("covering").TestMap(toy, sources, toy / "none.json")
    text = (tests / "test_down.py").read_text()
    outcomes = []
    for long in ("0.0", "60.0"):
        (tests / "test_down.py").write_text(text.replace("LONG", long))
        copy = trial.Copy(toy, "iap_toy", tmp_path / long, test_map, sources)
        endless = (package / "sums.py").read_text().replace("-=", "+=")
        outcome = copy.try_out(package / "sums.py", endless, "down", 1.0, 0)
        outcomes.append((outcome.name, outcome.test))
    assert outcomes == [
        ("killed", "no end of tests/iap_toy/test_down.py::test_down"),
        ("survived", ""),
    ]
