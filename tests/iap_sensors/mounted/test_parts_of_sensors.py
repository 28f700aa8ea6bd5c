# SPDX-License-Identifier: BSD-3-Clause
"""Parts of sensors by numbers: records of presets, what units note, lines of sight of tags, and faults."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import scenario_of

from iap_description.errors import BadInput
from iap_sensors.mounted import inertial_units, sensor_presets, uwb
from iap_sensors.mounted.faulty_sensors import FaultySensors, _stream, _topics
from iap_sensors.mounted.motion_capture import capture_bias

# records


def test_a_preset_is_filled_in_by_its_name_or_below_what_is_given() -> None:
    asked: list[str] = []

    def preset(name: str) -> dict[str, Any]:
        asked.append(name)
        return {"rate": 10.0, "noise": 1.0}

    fill = sensor_presets._filled_in
    assert fill("mems", preset) == {"rate": 10.0, "noise": 1.0}
    assert fill({"preset": "good", "noise": 0.5}, preset) == {"rate": 10.0, "noise": 0.5}
    assert asked == ["mems", "good"]
    for plain in ({"noise": 0.5}, {"preset": 3}, None, 7):
        assert fill(plain, preset) == plain
    assert len(asked) == 2


def test_two_mappings_are_one_and_anything_else_takes_the_place_of_the_first() -> None:
    both = sensor_presets._both
    assert both({"a": 1, "b": 2}, {"b": 3}) == {"a": 1, "b": 3}
    assert both({"a": 1}, [2]) == [2] and both([1], {"a": 2}) == {"a": 2}


def test_sets_are_named_with_commas_and_none_is_nothing() -> None:
    names = sensor_presets.set_names()
    assert names == sorted(names) and {"none", "stereo", "uwb", "imu"} <= set(names)
    first, second = sensor_presets._named_sets(" none , uwb", "here")
    assert first == {} and second == sensor_presets.SETS.tree("uwb")
    with pytest.raises(
        BadInput, match=r"^here: no sensors 'none such': .* \(or several with commas\)$"
    ):
        sensor_presets._named_sets("uwb, none such", "here")


def test_effects_of_a_camera_are_on_top_of_those_of_its_preset() -> None:
    preset = next(
        name for name in sensor_presets.camera_spec.PRESETS.names()
        if isinstance(sensor_presets.camera_spec.PRESETS.tree(name).get("effects"), dict)
    )  # fmt: skip
    effects = sensor_presets.camera_spec.PRESETS.tree(preset)["effects"]
    first = next(iter(effects))
    tree = sensor_presets._camera_tree({"preset": preset, "effects": {first: None, "mine": 1}})
    assert isinstance(tree, dict)
    assert tree["effects"] == {**effects, first: None, "mine": 1}
    assert sensor_presets._camera_tree({"preset": preset, "effects": None})["effects"] is None  # type: ignore[index]
    assert sensor_presets.cameras_tree({"a": preset}) == {
        "a": sensor_presets.camera_spec.PRESETS.tree(preset)
    }
    assert sensor_presets.cameras_tree([1]) == [1]


def test_a_kind_that_is_unknown_or_wrong_is_refused_by_its_key() -> None:
    assert sensor_presets._checked("barometer", None) is None
    with pytest.raises(ValueError, match="sonar"):
        sensor_presets._checked("sonar", {})
    with pytest.raises(ValueError, match=r"barometer\.rate"):
        sensor_presets._checked("barometer", {"rate": "fast"})
    tree = {"preset": "x"}
    with pytest.raises(BadInput):
        sensor_presets.sensors_tree({"barometer": tree}, "here")


def test_all_sensors_that_there_are_have_topics() -> None:
    spec = scenario_of("hover", sensors="stereo,uwb").vehicles[0].sensors
    assert set(spec.mounted) == {"uwb"}
    assert spec.topics[0] == "imu" and "uwb" in spec.topics
    assert [each for each in spec.topics if each in spec.cameras] == list(spec.cameras)
    assert ("mag" in spec.topics) == (spec.magnetometer is not None)


# inertial units


def test_a_filter_that_expects_better_gyroscopes_is_noted() -> None:
    def notes(bias: float, rate: float = 200.0, note: str = "") -> list[str]:
        units = inertial_units.InertialUnits.__new__(inertial_units.InertialUnits)
        units._field_sampling = SimpleNamespace(note=note)  # type: ignore[assignment]
        units._imu = SimpleNamespace(rate=rate, gyro=SimpleNamespace(bias=bias))  # type: ignore[assignment]
        units._attitude, units.rate, units._every = SimpleNamespace(bias=0.01), 200.0, 5  # type: ignore[assignment]
        return units._notes()

    assert notes(0.0199) == []
    (said,) = notes(0.0201)
    assert said.startswith(
        "attitude: it expects gyroscopes to begin with a bias of 0.01 rad/s, and imu"
    )
    assert notes(0.0, rate=190.0, note="magnetometer: slow") == [
        "magnetometer: slow", "imu: 200 Hz instead of 190 Hz, one of every 5 physics steps",
    ]  # fmt: skip


# tags, markers and faults


def test_tags_range_to_all_but_themselves() -> None:
    tags = uwb.UwbTags.__new__(uwb.UwbTags)
    tags._anchors_W = np.array([[9.0, 9.0, 9.0]])
    places = np.array([[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]])
    for between, x in ((True, [9.0, 0.0, 2.0]), (False, [9.0])):
        tags.spec = SimpleNamespace(between_aircraft=between, obstruction=None)
        assert tags._partners(1, places)[:, 0].tolist() == x
    counts = [np.zeros((2, 3)), np.zeros((3, 3))]
    assert [each.tolist() for each in tags._clear(places[:2], counts, None)] == [
        [True] * 2,
        [True] * 3,
    ]
    tags.spec = SimpleNamespace(between_aircraft=True, obstruction=1)
    assert tags.needs_rays
    caster: Any = SimpleNamespace(
        ray_cast=lambda a, b, world_only: np.array([1.0, 0.5, 1.0, 1.0, 0.2])
    )
    assert [each.tolist() for each in tags._clear(places[:2], counts, caster)] == [
        [True, False], [True, True, False],
    ]  # fmt: skip


def test_a_line_of_sight_leaves_out_a_tenth_of_a_metre_at_both_ends() -> None:
    lines_: list[Any] = []

    def cast(starts: Any, ends: Any, world_only: bool) -> Any:
        lines_.append((starts, ends, world_only))
        return np.array([1.0, 0.99, 1.0])

    starts, ends = np.zeros((3, 3)), np.array([[2.0, 0, 0], [0.1, 0, 0], [0.0, 0, 0]])
    free = uwb.clear_lines(SimpleNamespace(ray_cast=cast), starts, ends)  # type: ignore[arg-type]
    assert free.tolist() == [True, False, True]
    np.testing.assert_allclose(lines_[0][0][:, 0], [0.1, 0.05, 0.0])
    np.testing.assert_allclose(lines_[0][1][:, 0], [1.9, 0.05, 0.0])
    assert lines_[0][2] is True


def test_what_markers_are_off_is_drawn_by_topic_and_seed() -> None:
    none: Any = SimpleNamespace(position_bias=0.0)
    assert capture_bias(none, "/a", 1).tolist() == [0.0, 0.0, 0.0]
    one: Any = SimpleNamespace(position_bias=0.01)
    two: Any = SimpleNamespace(position_bias=0.02)
    first = capture_bias(one, "/a", 1)
    np.testing.assert_allclose(capture_bias(two, "/a", 1), 2.0 * first)
    assert (capture_bias(one, "/b", 1) != first).all() and (
        capture_bias(one, "/a", 2) != first
    ).all()


def test_a_fault_strikes_the_sensor_of_one_aircraft_or_of_all_bodies() -> None:
    bodies = [SimpleNamespace(name=name) for name in ("base_link", "one", "two")]
    assembly = SimpleNamespace(name="iap", aircraft=[1, 2], bodies=bodies)
    vehicle: Any = SimpleNamespace(assembly=assembly)
    of_two: Any = SimpleNamespace(aircraft=2, sensor="imu")
    assert _topics(vehicle, of_two) == ["/iap/two/imu"]
    of_all: Any = SimpleNamespace(aircraft=None, sensor="imu")
    assert _topics(vehicle, of_all) == ["/iap/imu", "/iap/one/imu", "/iap/two/imu"]
    source = SimpleNamespace(topic="/a")
    assert _stream(SimpleNamespace(source=source, encoding="mono8")) == ("/a", "mono8")  # type: ignore[arg-type]
    assert _stream(SimpleNamespace(source=source)) == ("/a", "")  # type: ignore[arg-type]
    rig: Any = SimpleNamespace(vehicles=[SimpleNamespace(faults=())])
    readings: Any = [1, 2]
    assert FaultySensors(rig)(readings) is readings
