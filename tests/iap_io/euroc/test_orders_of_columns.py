# SPDX-License-Identifier: BSD-3-Clause
"""Tables in EuRoC's layout whose columns stand in another order, and pieces of its files."""

from dataclasses import replace

import numpy as np
import pytest
from made_up_flights import random_flight
from made_up_sensors import camera, imu, with_sensors

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.readings import ImuReading, SensorSource
from iap_io.euroc import euroc_folder
from iap_io.euroc.column_order import INERTIAL, POSES, read_ordered
from iap_io.euroc.tables import read_table
from iap_io.runs.columns import Columns

EPOCH = 1_400_000_000_000_000_000


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("w_RS_S_x [rad s^-1]", "wx"),
        ("a_RS_S_z [m s^-2]", "az"),
        ("gyro.y", "wy"),
        ("Angular_Velocity_X", "wx"),
        ("linear_acceleration_z(m/s^2)", "az"),
        ("acc x", "ax"),
        ("x", None),
        ("w", None),
        ("w_RS_S_w", None),
        ("temperature_x", None),
        ("[x]", None),
        ("", None),
    ],
)
def test_a_column_of_an_inertial_unit_is_told_by_its_words(name, role):
    assert INERTIAL.role(name) == role


def write(path, head, rows):
    path.write_text(
        head + "".join(f"{k},{','.join(map(str, row))}\n" for k, row in enumerate(rows))
    )
    return path


def test_columns_come_into_order_by_their_names(tmp_path):
    path, rows = tmp_path / "a.csv", [[0, 1, 2, 3, 4, 5, 6.5], [7, 8, 9, 10, 11, 12, 13.5]]
    names = "#t, a_z, w_z, w_y, w_x, a_x, a_y, more\n"
    table = read_ordered(write(path, names, rows), 6, INERTIAL)
    assert table.values.tolist() == [[3, 2, 1, 4, 5, 0, 6.5], [10, 9, 8, 11, 12, 7, 13.5]]
    assert table.stamps.tolist() == [0, 1]
    for head in (
        "",
        names.replace("#", ""),
        names.replace("w_z", "w_x"),
        names.replace("w_z", "z"),
        names.replace("more", "more, than, there, are"),
    ):
        path.write_text("\n")
        if head.startswith("t"):
            with pytest.raises(BadInput, match="line 1: the stamp is 't'"):
                read_ordered(write(path, head, rows), 6, INERTIAL)
        else:
            assert read_ordered(write(path, head, rows), 6, INERTIAL).values.tolist() == rows


def test_poses_have_w_first_whatever_a_table_has(tmp_path):
    rows = [[1, 2, 3, 4, 5, 6, 7]]
    head = "\ufeff# timestamp, p_x, p_y, p_z, q_x, q_y, q_z, q_w\n"
    path = write(tmp_path / "a.csv", head, rows)
    assert read_ordered(path, 7, POSES).values.tolist() == [[1, 2, 3, 7, 4, 5, 6]]


def test_stamps_are_whole_numbers_of_nanoseconds_from_0_on(tmp_path):
    path = tmp_path / "a.csv"
    for stamp in (0, 1, 2**63 - 1):
        path.write_text(f"{stamp}, 1.0\n")
        assert read_table(path, 1).stamps.tolist() == [stamp]
    for stamp in (2**63, -1, "1.0", "", "٣"):
        path.write_text(f"{stamp}, 1.0\n")
        with pytest.raises(BadInput, match="line 1: the stamp is .*, not a time in ns"):
            read_table(path, 1)
    path.write_text("1,2,3\n# 4\n5,6\n")
    with pytest.raises(BadInput, match="line 3: 1 numbers, unlike the first line"):
        read_table(path, 1)
    with pytest.raises(BadInput, match="line 1: expected 3 finite numbers"):
        read_table(path, 3)
    path.write_text("1\n2, a.png\n3,\n")
    assert read_table(path, 0).names == ["1.png", "a.png", "3.png"]


def test_truth_is_that_of_the_unit_with_the_bias_of_the_last_sample():
    written = []
    T = so3.transform((1.0, 0.0, 0.0), (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)))
    truth = euroc_folder._Truth(written, 1, T)
    assert truth.table is written
    c = Columns.zeros(3, with_sensors(random_flight("three_star", 1)).vehicles[0])
    c.t[:] = 0.0, 0.5, 1.0
    c.x[:, 1, 6] = 1.0
    c.x[:, 1, :3], c.x[:, 1, 7:10], c.x[:, 1, 10:] = (
        (1.0, 2.0, 3.0),
        (4.0, 5.0, 6.0),
        (0.0, 0.0, 2.0),
    )
    source = SensorSource("/iap/drone_1/imu", "a")
    for t, bias in ((0.5, 7.0), (0.6, 8.0), (1.2, 9.0)):
        reading = ImuReading(
            source, t, *np.zeros((2, 3)), None, np.full(3, bias), np.full(3, -bias)
        )
        truth.note(euroc_folder._stamp(reading), reading)
    for missing in ("gyro_bias", "accel_bias"):
        truth.note(EPOCH + 10**9, replace(reading, **{missing: None}))
    lines = [line.rstrip("\n").split(",") for line in truth.lines(c)]
    assert [line[0] for line in lines] == [str(EPOCH), str(EPOCH + 5 * 10**8), str(EPOCH + 10**9)]
    numbers = np.array([line[1:] for line in lines], float)
    np.testing.assert_allclose(numbers[:, :3], [[2.0, 2.0, 3.0]] * 3)
    half = np.sqrt(0.5)
    np.testing.assert_allclose(numbers[:, 3:7], [[half, 0.0, 0.0, half]] * 3, atol=1e-15)
    np.testing.assert_allclose(numbers[:, 7:10], [[4.0, 7.0, 6.0]] * 3)
    np.testing.assert_array_equal(numbers[:, 10], [0.0, 7.0, 8.0])
    np.testing.assert_array_equal(numbers[:, 13:], -numbers[:, 10:13])


def test_numbers_in_yaml_have_a_point():
    assert [euroc_folder._number(each) for each in (1e-05, 1.5e-05, 0.1, 1e20)] == [
        "1.0e-05",
        "1.5e-05",
        "0.1",
        "1.0e+20",
    ]
    assert euroc_folder._numbers([1.0, -2.5]) == "[1.0, -2.5]"
    text = euroc_folder._head("imu", "of a", np.eye(4))
    assert (
        "sensor_type: imu\ncomment: of a\nT_BS:\n  cols: 4\n  rows: 4\n  data: [1.0, 0.0, " in text
    )
    assert [
        euroc_folder._encoding(camera(outputs=each))
        for each in (("depth", "rgb8"), ("rgb8", "mono8"), ("depth",))
    ] == [
        "rgb8",
        "mono8",
        "",
    ]
    own = so3.transform(imu().p_BS_B, imu().q_BS)
    assert euroc_folder._on_body(own, imu()).tolist() == np.eye(4).tolist()
    place = euroc_folder._on_body(
        so3.transform((1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)), camera(y=0.5)
    )
    np.testing.assert_allclose(place[:3, 3], [-0.802, 0.5, 0.0])
