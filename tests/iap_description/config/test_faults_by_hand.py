# SPDX-License-Identifier: BSD-3-Clause
"""Places of faults, and what is offered in place of them."""

import json
from typing import Annotated, Literal

import pytest
from pydantic import AfterValidator, Field

from iap_description.config import values
from iap_description.config.json_files import parse_json, read_json
from iap_description.config.plain_yaml import CACHED_TEXT, MAX_DEPTH, parse_mapping, parse_yaml
from iap_description.config.presets import Presets, merged
from iap_description.config.record import ExtendedRecord, Record, override, validate
from iap_description.config.text_files import (
    MAX_LINE,
    MAX_TEXT,
    check_file,
    no_text,
    reason_of,
    remedy_of_cut,
)
from iap_description.errors import BadInput


def said(call, *args, **keys):
    with pytest.raises(BadInput) as caught:
        call(*args, **keys)
    return str(caught.value)


class Ball(Record):
    type: Literal["ball"]
    radius: values.Positive
    color: Literal["red", "green"] = "red"


class Bar(Record):
    type: Literal["bar"]
    ends: tuple[values.Real, values.Real]
    inner: Ball | None = None


class World(Record):
    things: tuple[Annotated[Ball | Bar, Field(discriminator="type")], ...]
    limits: dict[str, float] = {}


def no_scene(path):
    raise ValueError(f"{path}: no ground" if path.endswith(".yaml") else "no such scene")


class Place(Record):
    scene: Annotated[str, AfterValidator(no_scene)]


class Air(Record):
    drag: Annotated[Literal["on", "off"], values.AsWord]


@pytest.mark.parametrize("word", ["on", "off"])
def test_on_and_off_are_words_where_words_belong(word):
    assert validate(Air, parse_mapping(f"drag: {word}", source="f"), source="f").drag == word
    assert said(validate, Air, {"drag": "of"}, source="f").endswith("(got 'of')")


def test_a_file_that_a_fault_begins_with_is_not_told_again():
    assert said(validate, Place, {"scene": "a.yaml"}, source="f") == (
        "f: key 'scene': a.yaml: no ground"
    )
    assert said(validate, Place, {"scene": "a"}, source="f") == (
        "f: key 'scene': no such scene (got 'a')"
    )


BALL = {"type": "ball", "radius": 1.0}


@pytest.mark.parametrize(
    ("things", "words"),
    [
        ([BALL, {"type": "ball"}], "f: missing key 'things.1.radius'"),
        ([{"radius": 1.0}], "f: missing key 'things.0.type'"),
        ([{"type": "bal"}], "f: key 'things.0.type': did you mean ball or bar? (got 'bal')"),
        ([{"type": "xyz"}], "f: key 'things.0.type': choose ball, bar (got 'xyz')"),
        ([BALL, 5], "f: key 'things.1': a mapping of keys belongs here (got 5)"),
        ([{**BALL, "radus": 1}], "f: unknown key 'things.0.radus': did you mean things.0.radius?"),
        ([{**BALL, "mass": 1}], "f: unknown key 'things.0.mass'"),
        (
            [{**BALL, "color": "grean"}],
            "f: key 'things.0.color': did you mean green? (got 'grean')",
        ),
        (
            [{**BALL, "color": 5}],
            "f: key 'things.0.color': Input should be 'red' or 'green' (got 5)",
        ),
        (5, "f: key 'things': a list in brackets belongs here, such as [1, 2] (got 5)"),
        (
            [{"type": "bar", "ends": [0.0]}],
            "f: key 'things.0.ends': 2 values are expected, found 1 (got [0.0])",
        ),
        (
            [{"type": "bar", "ends": [0, 0], "inner": {"type": "ball", "radius": 0}}],
            "f: key 'things.0.inner.radius': Input should be greater than 0 (got 0)",
        ),
        (
            [{"type": "bar", "ends": [0, 0], "inner": 3}],
            "f: key 'things.0.inner': a mapping of keys belongs here (got 3)",
        ),
    ],
)
def test_a_fault_is_told_by_its_keys_without_kinds(things, words):
    assert said(validate, World, {"things": things}, source="f") == words


def test_a_fault_names_the_option_nearest_to_it():
    tree = {"things": [{"type": "ball", "radius": -1.0}, BALL]}
    for typed, source in (
        ({}, "f"),
        ({"things.1": "--b"}, "f"),
        ({"things.0": "--a", "things": "--all"}, "--a"),
        ({"things": "--all"}, "--all"),
        ({"things.0.radius": "--r", "things.0": "--a"}, "--r"),
        ({"things.0.radius.x": "--deep", "things.0.radius": "--r"}, "--deep, --r"),
    ):
        assert said(validate, World, tree, source="f", typed=typed).startswith(f"{source}: key ")
    assert "'world.things.0.radius'" in said(validate, World, tree, source="f", prefix="world")


def test_keys_that_came_later_are_written_where_they_are_used():
    class Old(ExtendedRecord):
        LATER = ("b", "c")
        a: int = 1
        b: int = 2
        c: int = 3

    assert Old().model_dump() == {"a": 1}
    assert Old(a=1, b=5).model_dump() == {"a": 1, "b": 5}


def test_assignments_reach_into_lists_and_leave_the_tree_as_it_was():
    tree = {"a": [{"b": 1}, {"b": 2}], "c": {"d": [[1, 2], [3, 4]]}, "e": {"k": None}}
    before = json.dumps(tree)
    made = override(tree, ["a.1.b=x=y", "c.d.*.0={z: 1}", "a.0={b: 7}"])
    assert made == {
        "a": [{"b": 7}, {"b": "x=y"}],
        "c": {"d": [[{"z": 1}, 2], [{"z": 1}, 4]]},
        "e": {"k": None},
    }
    assert made["c"]["d"][0][0] is not made["c"]["d"][1][0]
    assert json.dumps(tree) == before
    for text, words in (
        ("a", "--set a: expected KEY=VALUE"),
        ("=1", "--set =1: expected KEY=VALUE"),
        ("a.2.b=1", "--set: unknown key 'a.2': there are 2 here"),
        ("a.-1=1", "--set: unknown key 'a.-1': there are 2 here"),
        ("a.0.b.c=1", "--set: unknown key 'a.0.b.c': here is a single value"),
        (
            "e.k.m=1",
            "--set: unknown key 'e.k.m': there is none yet: give it whole, --set 'e.k={m: ...}'",
        ),
        ("a.0.bb=1", "--set: unknown key 'a.0.bb': did you mean a.0.b?"),
        ("c.*.e=1", "--set: key 'c': no list, so that * stands for nothing"),
    ):
        assert said(override, tree, [text]) == words


def test_json_has_finite_numbers_and_each_key_once(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('\ufeff{"a": [1, 2.5e3, null, true]}')
    assert read_json(path) == {"a": [1, 2500.0, None, True]}
    for text, words in (
        ("NaN", "s: not JSON: NaN is not a finite number"),
        ("[-Infinity]", "s: not JSON: -Infinity is not a finite number"),
        ("1e999", "s: not JSON: 1e999 is not a finite number"),
        ('{"a": {"b": 1, "c": 2, "b": 1}}', "s: not JSON: key 'b' is given twice"),
        ("[" * 60 + "]" * 60, f"s: more than {MAX_DEPTH} levels deep"),
        ("[" * 100_000, f"s: more than {MAX_DEPTH} levels deep"),
        ('{"a":' * 51 + "1" + "}" * 51, f"s: more than {MAX_DEPTH} levels deep"),
    ):
        assert said(parse_json, text, source="s") == words
    for count in (MAX_DEPTH, 1):
        assert parse_json("[" * count + "]" * count, source="s") is not None
    assert "longer than 32 MiB" in said(parse_json, " " * (MAX_TEXT + 1), source="s")


def test_a_preset_extends_another_and_never_itself(tmp_path):
    presets = Presets(tmp_path, "thing")
    for name, text in (
        ("base", "a: {x: 1, y: 2}\nb: [1]\n"),
        ("middle", "extends: base\na: {y: 3}\n"),
        ("top", "extends: middle\nb: [2, 3]\nc: 4\n"),
        ("loop", "extends: pool\n"),
        ("pool", "extends: loop\n"),
        ("own", "extends: own\n"),
        ("odd", "extends: [base]\n"),
    ):
        (tmp_path / f"{name}.yaml").write_text(text)
    assert presets.extended(tmp_path / "top.yaml") == {"a": {"x": 1, "y": 3}, "b": [2, 3], "c": 4}
    for name in ("loop", "own", "odd"):
        words = said(presets.extended, tmp_path / f"{name}.yaml")
        assert "key 'extends': the name of another thing is expected" in words
    assert presets.file_or_path(str(tmp_path / "top.yaml")) == tmp_path / "top.yaml"
    assert "unknown thing 'tip': did you mean top?" in said(presets.file_or_path, "tip")
    assert merged({"a": {"b": 1}}, {"a": 2}) == {"a": 2} and merged({"a": 2}, {"a": {"b": 1}}) == {
        "a": {"b": 1}
    }


def test_long_texts_are_parsed_as_short_ones():
    text = "a: 1e3\nb: '" + "x" * CACHED_TEXT + "'\n"
    assert parse_yaml(text, source="s")["a"] == 1000.0
    assert "found nothing: it is empty" in said(parse_mapping, "", source="s")
    assert "found [1]" in said(parse_mapping, "[1]", source="s")


def test_reasons_of_errors_are_those_of_files(tmp_path):
    assert reason_of(OSError(2, "No such file")) == "No such file"
    assert reason_of(MemoryError()) == "a length in it is larger than memory"
    for error in (KeyError("a"), TypeError("a"), AttributeError("a"), IndexError("a")):
        assert reason_of(error) == "its parts do not fit each other"
    assert (reason_of(ValueError("why")), reason_of(ValueError())) == ("why", "it is damaged")
    assert no_text(b"\x1f\x8b\x08") == "packed by gzip: unpack it" and no_text(b"a,b") is None
    assert (remedy_of_cut("1,2\n"), remedy_of_cut("1,2\r")) == ("", "")
    assert remedy_of_cut("1,2") == "; the file ends within this line: delete it"
    path = tmp_path / "a"
    path.write_bytes(b"1234")
    check_file(path, 4)
    assert said(check_file, path, 3) == f"{path}: cannot be read: longer than 0 MiB"
    assert MAX_LINE == 65536
