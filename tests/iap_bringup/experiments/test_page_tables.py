# SPDX-License-Identifier: BSD-3-Clause
"""Tables of pages: figures with their units and digits, where they are looked up, and what is refused."""

import json

import pytest
import yaml

from iap_bringup.experiments.page_tables import PageTables, Placeholder, load_figures, value_at
from iap_bringup.experiments.rows import Bar
from iap_description.errors import BadInput

TREE = {
    "vehicles": {"iap_2": {"position_rmse_m": 0.0123}},
    "rows": [{"a.b": 1.5, "a": {"c": 2.5}}, {"x": None}],
}
TEMPLATE = (
    "| what | by | error |\n| flight | {f} | {f.error:1 mm} |\n| share | | {f.rows.0:3g %} |\n"
)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("vehicles.iap_2.position_rmse_m", 0.0123),
        ("rows.0.a.b", 1.5),
        ("rows.0.a.c", 2.5),
        ("rows.1.x", None),
    ],
)
def test_a_figure_is_found_by_keys_and_indices_the_longest_key_first(path, value):
    assert value_at(TREE, path) == value


def test_a_bar_in_a_list_is_found_by_what_it_measures():
    bars = [
        Bar("force, N", 0.02, 0.03).figures,
        Bar("dockings, done", 20, 20, at_least=True).figures,
    ]
    assert value_at({"bars": bars}, "bars.dockings, done.measured") == 20
    assert value_at(bars, "force, N.bar") == "<= 0.03"
    with pytest.raises(BadInput, match="nothing is called 'torque'"):
        value_at(bars, "torque.bar")


@pytest.mark.parametrize(
    ("path", "name"), [("vehicles.iap_3.x", "iap_3"), ("rows.0.b", "b"), ("rows.1.x.y", "y")]
)
def test_a_figure_that_is_not_there_is_named_by_its_first_missing_part(path, name):
    with pytest.raises(BadInput, match=f"no figure '{path}': nothing is called '{name}'"):
        value_at(TREE, path)


@pytest.mark.parametrize(
    ("digits", "form", "unit", "value", "text"),
    [
        (1, "f", "mm", 0.01234, "12.3 mm"),
        (2, "f", "", 1.239, "1.24"),
        (0, "f", "%", 0.305, "30 %"),
        (1, "f", "mrad", 0.0021, "2.1 mrad"),
        (3, "g", "ms", 0.0123456, "12.3 ms"),
        (1, "e", "m", 3.2e-7, "3.2e-7 m"),
        (3, "t", "", 741417.0, "741 000"),
        (3, "t", "", 4885.04, "4 890"),
        (2, "t", "%", 0.304, "30 %"),
        (1, "f", "mm", 1e-6, "below 0.1 mm"),
        (1, "f", "mm", 0.0, "0.0 mm"),
        (1, "f", "N", [1.0, None, 2.25], "1.0, -, 2.2 N"),
        (1, "f", "m", None, "-"),
        (1, "f", "m", "completed", "completed"),
    ],
)
def test_a_value_has_its_digits_in_its_unit(digits, form, unit, value, text):
    assert Placeholder("run", "p", digits, form, unit).text(value) == text


def written(folder, **tables):
    for name, tree in tables.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(tree))
    return PageTables.load(folder)


def test_a_table_is_filled_with_the_figures_of_its_commands(tmp_path):
    tables = written(
        tmp_path, one={"commands": {"f": "run hover"}, "tables": {"errors": TEMPLATE}}
    )
    figures = {"run hover": {"error": 0.0123, "rows.0": 0.256}}
    assert tables.table("errors", figures) == (
        "| what | by | error |\n| flight | `./iap run hover` | 12.3 mm |\n| share | | 25.6 % |\n"
    )
    assert tables.paths() == {"run hover": ["error", "rows.0"]}
    with pytest.raises(
        BadInput, match="table 'errors': no figure 'rows.0': ./iap docs --figures 'run hover'"
    ):
        tables.table("errors", {"run hover": {"error": 1.0}})


def test_of_figures_side_by_side_the_last_one_has_the_unit(tmp_path):
    cells = "| {f.a:0 mm}, {f.b:0 mm} | {f.a:3 deg}, {f.b:3 deg}; {f.a:3 N}, {f.b:3 N m} |"
    tree = {"commands": {"f": "run hover"}, "tables": {"errors": cells}}
    figures = {"run hover": {"a": 0.111, "b": -0.053}}
    expected = "| 111, -53 mm | 0.111, -0.053 deg; 0.111 N, -0.053 N m |\n"
    assert written(tmp_path, one=tree).table("errors", figures) == expected


def test_names_of_tables_are_once_and_commands_known(tmp_path):
    one = {"commands": {"f": "run hover"}, "tables": {"errors": TEMPLATE}}
    with pytest.raises(BadInput, match="two.yaml: table 'errors' stands in another file, too"):
        written(tmp_path, one=one, two=one)
    (tmp_path / "two.yaml").unlink()
    with pytest.raises(BadInput, match="one.yaml: table 'errors': unknown command 'f'"):
        written(tmp_path, one={**one, "commands": {"g": "run hover"}})


def test_figures_are_by_command_and_none_without_their_file(tmp_path):
    assert load_figures(tmp_path) == {}
    (tmp_path / "figures.json").write_text(
        json.dumps({"run": {"figures": {"a": 1}, "version": "x"}})
    )
    assert load_figures(tmp_path) == {"run": {"a": 1}}
