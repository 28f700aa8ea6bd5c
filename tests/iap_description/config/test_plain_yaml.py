# SPDX-License-Identifier: BSD-3-Clause
"""YAML of users: numbers and texts as they are written, and one line for what cannot be made, however it is made up."""

import time

import pytest

from iap_description.config.plain_yaml import MAX_DEPTH, parse_yaml, read_yaml, yaml_text
from iap_description.config.record import override
from iap_description.errors import MAX_ERROR_CHARACTERS, BadInput

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
)


def refusal(text: str) -> str:
    with pytest.raises(BadInput) as refused:
        parse_yaml(text, source="mine.yaml")
    line = str(refused.value)
    assert (
        line.startswith("mine.yaml: ")
        and "\n" not in line
        and len(line) < MAX_ERROR_CHARACTERS + 10
    )
    return line


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-7", 1e-7),
        ("12", 12),
        ("2024-01-31", "2024-01-31"),
        ("2024-13-45", "2024-13-45"),
        ("&a [*b, *b]", None),
        ("[&a {x: 1}, *a]", [{"x": 1}, {"x": 1}]),
    ],
)
def test_values(text: str, value: object) -> None:
    if value is None:
        assert "alias" in refusal(text)
    else:
        assert parse_yaml(text, source="mine.yaml") == value


def test_a_tree_as_text_is_read_as_it_was_with_its_keys_in_their_order() -> None:
    tree = {"z": [1, 0.1 + 0.2, 1e-7, 5e-324, -0.0], "a": {"1e3": "1e3", "": None, "ä": "y: #"}}
    again = parse_yaml(yaml_text(tree), source="mine.yaml")
    assert repr(again) == repr(tree)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a: 0x_", "int"),
        ("a: 0b_", "int"),
        (f"a: {'9' * 5000}", "int"),
        ("a: !!int x", "int"),
        ("a: !!float ''", "float"),
        ("a: !!bool q", "bool"),
        ("a: !!timestamp z", "timestamp"),
    ],
)
def test_a_value_that_is_not_of_its_kind_is_named_with_its_line(text: str, kind: str) -> None:
    line = refusal(f"b: 1\n{text}")
    assert f"is no {kind}" in line and "line 2" in line


@pytest.mark.parametrize(
    "text", ["!!map [1]", "{[1]: 2}", "? {a: 1}\n: 2", "!!python/object:os.system {}"]
)
def test_what_is_no_mapping_or_no_key_is_refused(text: str) -> None:
    refusal(text)


def test_a_set_is_no_key() -> None:
    assert "unhashable key" in refusal("{? !!set {a} : 1}")


def test_bytes_of_the_command_line_that_are_no_text_are_refused() -> None:
    assert refusal("name: a\udcd0b") == "mine.yaml: not a text in UTF-8"


def test_a_key_given_twice_is_named() -> None:
    assert "key 'a' is given twice" in refusal("a: 1\nb: 2\na: 3\n")


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "{a: " * 100_000])
def test_what_is_too_deep_is_refused_before_it_is_made(text: str) -> None:
    assert f"more than {MAX_DEPTH} levels deep" in refusal(text)


def test_aliases_cannot_make_more_of_a_text_than_there_is_room_for() -> None:
    begin = time.process_time()
    assert "values" in refusal(LAUGHS)
    assert time.process_time() - begin < 1.0


def test_an_alias_of_what_it_is_part_of_is_refused() -> None:
    assert "'*a' is part of what it stands for" in refusal("b: &a [*a]")


def test_many_keys_take_time_in_proportion() -> None:
    begin = time.process_time()
    tree = parse_yaml("".join(f"k{i}: 1\n" for i in range(20_000)), source="mine.yaml")
    assert len(tree) == 20_000
    assert time.process_time() - begin < 5.0  # comparing each with each takes a minute


def test_a_file_that_is_none_is_refused(tmp_path) -> None:
    for path in (tmp_path, tmp_path / ("n" * 300)):
        with pytest.raises(BadInput, match="cannot be read"):
            read_yaml(path)


def test_indices_of_set_are_digits() -> None:
    tree = {"vehicles": [{"name": "a"}]}
    assert override(tree, ["vehicles.0.name=b"])["vehicles"][0]["name"] == "b"
    for index in ("²", "9" * 5000, "1"):
        with pytest.raises(BadInput, match="--set: unknown key 'vehicles"):
            override(tree, [f"vehicles.{index}.name=b"])
