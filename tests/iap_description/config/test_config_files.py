# SPDX-License-Identifier: BSD-3-Clause
"""Files of parameters, presets and classes named in them: what is read, and what is refused in one line."""

import gzip
import sys
import time

import pytest
from refusals import refusal

from iap_description.config.plain_yaml import MAX_DEPTH, parse_yaml, read_yaml, yaml_text
from iap_description.config.plugins import load_class
from iap_description.config.record import Presets, merged, override
from iap_description.config.text_files import MAX_LINE, read_text, table_lines
from iap_description.errors import MAX_ERROR_CHARACTERS, BadInput

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
)
METHODS = ("reset", "__call__")
BUILT_IN = {"mine": "own_module:Good"}


def refused(text: str) -> str:
    line = refusal(parse_yaml, text, source="mine.yaml")
    assert (
        line.startswith("mine.yaml: ")
        and "\n" not in line
        and len(line) < MAX_ERROR_CHARACTERS + 10
    )
    return line


def test_a_tree_that_its_caller_changes_is_read_anew_as_it_is_written():
    first = parse_yaml("a: {b: [1]}", source="a.yaml")
    first["a"]["b"].append(2)
    assert parse_yaml("a: {b: [1]}", source="a.yaml") == {"a": {"b": [1]}}


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
        assert "alias" in refused(text)
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
    ],
)
def test_a_value_that_is_not_of_its_kind_is_named_with_its_line(text: str, kind: str) -> None:
    line = refused(f"b: 1\n{text}")
    assert f"is no {kind}" in line and "line 2" in line


@pytest.mark.parametrize(
    "text", ["!!map [1]", "{[1]: 2}", "? {a: 1}\n: 2", "!!python/object:os.system {}"]
)
def test_what_is_no_mapping_or_no_key_is_refused(text: str) -> None:
    refused(text)


def test_a_list_is_no_key() -> None:
    assert "unhashable key" in refused("{? [a] : 1}")


def test_bytes_of_the_command_line_that_are_no_text_are_refused() -> None:
    assert refused("name: a\udcd0b") == "mine.yaml: not a text in UTF-8"


def test_tags_and_merge_keys_are_refused_with_the_remedy() -> None:
    assert "keys are not merged (<<): write them out" in refused("a: &a {b: 1}\n<<: *a\n")
    assert "tag '!env' is not read: leave it out" in refused("a: !env HOME\n")
    for kind, value in (
        ("binary", "aGk="),
        ("timestamp", "2024-05-01"),
        ("set", "{x}"),
        ("omap", "[{x: 1}]"),
    ):
        assert f"tag '{kind}' is not read" in refused(f"a: !!{kind} {value}\n")


def test_a_key_given_twice_is_named() -> None:
    assert "key 'a' is given twice" in refused("a: 1\nb: 2\na: 3\n")


def test_a_key_that_yaml_takes_for_a_switch_is_named_as_it_is_written() -> None:
    assert "key 'on' is true in YAML: put it in quotes" in refused("a: 1\nb: {on: 2}\n")
    assert "key 'No' is false in YAML: put it in quotes" in refused("No: 1\n")


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "{a: " * 100_000])
def test_what_is_too_deep_is_refused_before_it_is_made(text: str) -> None:
    assert f"more than {MAX_DEPTH} levels deep" in refused(text)


def test_aliases_cannot_make_more_of_a_text_than_there_is_room_for() -> None:
    begin = time.process_time()
    assert "values" in refused(LAUGHS)
    assert time.process_time() - begin < 1.0


def test_an_alias_of_what_it_is_part_of_is_refused() -> None:
    assert "'*a' is part of what it stands for" in refused("b: &a [*a]")


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


@pytest.fixture(autouse=True)
def own_module(tmp_path, monkeypatch):
    methods = "def reset(self): pass\n    def __call__(self): pass"
    classes = {"Good": methods, "Bare": "reset = 1", "Quiet": "def reset(self): pass"}
    text = "".join(f"class {name}:\n    {body}\n" for name, body in classes.items())
    (tmp_path / "own_module.py").write_text(text)
    (tmp_path / "broken_module.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize("name", ["mine", "own_module:Good"])
def test_a_class_is_found_by_its_short_name_and_by_its_module(name):
    assert load_class(name, METHODS, key="a.b", built_in=BUILT_IN).__name__ == "Good"


def test_a_module_is_found_in_the_present_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [entry for entry in sys.path if entry != str(tmp_path)])
    (tmp_path / "here_only.py").write_text("class Own:\n    def reset(self): pass\n")
    monkeypatch.chdir(tmp_path)
    assert load_class("here_only:Own", ["reset"], key="a.b").__name__ == "Own"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("other", "key 'a.b': unknown name 'other': choose mine (or module:Class)"),
        ("no_such:X", "key 'a.b': module 'no_such' cannot be imported: ModuleNotFoundError: "),
        ("broken_module:X", "'broken_module' cannot be imported: ZeroDivisionError: division by"),
        ("own_module:Missing", "key 'a.b': module 'own_module' has no class 'Missing'"),
        ("own_module:Bare", "key 'a.b': class 'own_module:Bare' has no method 'reset'"),
        ("own_module:Quiet", "key 'a.b': class 'own_module:Quiet' has no method '__call__'"),
    ],
)
def test_what_is_no_such_class_is_refused_in_one_line(name, message):
    line = refusal(load_class, name, METHODS, key="a.b", built_in=BUILT_IN)
    assert message in line


def test_lines_keep_their_numbers(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("\ufeff# time\n\n1, 2\n  # more\n3, 4\n", encoding="utf-8")
    assert list(table_lines(path)) == [(3, "1, 2\n"), (5, "3, 4\n")]
    assert read_text(path).startswith("# time")


def test_what_is_no_text_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xff\xfe\x00")
    for missing in (path, tmp_path / "none.csv"):
        with pytest.raises(BadInput, match=f"{missing.name}: cannot be read"):
            read_text(missing)


def test_zero_bytes_in_a_table_are_named_by_what_has_made_them(tmp_path):
    path = tmp_path / "table.csv"
    for data, said in (
        ("1, 2\n3, 4\n".encode("utf-16-le"), "as of text in UTF-16: save it in UTF-8"),
        (b"1, 2\n" + bytes(900), "line 2: zero bytes alone, .* never written out: copy it again"),
        (bytes(MAX_LINE + 5), "line 1: zero bytes alone"),
    ):
        path.write_bytes(data)
        with pytest.raises(BadInput, match=said):
            list(table_lines(path))


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        ("duration: 1.0".encode("utf-16"), "text in UTF-16: save it in UTF-8"),
        (gzip.compress(b"duration: 1.0", mtime=0), "packed by gzip: unpack it"),
        (b"PK\x03\x04\xff", "a zip archive: unpack it"),
        (b"angle: 5 \xb0", "byte 0xb0 is no text in UTF-8: save it in UTF-8"),
    ],
)
def test_what_is_no_text_is_recognised_by_its_first_bytes(data, remedy, tmp_path):
    path = tmp_path / "scenario.yaml"
    path.write_bytes(data)
    with pytest.raises(BadInput, match=f"scenario.yaml: cannot be read: {remedy}$"):
        read_text(path)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plain.yaml").write_text("rate: 10.0\nnoise: {gyro: 1.0, accel: 2.0}\n")
    (tmp_path / "loud.yaml").write_text("noise: {gyro: 5.0}\n")
    return tmp_path


def test_a_preset_is_its_file(folder):
    presets = Presets(folder, "unit")
    assert presets.names() == ["loud", "plain"]
    assert presets.tree("loud") == {"noise": {"gyro": 5.0}}
    assert presets.file_or_path("loud") == presets.file("loud") == folder / "loud.yaml"
    assert presets.file_or_path(str(folder / "plain.yaml")) == folder / "plain.yaml"


def test_a_preset_with_a_base_is_laid_over_it(folder):
    presets = Presets(folder, "unit", base="plain")
    assert presets.tree("loud") == {"rate": 10.0, "noise": {"gyro": 5.0, "accel": 2.0}}
    assert presets.tree("plain") == {"rate": 10.0, "noise": {"gyro": 1.0, "accel": 2.0}}


def test_unknown_presets_are_refused_with_the_known_ones(folder):
    presets = Presets(folder, "unit")
    with pytest.raises(BadInput, match=r"no unit 'quiet': choose loud, plain"):
        presets.tree("quiet")
    with pytest.raises(BadInput, match="unknown unit 'quiet': choose loud, plain .or the path"):
        presets.file_or_path("quiet")


def test_merging_leaves_both_trees_as_they_are():
    base, over = {"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"c": 3}, "d": [2]}
    assert merged(base, over) == {"a": {"b": 1, "c": 3}, "d": [2]}
    assert base == {"a": {"b": 1, "c": 2}, "d": [1]} and over == {"a": {"c": 3}, "d": [2]}
