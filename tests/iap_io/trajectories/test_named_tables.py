# SPDX-License-Identifier: BSD-3-Clause
"""Tables whose header names the columns of poses: exports of logs, motion captures, ``rostopic echo -p``."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from flight_bags import Motion, motion

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.reader import read_recorded
from iap_io.trajectories.recorded import RecordedTrajectory

START = 1_650_000_123
QUATERNIONS = ("qx", "qy", "qz", "qw")


@pytest.fixture
def multirotor() -> Motion:
    """Seven seconds of a curve of 0.8 m, level where it does not accelerate, tilted as rotors need it elsewhere."""
    t = np.arange(0.0, 7.0, 0.02)
    s = np.clip((t - 0.5) / 6.0, 0.0, 1.0)
    angle = 2.0 * np.pi * (6.0 * s**5 - 15.0 * s**4 + 10.0 * s**3)
    p = np.column_stack([0.8 * np.cos(angle), 0.7 * np.sin(angle), 1.4 + 0.2 * np.sin(angle)])
    up = np.gradient(np.gradient(p, t, axis=0), t, axis=0) + [0.0, 0.0, 9.81]
    up /= np.linalg.norm(up, axis=1)[:, None]
    yaw = 0.6 * np.sin(0.5 * angle)
    left = np.cross(up, np.column_stack([np.cos(yaw), np.sin(yaw), 0.0 * yaw]))
    left /= np.linalg.norm(left, axis=1)[:, None]
    R = np.stack([np.cross(left, up), left, up], axis=2)
    m = motion(t)
    return Motion(t, p, so3.quaternion_from_matrix(R), m.v, m.w, m.a, m.alpha)


def columns(m: Motion) -> dict[str, list[str]]:
    """Columns of a table by what they are, as texts."""
    angles = so3.euler_from_matrix(so3.matrix_from_quaternion(m.q))
    numbers = dict(zip("xyz", m.p.T, strict=True)) | dict(zip(QUATERNIONS, m.q.T, strict=True))
    for name, values in zip(("roll", "pitch", "yaw"), angles.T, strict=True):
        numbers |= {name: values, f"{name}_deg": np.degrees(values)}
    numbers["nose_down_deg"] = -np.degrees(angles[:, 1])
    numbers |= {f"{axis}_mm": 1000.0 * values for axis, values in zip("xyz", m.p.T, strict=True)}
    numbers |= {f"{axis}_in": values / 0.0254 for axis, values in zip("xyz", m.p.T, strict=True)}
    numbers |= {f"{axis}_ft": values / 0.3048 for axis, values in zip("xyz", m.p.T, strict=True)}
    numbers |= {f"{axis}_1m_off": m.p[:, "xyz".index(axis)] + 1.0 for axis in "xyz"}
    texts = {name: [f"{value:.9f}" for value in values] for name, values in numbers.items()}
    stamps = [round((START + t) * 1e9) for t in m.t]
    texts |= {"s": [f"{START + t:.6f}" for t in m.t], "ns": [str(ns) for ns in stamps]}
    texts |= {"us": [str(ns // 1000) for ns in stamps], "n": [str(k) for k in range(len(m.t))]}
    texts |= {
        "sec": [str(ns // 10**9) for ns in stamps],
        "nsec": [str(ns % 10**9) for ns in stamps],
    }
    texts["minutes"] = [f"{t / 60.0:.9f}" for t in m.t]
    texts["clock"] = [f"05:22:{3.0 + t:09.6f}" for t in m.t]
    texts["date"] = [f"2022-04-15T05:22:{3.0 + t:09.6f}" for t in m.t]
    return texts


def write(path: Path, header: str, m: Motion, order: str, delimiter: str = ",") -> Path:
    """A table with this header, and these columns in their order."""
    texts = columns(m)
    rows = zip(*(texts[name] for name in order.split()), strict=True)
    path.write_text("\n".join([header, *(delimiter.join(row) for row in rows)]) + "\n")
    return path


def check(recorded: RecordedTrajectory, m: Motion) -> None:
    """The recorded motion is this one."""
    np.testing.assert_allclose(recorded.t, m.t, atol=2e-6)
    np.testing.assert_allclose(recorded.p_WP_W, m.p, atol=1e-8)
    error = so3.quaternion_log(so3.multiply(so3.conjugate(m.q), recorded.q_WP))
    np.testing.assert_allclose(error, 0.0, atol=1e-7)


POSE = "x y z qx qy qz qw"
ECHO = (
    "%time,field.header.seq,field.header.stamp,field.pose.orientation.x,field.pose.orientation.y,"
    "field.pose.orientation.z,field.pose.orientation.w,field.pose.position.x,field.pose.position.y,field.pose.position.z"
)
CRAZYFLIE = ",".join(f"stateEstimate.{name}" for name in ("x", "y", "z", "roll", "pitch", "yaw"))
CRAZYFLIE_MM = ",".join(
    [f"stateEstimateZ.{name}" for name in "xyz"]
    + [f"stabilizer.{name}" for name in ("roll", "pitch", "yaw")]
)


@pytest.mark.parametrize(
    ("name", "header", "order"),
    [
        ("a.csv", "timestamp,x,y,z,qx,qy,qz,qw", f"s {POSE}"),
        ("a.csv", "qw,qx,qy,qz,px,py,pz,time", "qw qx qy qz x y z s"),
        ("a.csv", '"frame","time","x","y","z","q_x","q_y","q_z","q_w"', f"n s {POSE}"),
        ("a.csv", ",TimeUS,pos_x,pos_y,pos_z,Q_X,Q_Y,Q_Z,Q_W", f"n us {POSE}"),
        ("a.csv", "t,w_x,w_y,w_z,x,y,z,qx,qy,qz,qw,vx,vy,vz", f"s x x x {POSE} y y y"),
        ("a.csv", ECHO, "ns n ns qx qy qz qw x y z"),
        ("a.csv", "timestamp,position[0],position[1],position[2],q[0],q[1],q[2],q[3]", "us x y z qw qx qy qz"),
        ("a.csv", "sec,nanosec,x,y,z,qx,qy,qz,qw", f"sec nsec {POSE}"),
        ("a.csv", "time,x,y,z,qx,qy,qz,qw", f"date {POSE}"),
        ("a.csv", "time [s],x [mm],y [mm],z [mm],qx,qy,qz,qw", "s x_mm y_mm z_mm qx qy qz qw"),
        ("a.csv", "time,x (in),y (in),z (in),qx,qy,qz,qw", "s x_in y_in z_in qx qy qz qw"),
        ("a.csv", "time,x_ft,y_ft,z_ft,qx,qy,qz,qw", "s x_ft y_ft z_ft qx qy qz qw"),
        ("a.csv", "time,x_m,y_m,z_mm,qx,qy,qz,qw", "s x y z_mm qx qy qz qw"),
        ("a.csv", "time,x [ft],y [mm],z [m],qx,qy,qz,qw", "s x_ft y_mm z qx qy qz qw"),
        ("a.csv", "time,x,y,z,roll_rad,pitch_deg,yaw_deg", "s x y z roll pitch_deg yaw_deg"),
        ("a.csv", "time,east,north,up,qx,qy,qz,qw", f"s {POSE}"),
        ("a.csv", "time,up_m,north_m,east_m,qx,qy,qz,qw", "s z y x qx qy qz qw"),
        ("a.csv", "time,x,y,z,qx,qy,qz,qw", f"clock {POSE}"),
        ("a.csv", "time,x,y,z,roll_deg,pitch_deg,yaw_deg", "s x y z roll_deg pitch_deg yaw_deg"),
        ("a.csv", "time,x,y,z,yaw [rad],pitch [rad],roll [rad]", "s x y z yaw pitch roll"),
        ("a.csv", "#timestamp [ns],q_RS_w [],q_RS_x [],q_RS_y [],q_RS_z [],p_RS_R_x [m],p_RS_R_y [m],p_RS_R_z [m]",
         "ns qw qx qy qz x y z"),
        ("a.csv", "t,droneA.x,droneA.y,droneA.z,droneA.qx,droneA.qy,droneA.qz,droneA.qw", f"s {POSE}"),
        ("a.csv", "t,x,y,z,qr,qi,qj,qk", "s x y z qw qx qy qz"),
        ("a.csv", "t,stateX,stateY,stateZ,aX,aY,aZ,qX,qY,qZ,qW", "s x y z x x x qx qy qz qw"),
        ("a.csv", f"timestamp,{CRAZYFLIE}", "us x y z roll_deg nose_down_deg yaw_deg"),
        ("a.csv", f"Timestamp,{CRAZYFLIE_MM}", "us x_mm y_mm z_mm roll_deg nose_down_deg yaw_deg"),
        ("a.txt", "# id,timestamp,tx,ty,tz,qx,qy,qz,qw", f"n s {POSE}"),
        ("a.txt", "# timestamp,qx,qy,qz,qw,tx,ty,tz", "s qx qy qz qw x y z"),
    ],
)  # fmt: skip
def test_columns_are_found_by_their_names(
    tmp_path: Path, multirotor: Motion, name: str, header: str, order: str
) -> None:
    check(read_recorded(write(tmp_path / name, header, multirotor, order)), multirotor)


def test_euroc_s_short_names_are_read_by_their_order(tmp_path: Path, multirotor: Motion) -> None:
    short = "#timestamp,p_RS_R_x,y,z,q_RS_w,x,y,z"
    path = write(tmp_path / "a.csv", short, multirotor, "ns x y z qw qx qy qz")
    recorded = read_recorded(path)
    assert recorded.about.kind == "EuRoC ground truth"
    np.testing.assert_allclose(
        np.diff(recorded.p_WP_W, axis=0), np.diff(multirotor.p, axis=0), atol=1e-8
    )


def test_cells_may_be_parted_by_blanks_tabs_or_semicolons_with_decimal_commas(
    tmp_path: Path, multirotor: Motion
) -> None:
    for delimiter in (" ", "\t", ";"):
        header = delimiter.join(["timestamp", *POSE.split()])
        path = write(tmp_path / "a.txt", header, multirotor, f"s {POSE}", delimiter)
        check(read_recorded(path), multirotor)
    path.write_text(path.read_text().replace(".", ","))
    check(read_recorded(path), multirotor)


def test_a_motion_captures_table_has_several_lines_of_names_and_y_up(
    tmp_path: Path, multirotor: Motion
) -> None:
    header = "\n".join(
        [
            "Format Version,1.23,Take Name,circle",
            ",,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid Body",
            ",,drone,drone,drone,drone,drone,drone,drone",
            ",,Rotation,Rotation,Rotation,Rotation,Position,Position,Position",
            "Frame,Time (Seconds),X,Y,Z,W,X,Y,Z",
        ]
    )
    R = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # of z up in y up
    m = multirotor
    q = so3.quaternion_from_matrix(R @ so3.matrix_from_quaternion(m.q) @ R.T)
    turned = Motion(m.t, m.p @ R.T, q, m.v, m.w, m.a, m.alpha)
    path = write(tmp_path / "take.csv", header, turned, "n s qx qy qz qw x y z")
    check(read_recorded(path), multirotor)


def test_bodies_of_one_table_are_chosen_by_name(tmp_path: Path, multirotor: Motion) -> None:
    header = "t,x_est,y_est,z_est,x_gt,y_gt,z_gt,qx,qy,qz,qw"
    path = write(tmp_path / "a.csv", header, multirotor, f"s x_1m_off y_1m_off z_1m_off {POSE}")
    with pytest.raises(BadInput, match="several bodies: est, gt: --body NAME"):
        read_recorded(path)
    check(read_recorded(path, body="gt"), multirotor)
    rows = path.read_text().splitlines()[1:]
    first = [f"cf1,{','.join([*row.split(',')[:4], *row.split(',')[7:]])}" for row in rows]
    second = [f"cf2,{','.join([row.split(',')[0], *row.split(',')[4:]])}" for row in rows]
    woven = [row for pair in zip(first, second, strict=True) for row in pair]
    path.write_text("\n".join(["name,t,x,y,z,qx,qy,qz,qw", *woven]))
    with pytest.raises(
        BadInput, match=r"several bodies: cf1 \(350\), cf2 \(350\); choose with --body"
    ):
        read_recorded(path)
    check(read_recorded(path, body="cf2"), multirotor)


def test_angles_without_a_unit_are_asked_about(tmp_path: Path, multirotor: Motion) -> None:
    path = write(
        tmp_path / "a.csv",
        "t,x,y,z,roll,pitch,yaw",
        multirotor,
        "s x y z roll_deg pitch_deg yaw_deg",
    )
    with pytest.raises(BadInput, match="'yaw' has no unit, .* --angles deg or --angles rad"):
        read_recorded(path)
    check(read_recorded(path, angles="deg"), multirotor)
    order = "s x y z roll pitch yaw_deg"
    path = write(tmp_path / "b.csv", "t,x,y,z,roll,pitch,yaw [deg]", multirotor, order)
    with pytest.raises(BadInput, match="'pitch' has no unit"):
        read_recorded(path)
    check(read_recorded(path, angles="rad"), multirotor)  # of those that name none


def test_positions_of_which_some_name_a_unit_are_asked_about(
    tmp_path: Path, multirotor: Motion
) -> None:
    path = write(
        tmp_path / "a.csv", "t,x,y,z_mm,qx,qy,qz,qw", multirotor, "s x y z_mm qx qy qz qw"
    )
    with pytest.raises(BadInput, match=r"--scale 0.001 where .* alike, --scale 1,1,0.001 where"):
        read_recorded(path)
    check(read_recorded(path, scale=(1.0, 1.0, 0.001)), multirotor)
    path = write(tmp_path / "b.csv", "t,x,y,z [m],qx,qy,qz,qw", multirotor, f"s {POSE}")
    check(read_recorded(path), multirotor)


def test_rows_may_be_in_any_order(tmp_path: Path, multirotor: Motion) -> None:
    path = write(tmp_path / "a.csv", "t,x,y,z,qx,qy,qz,qw", multirotor, f"s {POSE}")
    header, *rows = path.read_text().splitlines()
    np.random.default_rng(2).shuffle(rows)
    path.write_text("\n".join([header, *rows]))
    check(read_recorded(path), multirotor)


def test_a_turn_that_stays_is_noted(tmp_path: Path, multirotor: Motion) -> None:
    turned = np.array([0.0, 0.0, np.sin(np.radians(12.5)), np.cos(np.radians(12.5))])
    later = (multirotor.t > 3.0)[:, None]
    q = np.where(later, so3.multiply(multirotor.q, np.tile(turned, (350, 1))), multirotor.q)
    path = write(tmp_path / "a.csv", "t,x,y,z,qx,qy,qz,qw", replace(multirotor, q=q), f"s {POSE}")
    (note,) = read_recorded(path).about.notes
    assert note.startswith("1 turn at once, by up to 25 deg within 0.020 s at t = 3.000 s")


def test_a_table_without_names_is_read_by_the_numbers_of_its_columns(
    tmp_path: Path, multirotor: Motion
) -> None:
    path = write(tmp_path / "a.csv", "# by hand", multirotor, "n s x y z roll pitch yaw")
    check(read_recorded(path, columns="2,3,4,5,6,7,8", angles="rad"), multirotor)
    for none in ("9", "²", "9" * 5000):
        with pytest.raises(BadInput, match=f"no column '{none[:10]}"):
            read_recorded(path, columns=f"2,3,4,{none}")
    with pytest.raises(BadInput, match="TIME,X,Y,Z are expected"):
        read_recorded(path, columns="2,3,4")


def test_positions_without_attitudes_are_level_and_that_is_said(
    tmp_path: Path, multirotor: Motion
) -> None:
    path = write(tmp_path / "a.csv", "t,x,y,z", multirotor, "s x y z")
    recorded = read_recorded(path)
    np.testing.assert_allclose(recorded.p_WP_W, multirotor.p, atol=1e-8)
    np.testing.assert_array_equal(recorded.q_WP, np.tile([0.0, 0.0, 0.0, 1.0], (350, 1)))
    assert any("no attitudes" in note for note in recorded.about.notes)


def test_times_in_minutes_are_refused_and_lines_can_be_counted_instead(
    tmp_path: Path, multirotor: Motion
) -> None:
    path = write(tmp_path / "a.csv", "time_min,x,y,z,qx,qy,qz,qw", multirotor, f"minutes {POSE}")
    with pytest.raises(BadInput, match="'time_min': times in min are not read: .* --rate HZ"):
        read_recorded(path)
    check(read_recorded(path, rate=50.0), multirotor)


@pytest.mark.parametrize(
    ("header", "order", "said"),
    [
        ("time,latitude,longitude,altitude", "s x y z", "latitudes are no places in metres"),
        ("time,x,y,z,rx,ry,rz", "s x y z roll pitch yaw", "no quaternions"),
        ("time,x,y,z,roll_rad,pitch_rad", "s x y z roll pitch", "no quaternions"),
        ("t,x,y,z,x,y,z,qx,qy,qz,qw", f"s x y z {POSE}", "several columns mean the same"),
        ("a,x,y,z,qx,qy,qz,qw", f"s {POSE}", "no column is called time"),
        ("t,x,y,z,qx,qy,qz,qw", "s x y z x y qz qw", "not 1: are other numbers in their place"),
        ("t,north,west,up,qx,qy,qz,qw", f"s {POSE}", "no column is called x, y, z"),
    ],
)
def test_tables_that_are_no_poses_are_refused_with_the_remedy(
    tmp_path: Path, multirotor: Motion, header: str, order: str, said: str
) -> None:
    path = write(tmp_path / "a.csv", header, multirotor, order)
    with pytest.raises(BadInput, match=said) as caught:
        read_recorded(path)
    assert "--columns" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "order", "words", "unit"),
    [
        ("roll_rad,pitch_rad,yaw_rad", "roll_deg pitch_deg yaw_deg", "--angles deg takes", "deg"),
        ("roll_deg,pitch_deg,yaw_deg", "roll pitch yaw", "they do with --angles rad", "rad"),
    ],
)
def test_angles_that_are_not_in_the_unit_of_their_names_are_refused_by_the_right_one(
    tmp_path: Path, multirotor: Motion, header: str, order: str, words: str, unit: str
) -> None:
    """Degrees are no radians by their size, and radians taken as degrees do not tilt where it accelerates."""
    path = write(tmp_path / "a.csv", f"t,x,y,z,{header}", multirotor, f"s x y z {order}")
    with pytest.raises(BadInput, match=words):
        read_recorded(path)
    check(read_recorded(path, angles=unit), multirotor)
