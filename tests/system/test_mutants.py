# SPDX-License-Identifier: BSD-3-Clause
"""Faults that tools/mutants puts into a package, and whether it tells which of them the tests notice."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
WHOLE = '''
@rounded(2.0)
def steered(x: Annotated[float, 5.0], gain: float = 0.5) -> float:
    """Docstring of 3.0."""
    if x > 1.0:
        raise ValueError(f"{x + 1.0} is more than 1")
    elif x is None:
        self.rows[0] = 7
    return -x[2]
'''


@pytest.fixture
def mutations(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(TOOL), *sys.path])
    monkeypatch.delitem(sys.modules, "mutations", raising=False)  # tests have one of that name
    import mutations

    yield mutations.mutations
    for name in ("mutations", "covering", "trial"):
        sys.modules.pop(name, None)


def test_every_fault_compiles_and_leaves_texts_annotations_and_decorators_alone(mutations):
    found = mutations(WHOLE)
    for fault in found:
        changed = fault.applied(WHOLE)
        compile(changed, "steered.py", "exec")
        assert changed != WHOLE
        for kept in ("@rounded(2.0)", "Annotated[float, 5.0]", "Docstring of 3.0", "{x + 1.0} is"):
            assert kept in changed
        assert fault.function == "steered"
    assert {fault.kind for fault in found} == {
        "default changed",
        "comparison flipped",
        "constant 10 % larger",
        "constant one larger",
        "if False",
        "if negated",
        "index off by one",
        "sign or not removed",
        "statement removed",
    }


def test_numbers_that_stand_in_the_body_of_a_protocol_are_no_faults(mutations):
    assert not mutations(
        'class Caster:\n    def cast(self, far: float = 2.0):\n        """Cast."""\n'
    )


@pytest.mark.slow
def test_faults_are_killed_also_where_a_cached_kernel_holds_them_and_survivors_are_shown(tmp_path):
    package, tests = tmp_path / "iap_toy" / "iap_toy", tmp_path / "tests" / "iap_toy"
    package.mkdir(parents=True)
    tests.mkdir(parents=True)
    shutil.copytree(TOOL, tmp_path / "tools" / "mutants")
    for name, text in (("__init__", ""), ("factors", FACTORS), ("sums", SUMS)):
        (package / f"{name}.py").write_text(text)
    (tests / "test_sums.py").write_text(TESTS)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow']\n")
    cache = tmp_path / "numba"
    cache.mkdir()
    before = {p: p.read_text() for p in package.glob("*.py")}
    out = tmp_path / "out.json"
    ours = {
        k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")
    }  # the toy stands alone
    environment = {**ours, "PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "tools/mutants", "iap_toy", "--count", "9", "--json", str(out)]
    done = subprocess.run(
        [*command, "--scratch", str(tmp_path / "scratch")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    outcomes = {(r["function"], r["kind"]): r["outcome"] for r in json.loads(out.read_text())}
    assert outcomes == {
        ("doubled", "constant 10 % larger"): "killed",  # of which sums.py has a cached kernel
        ("doubled", "Mult to Div"): "killed",
        ("total", "Add to Sub"): "killed",
        ("Sum.of.bounded", "bound removed"): "survived",  # within a function that the test calls
        ("Sum.of.bounded", "constant 10 % larger"): "survived",
        ("unused", "constant 10 % larger"): "not run",
        ("unused", "Mult to Div"): "not run",
    }
    assert "-            return min(x, 10.0)" in done.stdout
    assert {p: p.read_text() for p in package.glob("*.py")} == before
