# SPDX-License-Identifier: BSD-3-Clause
"""Faults that tools/mutants puts into modules that are imported: what is exchanged, and what cannot be."""

import importlib
import sys

import pytest
from test_mutants import TOOL

SCALES = '''
"""Scales."""

from numba import njit

LIMIT, LEAST = 10.0, 1.0

class Scale:
    """A scale."""

    factor = 3.0

    @property
    def twice(self):
        return 2.0 * self.factor

    def bounded(self, x):
        def inner(y):
            return min(y, LIMIT)
        return inner(x)

@njit
def halved(x):
    return x / 2.0
'''
USER = "from iap_scales.scales import LIMIT\n\ndef limit():\n    return LIMIT\n"


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """The package of scales, imported: the module and one that has imported its constant."""
    package = tmp_path / "iap_scales"
    package.mkdir()
    for name, text in (("__init__", ""), ("scales", SCALES), ("user", USER)):
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield [importlib.import_module(f"iap_scales.{name}") for name in ("scales", "user")]
    for name in [each for each in sys.modules if each.startswith("iap_scales")]:
        del sys.modules[name]


@pytest.fixture
def exchange(modules, monkeypatch):
    """Exchange for the fault of one function and kind."""
    monkeypatch.syspath_prepend(str(TOOL))
    tool, faults = importlib.import_module("exchange"), importlib.import_module("small_faults")

    def of(function, kind):
        found = [e for e in faults.mutations(SCALES) if (e.function, e.kind) == (function, kind)]
        return tool.Exchange(modules[0], SCALES, found[0])

    yield of
    for name in ("exchange", "small_faults"):
        sys.modules.pop(name)


def test_the_code_of_a_property_and_of_a_function_within_one_is_exchanged(modules, exchange):
    scale = modules[0].Scale()
    assert (scale.twice, scale.bounded(12.0)) == (6.0, 10.0)
    exchange("Scale.twice", "Mult to Div").apply(["iap_scales"])
    exchange("Scale.bounded.inner", "bound removed").apply(["iap_scales"])
    assert (scale.twice, scale.bounded(12.0)) == (2.0 / 3.0, 12.0)


def test_a_constant_is_exchanged_also_where_another_module_has_imported_it(modules, exchange):
    exchange("LIMIT", "constant 10 % larger").apply(["iap_scales"])
    assert modules[0].LIMIT == modules[1].limit() == 11.0
    assert modules[0].LEAST == 1.0


@pytest.mark.parametrize(
    ("function", "kind"),
    [("halved", "Div to Mult"), ("Scale", "constant 10 % larger")],
)
def test_what_compiled_code_or_a_class_holds_cannot_be_exchanged(exchange, function, kind):
    assert not exchange(function, kind)
