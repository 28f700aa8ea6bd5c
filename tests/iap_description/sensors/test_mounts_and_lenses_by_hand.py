# SPDX-License-Identifier: BSD-3-Clause
"""Mounts of sensors, readings, descriptions of sensors and lenses by numbers that are worked out by hand."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors import mounts
from iap_description.sensors.fisheye_models import (
    distort_double_sphere,
    distort_equidistant,
    fault_double_sphere,
    magnification_double_sphere,
    undistort_double_sphere,
    undistort_equidistant,
)  # fmt: skip
from iap_description.sensors.lens import (
    MODELS,
    PLUMB_BOB,
    Lens,
    check_coefficients,
    distort_plumb_bob,
    lens_model,
    undistort_plumb_bob,
)  # fmt: skip
from iap_description.sensors.readings import Reading, SensorSource
from iap_description.sensors.sensor_info import (
    CameraSensorInfo,
    FixedFrame,
    ImuInfo,
    OtherSensorInfo,
    load_sensors,
    sensors_text,
)  # fmt: skip
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform

STAR = Assembly.of(load_platform("three_star"), "pad")
HALF = np.sqrt(0.5)
PLACE = {
    "frame": "pad/imu",
    "parent": "pad/drone_1",
    "p_BS_B": (1.0, 2.0, 3.0),
    "q_BS": (0.0, 0.0, 0.0, 1.0),
}


def test_a_sensor_has_the_namespace_of_its_body():
    assert [mounts.space(STAR, k) for k in (0, 2)] == ["/pad", "/pad/drone_2"]
    units = mounts.imu_mounts(STAR)
    assert [each.body for each in units] == [0, 1, 2, 3]
    assert [each.source.topic for each in units] == [
        "/pad/imu",
        *(f"/pad/drone_{k}/imu" for k in (1, 2, 3)),
    ]
    assert units[2].source.frame == "pad/drone_2_imu"
    on_aircraft = mounts.mounts_on_aircraft(STAR, "imu", "other")
    assert [(each.body, each.source.topic) for each in on_aircraft] == [
        (k, f"/pad/drone_{k}/other") for k in (1, 2, 3)
    ]
    place = STAR.bodies[2].mounts["imu"]
    np.testing.assert_allclose(units[2].p_BS_B, place.position)
    known = ", ".join(STAR.bodies[1].mounts)
    with pytest.raises(BadInput) as refused:
        mounts.mounts_on_aircraft(STAR, "nose", "lidar")
    assert (
        str(refused.value)
        == f"key 'sensors.lidar.mount': drone_1 has no mount 'nose' (mounts: {known})"
    )


def test_fields_of_a_mount_name_its_parent():
    one = mounts.imu_mounts(STAR)[1]
    fields = mounts.mount_fields(STAR, one)
    assert (fields["topic"], fields["frame"], fields["parent"]) == (
        "/pad/drone_1/imu",
        "pad/drone_1_imu",
        "pad/drone_1",
    )
    assert fields["p_BS_B"] == tuple(one.p_BS_B.tolist()) and fields["q_BS"] == tuple(
        one.q_BS.tolist()
    )


def test_a_sensor_is_where_its_body_has_it():
    source = SensorSource("/a", "a")
    quarter = np.array([0.0, 0.0, HALF, HALF])
    both = [mounts.SensorMount(source, 1, np.array([1.0, 0.0, 0.5]), quarter),
            mounts.SensorMount(source, 0, np.array([0.0, 2.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))]  # fmt: skip
    x = np.zeros((2, 13))
    x[0, :7] = 10.0, 20.0, 30.0, 0.0, 0.0, 0.0, 1.0
    x[1, :7] = -1.0, -2.0, -3.0, *quarter
    p, q = mounts.mount_poses(both, x)
    np.testing.assert_allclose(p, [[-1.0, -1.0, -2.5], [10.0, 22.0, 30.0]])
    np.testing.assert_allclose(q, [[0, 0, 1, 0], [0, 0, 0, 1]], atol=1e-12)


def test_a_camera_looks_ahead_along_its_z_with_x_to_the_right():
    R = so3.matrix_from_quaternion(mounts.optical(np.array([0.0, 0.0, 0.0, 1.0])))
    np.testing.assert_allclose(R, [[0, 0, 1], [-1, 0, 0], [0, -1, 0]], atol=1e-12)


def test_displacements_are_within_their_half_widths():
    shift, turn = mounts.displacements(np.array([[1.0, -1.0, 0.5, 0.0, 0.0, 1.0]]), 0.01, 90.0)
    np.testing.assert_allclose(shift, [[0.01, -0.01, 0.005]])
    np.testing.assert_allclose(turn, [[0.0, 0.0, HALF, HALF]])


def test_a_stamp_is_the_nearest_nanosecond():
    assert Reading(SensorSource("/a", "a"), 1.0000000016).stamp == 1_000_000_002


@pytest.mark.parametrize(
    ("length", "is_one"), [(1.0, True), (0.0, False), (1.1, False), (0.9, False)]
)
def test_an_attitude_of_a_frame_has_length_1(length, is_one):
    tree = {**PLACE, "q_BS": (0.0, 0.0, 0.0, length)}
    if is_one:
        assert FixedFrame(**tree).frame == "pad/imu"
        return
    with pytest.raises(
        ValueError, match=f"key 'q_BS': a quaternion of length 1 is expected, not {length:.4g}"
    ):
        FixedFrame(**tree)


def camera(**keys):
    K = (100.0, 0.0, 32.0, 0.0, 100.0, 24.0, 0.0, 0.0, 1.0)
    P = (100.0, 0.0, 32.0, 0.0, 0.0, 100.0, 24.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    whole = {
        "topic": "/left",
        "rate": 20.0,
        "outputs": ("mono8",),
        "width": 64,
        "height": 48,
        "K": K,
        "P": P,
        "D": (0.0,) * 5,
    }
    return CameraSensorInfo(**PLACE, **{**whole, **keys})


@pytest.mark.parametrize(
    ("keys", "is_clean"),
    [({}, True), ({"noise": 0.1}, False), ({"exposure_time": 0.01}, False), ({"effects": ("a",)}, False),
     ({"D": (0.1, 0.0, 0.0, 0.0, 0.0)}, False), ({"D": (0.0,) * 4, "distortion_model": "equidistant"}, False)],
)  # fmt: skip
def test_clean_images_are_those_of_a_pinhole(keys, is_clean):
    assert camera(**keys).is_clean == is_clean


def test_sensors_are_written_and_read_without_losing_a_digit(tmp_path):
    unit = ImuInfo(
        **PLACE,
        topic="/imu",
        rate=200.0,
        gyro_noise=1.0 / 3.0,
        gyro_walk=1e-7,
        accel_noise=0.0,
        accel_walk=0.0,
    )
    other = OtherSensorInfo(**PLACE, topic="/o", rate=1.0, codec="a:B", values={"deviation": 0.1})
    text = sensors_text([unit, camera(), other])
    assert load_sensors(text, source="s") == (unit, camera(), other)
    path = tmp_path / "sensors.yaml"
    path.write_text(text)
    assert load_sensors(str(path), source="s") == (unit, camera(), other)
    with pytest.raises(BadInput, match=f"^{path}: "):
        path.write_text("- kind: radar\n")
        load_sensors(str(path), source="s")
    with pytest.raises(BadInput, match="^s: "):
        load_sensors("- kind: radar\n", source="s")


def test_a_lens_bends_points_by_its_coefficients():
    D = np.array([0.1, 0.01, 0.02, 0.03, 0.001])
    x, y = 0.5, -0.25
    r2 = 0.3125
    radial = 1.0 + 0.1 * r2 + 0.01 * r2**2 + 0.001 * r2**3
    expected = [
        x * radial + 2.0 * 0.02 * x * y + 0.03 * (r2 + 2.0 * x * x),
        y * radial + 0.02 * (r2 + 2.0 * y * y) + 2.0 * 0.03 * x * y,
    ]
    np.testing.assert_allclose(distort_plumb_bob(np.array([[x, y]]), D), [expected])
    np.testing.assert_allclose(undistort_plumb_bob(np.array([expected]), D), [[x, y]], atol=1e-12)
    points = np.array([[0.3, 0.4]])
    same = undistort_plumb_bob(points, np.zeros(5))
    assert same.tolist() == points.tolist() and same is not points


def test_a_fisheye_bends_an_angle():
    theta = np.arctan(0.5)
    bent = theta * (1.0 + 0.1 * theta**2 - 0.02 * theta**4 + 0.003 * theta**6 + 0.0004 * theta**8)
    D = np.array([0.1, -0.02, 0.003, 0.0004])
    np.testing.assert_allclose(
        distort_equidistant(np.array([[0.3, -0.4], [0.0, 0.0]]), D),
        [[0.6 * bent, -0.8 * bent], [0, 0]],
    )
    found = undistort_equidistant(np.array([[0.6 * bent, -0.8 * bent], [0.0, 0.0], [3.0, 0.0]]), D)
    np.testing.assert_allclose(found[:2], [[0.3, -0.4], [0.0, 0.0]], atol=1e-12)
    assert np.isnan(found[2]).all()


def test_a_double_sphere_bends_by_its_formula():
    xi, alpha = 0.2, 0.6
    d1 = np.sqrt(1.25)
    d2 = np.sqrt(0.25 + (xi * d1 + 1.0) ** 2)
    expected = np.array([[0.3, 0.4]]) / (alpha * d2 + (1.0 - alpha) * (xi * d1 + 1.0))
    D = np.array([xi, alpha])
    np.testing.assert_allclose(distort_double_sphere(np.array([[0.3, 0.4]]), D), expected)
    np.testing.assert_allclose(undistort_double_sphere(expected, D, 1.0), [[0.3, 0.4]], atol=1e-12)
    assert np.isnan(undistort_double_sphere(expected, D, np.arctan(0.5) - 1e-6)).all()
    assert magnification_double_sphere(D) == pytest.approx(1.0 / 1.2)


OF_XI, OF_ALPHA = "which is not between -1 and 1", "which is not between 0 and 1"


@pytest.mark.parametrize(
    ("D", "fault"),
    [
        ((0.2, 0.6), None),
        ((1.0, 1.0), None),
        ((-0.99, 0.0), None),
        ((-1.0, 0.5), f"xi is -1, {OF_XI}"),
        ((1.01, 0.5), f"xi is 1.01, {OF_XI}"),
        ((0.2, 1.1), f"alpha is 1.1, {OF_ALPHA}"),
        ((0.2, -0.1), f"alpha is -0.1, {OF_ALPHA}"),
    ],
)
def test_a_double_sphere_that_cannot_be_says_why(D, fault):
    assert fault_double_sphere(np.array(D)) == fault
    if fault is None:
        check_coefficients("double_sphere", D, key="D")
    else:
        with pytest.raises(ValueError, match=f"^key 'lens.D': {fault}$"):
            check_coefficients("double_sphere", D, key="lens.D")


@pytest.mark.parametrize("model", MODELS)
def test_a_record_has_all_coefficients_of_its_lens(model):
    count = max(MODELS[model].counts)
    with pytest.raises(
        ValueError, match=f"^key 'D': {model} has {count} numbers, not {count - 1}$"
    ):
        check_coefficients(model, (0.1,) * (count - 1), key="D")


def test_names_of_pinholes_are_so_where_all_coefficients_are_zero():
    for name in ("none", "Pin-Hole", ""):
        assert lens_model(name) == lens_model(name, [0.0, 0.0]) == PLUMB_BOB
        assert lens_model(name, [0.1]) == name
    assert lens_model("Kannala_Brandt4") == "equidistant" and lens_model("odd") == "odd"
    assert (
        not Lens.of("plumb_bob", [], source="s").bends
        and Lens.of("plumb_bob", [0.1] * 4, source="s").bends
    )
    assert Lens.of("ds", [0.25, 0.5], source="s").magnification == pytest.approx(0.8)
    assert Lens.of("plumb_bob", [0.1] * 4, source="s").magnification == 1.0
