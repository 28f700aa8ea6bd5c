# SPDX-License-Identifier: BSD-3-Clause
"""The sensors of a rig together: who is sampled when, what begins anew, what is handed over, and a rig's own text."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import scenario_of
from small_scenes import rectangle, scene

from iap_description.errors import BadInput
from iap_sensors.cameras.geometry import Geometry
from iap_sensors.mounted.rig_spec import RigSpec
from iap_sensors.mounted.rig_state import RigState
from iap_sensors.mounted.sensor_suite import SensorSuite
from iap_simulation.scenario.rig_spec import rig_spec


@pytest.fixture(scope="module")
def rig() -> RigSpec:
    return rig_spec(
        scenario_of(
            "hover", "sensors.magnetometer=null", "sensors.uwb.rate=40.0", sensors="imu,uwb"
        )
    )


def state_of(suite: SensorSuite) -> RigState:
    rows = np.zeros((suite.vehicles[-1].rows.stop, 13))
    rows[:, 6], rows[:, 2] = 1.0, np.arange(len(rows))
    return RigState(rows, np.zeros((0, 13)))


def test_a_rig_is_read_from_its_text_and_from_a_file(rig: RigSpec, tmp_path: Any) -> None:
    assert RigSpec.read(rig.text, source="here") == rig
    path = tmp_path / "rig.yaml"
    path.write_text(rig.text)
    assert RigSpec.read(str(path), source="here") == rig
    with pytest.raises(
        BadInput, match="^here: a rig is needed, as YAML text or as the path of a file$"
    ):
        RigSpec.read("", source="here")
    with pytest.raises(BadInput, match="^here: "):
        RigSpec.read("seed: 1\nworld: 2\n", source="here")


def test_what_there_is_has_descriptions_and_nothing_is_empty(rig: RigSpec) -> None:
    suite = SensorSuite(rig)
    assert not suite.is_empty and not suite.has_cameras
    aircraft = len(rig.vehicles[0].assembly.aircraft)
    topics = [each.topic for each in suite.infos]
    assert len(topics) == len(set(topics)) == (1 + aircraft) + aircraft
    assert topics[0] == "/iap/imu" and topics[-1].endswith("/uwb")
    bare = rig.vehicles[0].model_copy(update={"sensors": rig.vehicles[0].sensors.model_copy(
        update={"imu": None, "uwb": None})})  # fmt: skip
    empty = SensorSuite(rig.model_copy(update={"vehicles": (bare,)}))
    assert empty.is_empty and empty.infos == () and empty.notes == []


def test_rows_of_several_vehicles_follow_each_other() -> None:
    suite = SensorSuite(rig_spec(scenario_of("two_platforms", sensors="uwb")))
    first, second = suite.vehicles
    assert first.rows.start == 0 and second.rows.start == first.rows.stop
    assert second.rows.stop - second.rows.start == first.rows.stop
    assert first.inertial is None and list(first.mounted) == ["uwb"] and len(first.kinds) == 1


def test_rates_that_are_not_what_was_asked_for_are_noted_once() -> None:
    rates = [f"vehicles.{i}.sensors.uwb.rate=7.0" for i in (0, 1)]
    suite = SensorSuite(rig_spec(scenario_of("two_platforms", *rates, sensors="uwb")))
    (note,) = suite.notes
    assert note.startswith("uwb: ") and "instead of 7 Hz" in note


def test_readings_are_handed_to_every_sink_when_they_are_due(rig: RigSpec) -> None:
    suite = SensorSuite(rig)
    vehicle, state = suite.vehicles[0], state_of(suite)
    taken: list[list[Any]] = [[], []]
    suite.begin(state.rows, [SimpleNamespace(receive=each.append) for each in taken])  # type: ignore[misc]
    assert vehicle.inertial is not None
    count = len(vehicle.inertial.units)
    ideal: Any = SimpleNamespace(
        ticks=np.array([3]),
        w_WS_S=np.zeros((1, count, 3)),
        f_S=np.tile([0.0, 0.0, 9.81], (1, count, 1)),
    )
    every = vehicle.mounted["uwb"].sampling.every
    assert every > 1
    suite.sample(every, 1.0, state, [ideal])
    assert len(taken[0]) == 2 * count - 1 and [*map(id, taken[0])] == [*map(id, taken[1])]
    suite.sample(every + 1, 1.1, state, [ideal])
    assert len(taken[0]) == 3 * count - 1
    suite.sample(2 * every, 2.0, state, [None])
    assert len(taken[0]) == 3 * count - 1 + count - 1


def test_a_run_that_begins_anew_has_the_same_noise(rig: RigSpec) -> None:
    suite = SensorSuite(rig)
    state = state_of(suite)

    def ranges() -> Any:
        taken: list[Any] = []
        suite.begin(state.rows, [SimpleNamespace(receive=taken.append)])  # type: ignore[list-item]
        suite.sample(0, 0.0, state, [None])
        return np.concatenate([each.ranges for each in taken])

    first = ranges()
    np.testing.assert_array_equal(first, ranges())
    assert suite.vehicles[0].rows == slice(0, len(state.rows))


def test_what_depends_on_rays_or_cameras_needs_the_objects_when_it_is_due(rig: RigSpec) -> None:
    suite = SensorSuite(rig)
    vehicle = suite.vehicles[0]
    assert not any(suite.needs_objects(k) for k in range(50))
    vehicle.mounted = {"a": SimpleNamespace(needs_rays=True, sampling=SimpleNamespace(is_due=lambda k: k % 3 == 0)),
                       "b": SimpleNamespace(needs_rays=False, sampling=SimpleNamespace(is_due=lambda k: True))}  # type: ignore[dict-item] # fmt: skip
    assert [vehicle.needs_rays(k) for k in range(4)] == [True, False, False, True]
    assert [suite.needs_objects(k) for k in range(4)] == [True, False, False, True]
    camera = SimpleNamespace(sampling=SimpleNamespace(is_due=lambda k: k == 1))
    suite.cameras = SimpleNamespace(cameras=[camera])  # type: ignore[assignment]
    assert [suite.needs_objects(k) for k in range(4)] == [True, True, False, True]


def test_parts_of_a_scene_and_bodies_are_one_geometry() -> None:
    corners = [[0, 0, 0], [1, 0, 0], [1, 2, 0], [0, 2, 0]]
    floor = rectangle("floor", corners, texture="tiles", label=3)
    plain = rectangle("plain", np.add(corners, [0, 0, 5]), color=(0.1, 0.2, 0.3, 0.4), label=4)
    body = rectangle("body", corners, label=9)
    image = np.zeros((2, 2, 3), np.uint8)
    made = Geometry.of(scene(floor, plain, textures={"wood": image, "tiles": image}), [[], [body]])
    assert made.layers == ("", "wood", "tiles") and made.static == 8
    assert made.rows.tolist() == [-1, -1, 1] and made.firsts.tolist() == [0, 2, 4, 6]
    assert made.owners.tolist() == [-1] * 8 + [1] * 4
    assert made.faces[2].tolist() == [4, 5, 6] and made.faces[5].tolist() == [8, 10, 11]
    assert made.attributes["layer"].tolist() == [2.0] * 4 + [0.0] * 8
    assert made.attributes["label"].tolist() == [3.0] * 4 + [4.0] * 4 + [9.0] * 4
    np.testing.assert_allclose(made.attributes["color"][4], [0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(made.opacity, [1.0, 0.4, 1.0])
    np.testing.assert_allclose(made.corners[6], [1.0, 2.0, 5.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(made.spheres[1], [0.5, 1.0, 5.0, 0.5 * np.sqrt(5.0)], rtol=1e-6)
    with pytest.raises(BadInput, match="^part 'floor': the scene has no texture 'tiles'$"):
        Geometry.of(scene(floor), [])
    assert Geometry.of(scene(), []).faces.shape == (0, 3)
