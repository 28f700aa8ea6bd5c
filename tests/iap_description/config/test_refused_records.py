# SPDX-License-Identifier: BSD-3-Clause
"""Records whose values do not go together: what is refused, in which words, and where it begins to be."""

from typing import Any

import pytest

from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Record, override, validate
from iap_description.errors import BadInput
from iap_description.geometry.shapes import Shape
from iap_description.geometry.solids import Bulk, triangles
from iap_description.scenes.lighting import Weather
from iap_description.sensors.lens import Lens
from iap_description.sensors.sensor_info import load_sensors
from iap_description.vehicles.arm import ARMS, Arm
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.rotor import RotorModel
from iap_description.world.hinge import Hinge
from iap_description.world.objects import Board
from iap_description.world.obstacles import Trees
from iap_estimation.frontend.spec import PRESETS as FRONT_ENDS
from iap_estimation.frontend.spec import FrontendSpec
from iap_estimation.virpo.spec import VirpoSpec, load_spec
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.inertial.imu import Vibration
from iap_sensors.rays.lidar_spec import PRESETS as LIDARS
from iap_sensors.rays.lidar_spec import LidarSpec

BOARD: dict[str, Any] = {
    "type": "board", "position": [0.0, 0.0, 2.0], "width": 1.0, "height": 0.5, "thickness": 0.1,
    "hole": {"type": "socket", "radius": 0.04, "straight": 0.03, "fillet": 0.01},
    "surface": {"friction": 0.4, "restitution": 0.0},
}  # fmt: skip
TREES: dict[str, tuple[type[Record], dict[str, Any]]] = {
    "hinge": (Hinge, {"limits_deg": [-10.0, 90.0]}),
    "board": (Board, BOARD),
    "rotor": (RotorModel, load_platform("f450").aircraft.rotor.model_dump()),
    "arm": (Arm, read_yaml(ARMS.file_or_path("m100"))),
    "lidar": (LidarSpec, read_yaml(LIDARS.file_or_path(LIDARS.names()[0]))),
    "front end": (FrontendSpec, read_yaml(FRONT_ENDS.file_or_path("default"))),
}
TREES |= {
    "weather": (Weather, {}),
    "estimator": (VirpoSpec, load_spec().model_dump()),
    "autopilot": (
        AutopilotGains,
        {"rate_hz": 100.0, "attitude": [1.0] * 3, "rate": [1.0] * 3, "rotor_lead": 1.0},
    ),
    "vibration": (
        Vibration,
        {"gyro": 0.1, "accel": 0.1, "frequency": 50.0, "spread": 0.1, "lines": 1000},
    ),
}
THROUGH = {"type": "through", "radius": 0.04}


@pytest.mark.parametrize(
    ("record", "changes", "said"),
    [
        ("hinge", {"limits_deg": [0.0, 90.0]}, None),
        ("hinge", {"limits_deg": [-90.0, 0.0]}, None),
        ("hinge", {"limits_deg": [1.0, 90.0]}, r"key 'limits_deg': \[1.0, 90.0\] do not hold the angle 0"),
        ("hinge", {"limits_deg": [-9.0, -1.0]}, "do not hold the angle 0, at which it begins"),
        ("hinge", {"limits_deg": [0.0, 0.0]}, "do not hold the angle 0"),
        ("hinge", {"axis": [0.0, 0.0, 0.0]}, "key 'axis': it has no direction"),
        ("board", {}, None),
        ("board", {"hole.fillet": 0.03}, "key 'hole.fillet': 0.03 is not below the depth 0.03"),
        ("board", {"hole.fillet": 0.0299}, None),
        ("board", {"hole": {**THROUGH, "fillet": 0.1}}, "key 'hole.fillet': 0.1 is not below the depth 0.1"),
        ("board", {"hole": {**THROUGH, "fillet": 0.0999}}, None),
        ("board", {"hole": {**THROUGH, "radius": 0.25}}, "key 'hole.radius': 0.25 does not fit into the board"),
        ("board", {"hole": {**THROUGH, "radius": 0.249}}, None),
        ("board", {"hole": {**THROUGH, "radius": 0.24, "fillet": 0.01}}, "does not fit into the board"),
        ("board", {"thickness": 0.07}, "key 'thickness': 0.07 is not above the socket's depth 0.07"),
        ("board", {"thickness": 0.0701}, None),
        ("rotor", {"rpm_min": 9000.0, "rpm_max": 9000.0}, "key 'rpm_min': 9000.0 is not below rpm_max 9000.0"),
        ("rotor", {"rpm_min": 8999.0, "rpm_max": 9000.0}, None),
        ("arm", {"home": [0.1]}, "key 'home': one for each of 3 joints is needed, are 1"),
        ("arm", {"home": [0.0, 0.0, 0.0]}, None),
        ("arm", {"home": []}, None),
        ("lidar", {"elevation_deg": [-91.0, 10.0]}, r"key 'elevation_deg': \[lowest, highest\] within -90 and 90"),
        ("lidar", {"elevation_deg": [10.0, -10.0]}, "within -90 and 90 is expected"),
        ("lidar", {"elevation_deg": [-90.0, 90.0]}, None),
        ("lidar", {"azimuth_deg": [-180.0, 181.0]}, "at most 360 apart, is expected"),
        ("lidar", {"azimuth_deg": [10.0, 0.0]}, r"key 'azimuth_deg': \[first, last\], at most 360 apart"),
        ("lidar", {"azimuth_deg": [-180.0, 180.0]}, None),
        ("lidar", {"range_min": 5.0, "range_max": 5.0}, "key 'range_min': 5.0 m is not below 5.0 m"),
        ("lidar", {"range_min": 4.9, "range_max": 5.0}, None),
        ("front end", {"window": 10}, "key 'window': an odd number is needed"),
        ("front end", {"patch": 12}, "key 'patch': an odd number is needed"),
        ("front end", {"patch": 11, "border": 5}, "key 'border': a patch of 11 pixels needs more of it"),
        ("front end", {"patch": 11, "border": 6}, None),
        ("front end", {"window": 3}, "key 'window'"),
        ("front end", {"levels": 7}, "key 'levels'"),
        ("front end", {"grid": [1000, 1001]}, "key 'grid.1'"),
        ("lidar", {"channels": 1024, "columns": 1024}, None),
        ("lidar", {"channels": 1025, "columns": 1024}, "key 'channels': 1049600 beams in a turn"),
        ("lidar", {"rate": 9e-4}, "key 'rate'"),
        ("lidar", {"rate": 1e-3}, None),
        ("estimator", {"keyframes": 201}, "key 'keyframes'"),
        ("estimator", {"start.position": 1e7}, "key 'start.position'"),
        ("estimator", {"start.position": 1e-10}, "key 'start.position'"),
        ("board", {"width": 9e-6}, "key 'width'"),
        ("autopilot", {"rate_hz": 1e-30}, "key 'rate_hz'"),
        ("vibration", {"lines": 1001}, "key 'lines'"),
        ("weather", {"fog_height": 0.1, "visibility": 0.1}, None),
        ("weather", {"fog_height": 0.09}, "key 'fog_height'"),
        ("board", {"position": [0.0, 1.1e6, 0.0]}, "key 'position.1'"),
    ],
)  # fmt: skip
def test_values_that_do_not_go_together_are_refused_by_key(record, changes, said):
    kind, tree = TREES[record]
    for path, value in changes.items():
        *above, key = path.split(".")
        tree = {**tree, **({above[0]: {**tree[above[0]], key: value}} if above else {key: value})}
    if said is None:
        assert validate(kind, tree, source="test") is not None
    else:
        with pytest.raises(BadInput, match=f"test: {said}" if said.startswith("key") else said):
            validate(kind, tree, source="test")


@pytest.mark.parametrize(
    ("model", "D", "said"),
    [
        ("plumb_bob", [0.1, 0.2, 0.3], "src: plumb_bob needs 4 or 5 numbers in D, not"),
        ("plumb_bob", [0.1, 0.2, 0.3, float("nan")], "needs 4 or 5 numbers in D"),
        ("equidistant", [0.1] * 5, "needs 4 numbers in D"),
        ("fisheye62", [0.1] * 4, "distortion model 'fisheye62', but only"),
        ("rational_polynomial", [0.1] * 8, "distortion model 'rational_polynomial', but only"),
    ],
)
def test_numbers_that_no_lens_has_are_refused(model, D, said):
    with pytest.raises(BadInput, match=said):
        Lens.of(model, D, source="src")


@pytest.mark.parametrize(
    ("model", "D", "expected"),
    [
        ("plumb_bob", [], [0.0] * 5),
        ("plumb_bob", [0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4, 0.0]),
        ("plumb_bob", [0.1, 0.2, 0.3, 0.4, 0.5, 0.0, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("rational_polynomial", [0.1, 0.2, 0.3, 0.4, 0.5, 0, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("equidistant", [0.1, 0.2, 0.3, 0.4, 0.0], [0.1, 0.2, 0.3, 0.4]),
    ],
)
def test_a_lens_has_its_own_number_of_coefficients(model, D, expected):
    assert Lens.of(model, D, source="src").D.tolist() == expected


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("a.*.x=1", "--set: key 'a': no list"),
        ("b.0.*.c=1", "key 'b.0': no list, so that . stands"),
    ],
)
def test_a_star_stands_for_entries_of_a_list_alone(path, said):
    with pytest.raises(BadInput, match=said):
        override({"a": {"x": 1}, "b": [{"c": 2}]}, [path])
    assert override({"b": [{"c": 1}, {"c": 2}]}, ["b.*.c=7"]) == {"b": [{"c": 7}, {"c": 7}]}


def test_what_is_not_made_of_triangles_has_none_and_a_capsule_no_mass():
    with pytest.raises(TypeError, match="a sphere is not made of triangles"):
        triangles(Shape(shape="sphere", radius=1.0))
    with pytest.raises(TypeError, match="a capsule has no mass of its own"):
        Bulk.of([Shape(shape="capsule", radius=0.1, length=1.0)])


def test_obstacles_are_drawn_from_a_seed_that_is_known():
    shipped = Trees.model_construct(seed=None, count=3)
    with pytest.raises(BadInput, match="key 'seed': the seed of 3 obstacles is still open"):
        _ = shipped.dice
    dice = [Trees.model_construct(seed=s, count=3).dice.random() for s in (1, 1, 2)]
    assert dice[0] == dice[1] != dice[2]


def test_a_file_of_sensors_that_is_not_there_is_named(tmp_path):
    gone = tmp_path / "gone.yaml"
    with pytest.raises(
        BadInput, match="sensors: .*gone.yaml.*; a readable file of sensors is expected"
    ):
        load_sensors(str(gone), source="sensors")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"mount": "a", "position": (0.0, 0.0, 0.0), "rpy_deg": (0.0, 0.0, 0.0)}, "on a mount has no 'position'"),
        ({"position": (0.0, 0.0, 0.0)}, "'position' and 'rpy_deg' come together or not at all"),
        ({"rpy_deg": (0.0, 0.0, 0.0)}, "come together or not at all"),
        ({"mount": "a"}, None),
        ({"position": (0.0, 0.0, 0.0), "rpy_deg": (0.0, 0.0, 0.0)}, None),
    ],
)  # fmt: skip
def test_a_camera_has_one_place(more, said):
    more = {"outputs": ("mono8",), **more}
    if said is None:
        assert CameraSpec.for_pictures((64, 48), 1.0, **more) is not None
    else:
        with pytest.raises(ValueError, match=said):
            CameraSpec.for_pictures((64, 48), 1.0, **more)
