# SPDX-License-Identifier: BSD-3-Clause
"""Faults that tools/mutants finds in a source: each changes what the code does."""

import importlib
import sys

import pytest
from test_mutants import TOOL

WHOLE = '''
@rounded(2.0)
def steered(x: Annotated[float, 5.0], gain: float = 0.5) -> float:
    """Docstring of 3.0."""
    if x > 1.0:
        raise ValueError(f"{x + 1.0} is more than 1")
    elif x is None:
        self.rows[0] = 7
        pairs = list(zip(x, x, strict=True))
    return -x[2]
'''


@pytest.fixture
def mutations(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOL))
    yield importlib.import_module("small_faults").mutations
    sys.modules.pop("small_faults")


def test_every_fault_compiles_and_leaves_texts_annotations_and_decorators_alone(mutations):
    found = mutations(WHOLE)
    for fault in found:
        changed = fault.applied(WHOLE)
        compile(changed, "steered.py", "exec")
        assert changed != WHOLE
        for kept in (
            "@rounded(2.0)",
            "Annotated[float, 5.0]",
            "Docstring of 3.0",
            "{x + 1.0} is",
            "strict=True",
        ):
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


@pytest.mark.parametrize(
    "line", ["return max(*x)", "assert x is not None", "raise ValueError(x + 1)"]
)
def test_bounds_of_many_and_what_is_asserted_or_raised_are_no_faults(mutations, line):
    assert not mutations(f"def f(*x):\n    {line}\n")
