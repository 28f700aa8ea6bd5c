# SPDX-License-Identifier: BSD-3-Clause
"""Limits of numbers, counts, shares, switches and names of files."""

import math
from typing import Self

import pytest
from pydantic import TypeAdapter, ValidationError, field_validator, model_validator

from iap_description.config import values
from iap_description.config.bounds import LARGEST_NUMBER, LEAST_POSITIVE, MAX_COUNT, MAX_SEED
from iap_description.config.record import Record, override, validate
from iap_description.errors import BadInput
from iap_description.vehicles.arm import ARMS, Arm
from iap_description.vehicles.mount import Mount

NUMBERS = ("Real", "Positive", "NonNegative", "BelowOne", "Share")
COUNTS = ("Count", "Seed")
LEAST = {
    "Real": -LARGEST_NUMBER,
    "Positive": LEAST_POSITIVE,
    "NonNegative": 0.0,
    "BelowOne": 0.0,
    "Share": 0.0,
    "Count": 1,
    "Seed": 0,
}
LARGEST = {
    "Real": LARGEST_NUMBER,
    "Positive": LARGEST_NUMBER,
    "NonNegative": LARGEST_NUMBER,
    "BelowOne": math.nextafter(1.0, 0.0),
    "Share": 1.0,
    "Count": MAX_COUNT,
    "Seed": MAX_SEED,
}


def read(kind, value):
    return TypeAdapter(getattr(values, kind)).validate_python(value)


@pytest.mark.parametrize("kind", NUMBERS + COUNTS)
def test_bounds_are_allowed_and_what_is_beyond_them_is_not(kind):
    least, largest = LEAST[kind], LARGEST[kind]
    assert (read(kind, least), read(kind, largest)) == (least, largest)
    beyond = (
        (least - 1, largest + 1)
        if kind in COUNTS
        else (math.nextafter(least, -math.inf), math.nextafter(largest, math.inf))
    )
    for each in beyond:
        with pytest.raises(ValidationError):
            read(kind, each)


@pytest.mark.parametrize("kind", NUMBERS + COUNTS)
@pytest.mark.parametrize("value", ["1", True, None, [1], math.nan, math.inf])
def test_a_number_is_no_text_no_truth_and_finite(kind, value):
    with pytest.raises(ValidationError):
        read(kind, value)


def test_a_whole_number_stands_for_a_real_one_and_no_real_one_for_a_count():
    assert read("Real", 3) == 3.0
    for kind in COUNTS:
        with pytest.raises(ValidationError):
            read(kind, 3.0)


@pytest.mark.parametrize("value", [0, 1, "true", "off", None])
def test_a_switch_is_true_or_false_and_nothing_else(value):
    assert read("Flag", True) is True
    with pytest.raises(ValidationError):
        read("Flag", value)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("FileName", ["a", "flight 2 (b).csv", "x" * 100], ["", ".hidden", "a/b", "x" * 101, 3]),
        ("VehicleName", ["iap", "a_1", "x" * 60], ["", "1a", "a b", "a/b", "x" * 61]),
    ],
)
def test_names_are_those_of_files(kind, good, bad):
    for name in good:
        assert read(kind, name) == name
    for name in bad:
        with pytest.raises(ValidationError):
            read(kind, name)


class Wheel(Record):
    """A record of two keys."""

    radius: values.Positive
    spokes: values.Count = 3


def test_a_record_has_no_other_keys_and_stays_as_it_is():
    with pytest.raises(BadInput, match=r"file\.yaml: .*'wheel.spoke'"):
        validate(Wheel, {"radius": 1.0, "spoke": 4}, source="file.yaml", prefix="wheel")
    with pytest.raises(BadInput, match="missing key 'radius'"):
        validate(Wheel, {}, source="file.yaml")
    wheel = validate(Wheel, {"radius": 1}, source="file.yaml")
    with pytest.raises(ValidationError):
        wheel.radius = 2.0


def test_nothing_is_mounted_a_kilometre_from_its_body():
    place = {"position": [0.0, -1e3, 1e3], "rpy_deg": [0.0, 0.0, 0.0]}
    assert validate(Mount, place, source="file").position == (0.0, -1e3, 1e3)
    with pytest.raises(BadInput, match=r"file: key 'position.1'"):
        validate(Mount, {**place, "position": [0.0, -1.1e3, 0.0]}, source="file")
    arm = ARMS.tree(ARMS.names()[0])
    with pytest.raises(BadInput, match=r"file: key 'base.1'"):
        validate(Arm, {**arm, "base": [0.0, 1e15, 0.0]}, source="file")


class Draw(Record):
    width: values.Positive | tuple[values.Positive, values.Positive]


@pytest.mark.parametrize(
    ("width", "key"), [([1.0, -1.0], "width"), (-1.0, "width"), ("a", "width")]
)
def test_a_value_of_several_kinds_is_refused_by_its_key_alone(width, key):
    with pytest.raises(BadInput, match=rf"^file: key '{key}(\.[01])?': Input should be"):
        validate(Draw, {"width": width}, source="file")


class Gains(Record):
    kP: tuple[float, float, float]  # noqa: N815 - the paper's


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0], "3 values are expected, found 1"),
        ([1.0] * 5, "at most 3 values are expected, found 5"),
        ("1,2,3", "a list in brackets belongs here"),
    ],
)
def test_a_list_of_another_length_is_refused_with_both_numbers(values, message):
    with pytest.raises(BadInput, match=f"^file: key 'gains.kP': {message}"):
        validate(Gains, {"kP": values}, source="file", prefix="gains")


def test_a_key_without_the_keys_above_it_is_offered_with_them():
    tree = {"wind": {"speed": 0.0}, "control": {"gains": {"kP": 1.0}}, "vehicles": [{"kp": 2}]}
    for typed in ("kP", "kp"):
        with pytest.raises(
            BadInput, match=r"did you mean control\.gains\.kP or vehicles\.0\.kp\?"
        ):
            override(tree, [f"{typed}=3"])
    with pytest.raises(BadInput, match=r"'gains': did you mean control\.gains\?"):
        override(tree, ["gains.kP=3"])
    with pytest.raises(BadInput, match="choose wind, control, vehicles"):
        override(tree, ["mass=3"])


class Pair(Record):
    names: tuple[str, str]
    length: float = 1.0

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if self.names[0] == self.names[1]:
            raise ValueError("key 'names': they must differ")
        return self


@pytest.mark.parametrize(("option", "source"), [("length", "file"), ("names", "--names")])
def test_a_check_of_all_keys_blames_the_option_of_its_key_and_no_other(option, source):
    with pytest.raises(BadInput, match=f"^{source}: key 'names'"):
        validate(Pair, {"names": ("a", "a")}, source="file", typed={option: f"--{option}"})


def test_a_refusal_with_a_name_in_another_encoding_is_one_line() -> None:
    class Named(Record):
        name: str

        @field_validator("name")
        @classmethod
        def _is_known(cls, name: str) -> str:
            raise ValueError(f"no scene '{name}'")

    with pytest.raises(BadInput, match=r"^test: no scene 'a\\udcff'$"):
        validate(Named, {"name": "a\udcff"}, source="test")
