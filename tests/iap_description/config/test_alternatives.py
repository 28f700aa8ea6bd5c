# SPDX-License-Identifier: BSD-3-Clause
"""The name that a misspelt one stands for."""

import pytest

from iap_description.config.alternatives import near, nearest

KNOWN = ("out", "plot", "end_pause", "pace", "reference")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("otu", "out"),  # of the same letters
        ("paec", "pace"),
        ("end_pauze", "end_pause"),
        ("refernce", "reference"),
        ("output", None),
        ("wind", None),
    ],
)
def test_a_name_is_misspelt_if_it_is_nearly_another_or_has_its_letters(
    name: str, meant: str | None
) -> None:
    assert nearest(name, KNOWN) == meant


def test_a_name_in_other_letters_is_offered_as_it_is_written():
    assert near("kp", ("kI", "kP", "wrench")) == "did you mean kP?"
    assert near("WIND", ("wind", "start"), before="world.") == "did you mean world.wind?"
    assert near("kp", ("wrench",)) == ""
