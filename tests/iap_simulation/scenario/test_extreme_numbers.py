# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of a resolved scenario that nobody means: refused by the name of their key, or flown to a named end."""

import copy
import json
import math
from random import Random
from typing import Annotated, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel
from refusals import refusal

from iap_bringup.cli.main import main
from iap_description.config.plain_yaml import yaml_text
from iap_description.errors import BadInput
from iap_simulation.scenario.resolving import Options, resolve, scenario_of
from iap_simulation.scenario.scenario import Scenario

NO_NUMBERS = (math.nan, math.inf, -math.inf, True, "x", [1.0, 2.0], {"a": 1.0})
EXTREMES = (0.0, -1.0, 1e-300, -1e-300, 1e300, -1e300, 2**70)
SAMPLE, FLIGHTS = 40, 12  # keys of a scenario that a test tries


def numbers(tree, path=()):
    """Paths of all numbers of a tree, in lists of the first one alone."""
    for key, value in tree.items() if isinstance(tree, dict) else list(enumerate(tree))[:1]:
        if isinstance(value, dict | list):
            yield from numbers(value, (*path, key))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield (*path, key)


def changed(tree, path, value):
    """The tree with another value at a path."""
    out = copy.deepcopy(tree)
    parent = out
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return out


def last_key(path):
    """The name of the key that holds a number, also one in a list."""
    return [each for each in path if isinstance(each, str)][-1]


def trees():
    """Resolved scenarios of several kinds."""
    for name, options in (
        ("hover", Options(sensors="imu,uwb,lidar", engine="closed_form")),
        ("wall_push", Options()),
        ("docking", Options()),
        ("module_hover", Options()),
    ):
        yield name, resolve(name, options)[1]


def loose_numbers(record, seen):
    """Fields of a record, and of those within it, whose numbers may be infinite or none."""
    if record in seen:
        return
    seen.add(record)
    hints = get_type_hints(record, include_extras=True)
    for name, field in record.model_fields.items():
        yield from _loose(hints[name], tuple(field.metadata), f"{record.__name__}.{name}", seen)


def _loose(kind, marks, name, seen):
    if get_origin(kind) is Annotated:
        kind, *more = get_args(kind)
        each = [getattr(mark, "metadata", [mark]) for mark in more]
        marks = (*marks, *(mark for part in each for mark in part))
    if kind is float:
        bounds = {key for mark in marks for key in ("ge", "gt", "le", "lt") if hasattr(mark, key)}
        is_finite = any(getattr(mark, "allow_inf_nan", None) is False for mark in marks)
        if not is_finite and not (bounds & {"ge", "gt"} and bounds & {"le", "lt"}):
            yield name
    elif isinstance(kind, type) and get_origin(kind) is None and issubclass(kind, BaseModel):
        yield from loose_numbers(kind, seen)
    for part in get_args(kind):
        yield from _loose(part, (), name, seen)


def test_no_number_of_a_scenario_may_be_infinite_or_none():
    crosses_any_gap = "Replay.bridge"
    assert list(loose_numbers(Scenario, set())) == [crosses_any_gap]


def test_what_is_no_number_is_refused_by_the_name_of_its_key():
    rng = Random(1)
    for name, tree in trees():
        for path in rng.sample(list(numbers(tree)), SAMPLE):
            value = rng.choice(NO_NUMBERS)
            text = refusal(scenario_of, changed(tree, path, value), name)
            assert "\n" not in text and last_key(path) in text, (path, value, text)


def test_a_body_of_thousands_of_shapes_is_refused():
    """A minute passed before such a flight began."""
    name, tree = next(trees())
    shapes = tree["platform"]["center"]["visual"] * 1000
    with pytest.raises(BadInput, match=r"platform\.center\.visual.*at most 500"):
        scenario_of(changed(tree, ("platform", "center", "visual"), shapes), name)


def test_a_key_of_the_only_vehicle_is_named_as_the_file_has_it():
    tree = resolve("hover", Options(engine="closed_form"))[1]
    text = refusal(scenario_of, changed(tree, ("reference", "rpy_dag"), 1.0), "hover")
    assert "did you mean reference.rpy_deg?" in text and "vehicles" not in text


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("reference.rpy_deg", [0.0, 0.0, 1e15]),  # a recording has no such angle
        ("wind.altitude", 305.0),  # 1000 ft: gusts have another form above
        ("wind.direction_deg", -4e5),
    ],
)
def test_angles_and_heights_beyond_all_flights_are_refused_before_take_off(key, value):
    tree = resolve("hover", Options(engine="closed_form"))[1]
    text = refusal(scenario_of, changed(tree, key.split("."), value), "hover")
    assert key in text and "than or equal to" in text


@pytest.mark.slow
def test_extreme_numbers_are_refused_by_name_or_flown_to_an_end_with_a_name(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng = Random(2)
    tree = resolve("hover", Options(engine="closed_form", duration=0.2))[1]
    for path in rng.sample(list(numbers(tree)), FLIGHTS):
        value = rng.choice(EXTREMES)
        (tmp_path / "s.yaml").write_text(yaml_text(changed(tree, path, value)))
        code = main(["run", "s.yaml", "--json", "--no-plot", "--no-view"])
        said, complaint = capsys.readouterr()
        figures = json.loads(said, parse_constant=pytest.fail)
        assert code in (0, 1, 2), (path, value, complaint)
        if code == 2:
            assert complaint.count("\n") == 1, (path, value, complaint)
        elif code == 1:
            assert figures["outcome"] != "completed", (path, value)
        else:
            assert figures["position_rmse_m"] < 10.0, (path, value)
