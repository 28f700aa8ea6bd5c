# SPDX-License-Identifier: BSD-3-Clause
"""An error's text is one line that can be read, whatever users put into it."""

import pytest
from refusals import refusal

from iap_description.config.record import Record, validate
from iap_description.errors import MAX_ERROR_CHARACTERS, BadInput, FlightFailed, shown


class One(Record):
    number: float


@pytest.mark.parametrize("text", ["two\nlines", "a\r\nb", "a\u2028b", "  a\x85b"])
def test_line_ends_become_spaces(text: str) -> None:
    assert len(str(BadInput(text)).splitlines()) == 1


def test_what_a_terminal_would_obey_is_left_out() -> None:
    assert str(BadInput("a\x1b[2Jb\0")) == "a?[2Jb?"


def test_the_middle_of_an_endless_text_is_left_out() -> None:
    line = str(BadInput("begin " + "x" * 10**6 + " end"))
    assert (
        line.startswith("begin") and line.endswith("end") and len(line) < MAX_ERROR_CHARACTERS + 10
    )


def test_a_failed_flight_keeps_its_evidence() -> None:
    failure = FlightFailed("crashed", 1.5, "it\nfell")
    assert str(failure) == "crashed at t = 1.500 s: it fell" and failure.t == 1.5


@pytest.mark.parametrize(
    "value", ["x" * 10**6, [1.0] * 10**6, [[[[[[1]]]]]], 10**4000, {"a": "x" * 10**6}]
)
def test_values_are_shortened(value: object) -> None:
    assert len(shown(value)) < 400
    line = refusal(validate, One, {"number": value}, source="mine.yaml")
    assert "key 'number'" in line and len(line) < 500


@pytest.mark.parametrize("kind", [list, tuple])
def test_sixteen_of_a_list_are_shown(kind: type) -> None:
    assert "7, 7, ..." not in shown(kind([7] * 16)) and shown(kind([7] * 17)).count("7") == 16
