# SPDX-License-Identifier: BSD-3-Clause
"""Docking ports as shapes, frames and data."""

import math

import numpy as np
import pytest
from docking_pairs import platform, start

from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.geometry.solids import Bulk, triangles
from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.latch import PortFrame, approach
from iap_description.vehicles.platform import DATA, Platform, load_platform, platform_tree
from iap_description.vehicles.ports import Drogue, Socket
from iap_description.vehicles.urdf import urdf_text


def changed(**keys):
    """A platform's tree with other keys of its probe."""
    tree, _ = platform_tree("f450_dock")
    tree["aircraft"]["ports"]["probe"].update(keys)
    return tree


def test_the_probe_has_the_volume_of_its_solid_of_revolution():
    """Its pieces' own, less that of the cones by which they begin within each other."""
    probe = platform().aircraft.ports["probe"]
    hulls = [shape for shape in probe.collision if shape.vertices is not None]
    profile = list(zip(probe.profile[:-1], probe.profile[1:], strict=True))
    exact = sum(math.pi / 3.0 * (b - a) * (r * r + r * q + q * q) for (a, r), (b, q) in profile)
    inside = sum(math.pi / 3.0 * r**3 * (b - a) / (q - r) for (a, r), (b, q) in profile[1:3])
    assert Bulk.of(hulls).volume == pytest.approx(exact + inside, rel=0.01)


def test_pieces_of_the_probe_have_no_end_face_within_it_and_reach_nowhere_out_of_it():
    """Behind the tip each piece narrows to nearly a point, inside the pieces before it."""
    probe = platform().aircraft.ports["probe"]
    s, r = np.array(probe.profile).T
    hulls = [shape for shape in probe.collision if shape.vertices is not None]
    assert len(hulls) == 3
    for n, shape in enumerate(hulls):
        p_T = (triangles(shape)[0] - np.array(probe.position)) @ probe.R_BT
        off = np.linalg.norm(p_T[:, 1:], axis=1)
        assert (off <= 1.01 * np.interp(-p_T[:, 0], s, r)).all()
        if n:
            assert off[np.isclose(p_T[:, 0], p_T[:, 0].max())].max() < 0.002


def test_nothing_of_the_socket_is_in_its_bore_and_all_of_its_wall_is_around_it():
    socket = platform().aircraft.ports["socket"]
    R_TB = socket.R_BT.T
    for shape in socket.collision:
        if shape.vertices is None:
            continue
        p_T = (triangles(shape)[0] - np.array(socket.position)) @ R_TB.T
        off = np.linalg.norm(p_T[:, 1:], axis=1)
        assert off.min() == pytest.approx(socket.radius, rel=0.01)
        assert off.max() == pytest.approx(socket.radius + socket.wall, rel=0.01)
        assert p_T[:, 0].min() == pytest.approx(-socket.depth)
        assert p_T[:, 0].max() == pytest.approx(0.0, abs=1e-12)
    bottom, boom = socket.visual[-2:]
    into = -socket.R_BT[:, 0]
    away = [into @ np.subtract(each.position, socket.position) for each in (bottom, boom)]
    end = socket.depth + socket.wall
    assert away == pytest.approx(
        [socket.depth + 0.5 * socket.wall, end + 0.5 * socket.boom.length]
    )


def test_mass_and_inertia_are_those_of_two_ports_by_parallel_axes():
    bare, docking = load_platform("f450").aircraft, platform().aircraft
    port, away = 0.2, np.array([0.0, 0.335, -0.03])
    added = 2.0 * port * (away @ away * np.eye(3) - np.outer(away, away))
    assert docking.mass == pytest.approx(bare.mass + 2.0 * port)
    # the ports on the axis at a level 6 mm below the CoM of all are taken as level with it along y
    np.testing.assert_allclose(docking.inertia, np.diag(added) + np.array(bare.inertia), atol=3e-4)


def test_docked_frames_look_at_each_other_with_the_flange_on_the_mouth():
    ports = platform().aircraft.ports
    frames = [PortFrame.of(ports[key], np.zeros(3)) for key in ("probe", "socket")]
    x = start(depth=ports["probe"].length, speed=0.25)[0]
    found = approach(x[1], x[0], *frames)
    np.testing.assert_allclose(found, [0.1245, 0.0, 0.0, 0.25], atol=1e-12)


def test_depth_radius_and_angle_are_those_of_the_pose():
    ports = platform().aircraft.ports
    frames = [PortFrame.of(ports[key], np.zeros(3)) for key in ("probe", "socket")]
    turn = so3.quaternion_exp(np.array([0.3, -0.2, 0.5]))
    x = start(depth=0.02, aside=(0.003, -0.004))[0]
    x[:, :3] = so3.rotate(turn, x[:, :3])
    x[:, 3:7] = so3.multiply(turn, x[:, 3:7])
    found = approach(x[1], x[0], *frames)
    np.testing.assert_allclose(found[:3], [0.02, 0.005, 0.0], atol=1e-7)
    for about in ([0.1, 0.0, 0.0], [0.0, 0.7, 0.0]):  # the second is a roll about the probe
        x[1, 3:7] = so3.multiply(x[1, 3:7], so3.quaternion_exp(np.array(about)))
    assert approach(x[1], x[0], *frames).angle == pytest.approx(0.1, abs=1e-6)


def test_the_ports_are_seen_in_urdf_and_are_frames_there():
    text = urdf_text(Assembly.of(platform()), target="ros")
    assert 'name="base_link_probe"' in text
    assert 'name="base_link_socket"' in text
    plain = urdf_text(Assembly.of(load_platform("f450")), target="ros")
    assert text.count("<visual>") > plain.count("<visual>") + 40


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ({"profile": [[0.0, 0.01], [0.1, 0.005]]}, "radii must not shrink"),
        ({"profile": [[0.01, 0.01], [0.1, 0.02]]}, "begin at 0 and grow"),
        ({"flange": 0.02}, "radii must not shrink"),
        ({"type": "hook"}, "ports.probe"),
        ({"segments": 3}, "ports.probe.segments"),
    ],
)
def test_impossible_ports_are_refused(keys, fault):
    with pytest.raises(BadInput, match=fault):
        validate(Platform, changed(**keys), source="platform")


def test_a_port_does_not_take_a_mounts_name():
    tree, _ = platform_tree("f450_dock")
    tree["aircraft"]["ports"]["imu"] = tree["aircraft"]["ports"].pop("probe")
    with pytest.raises(BadInput, match="'imu' is a mount already"):
        validate(Platform, tree, source="platform")


@pytest.mark.parametrize(
    ("base", "fault"),
    [("f451", "no aircraft 'f451'"), ("mine", "another aircraft"), (3, "another")],
)
def test_an_aircraft_extends_another_one(tmp_path, base, fault):
    home = tmp_path / "mine.yaml"
    home.write_text(f"extends: {base}\nmass: 1.8\n")
    flown = {**read_yaml(DATA / "platforms" / "f450.yaml"), "aircraft": "mine.yaml"}
    path = tmp_path / "platform.yaml"
    path.write_text(
        "\n".join(
            f"{key}: {value if value is not None else 'null'}" for key, value in flown.items()
        )
    )
    with pytest.raises(BadInput, match=fault):
        load_platform(str(path))
    home.write_text("extends: f450\nmass: 1.8\n")
    assert load_platform(str(path)).aircraft.mass == 1.8


def test_the_bottom_of_a_drogue_is_as_thick_as_its_wall_and_stands_behind_its_depth():
    tree, _ = platform_tree("beetle_drogue")
    drogue = validate(Platform, tree, source="beetle_drogue").aircraft.ports["drogue"]
    bottom, boom = drogue.collision[-2:]
    assert bottom.length == pytest.approx(drogue.wall)
    assert boom.length == pytest.approx(drogue.boom.length)
    places = [drogue.R_BT.T @ (np.array(x.position) - drogue.position) for x in (bottom, boom)]
    end = drogue.depth + drogue.wall
    np.testing.assert_allclose(places[0], [-drogue.depth - 0.5 * drogue.wall, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(places[1], [-end - 0.5 * drogue.boom.length, 0.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("segments", [6, 8, 24])
def test_corners_of_a_round_hole_are_as_far_out_as_its_flat_sides_are_in(segments):
    """Their mean is the radius, so that a round probe has the play of two round things."""
    common = {"position": (0.0, 0.0, 0.0), "rpy_deg": (0.0, 0.0, 0.0), "segments": segments,
              "boom": {"length": 0.1, "radius": 0.01}}  # fmt: skip
    socket = {"type": "socket", "radius": 0.05, "depth": 0.1, "wall": 0.01}
    drogue = {"type": "drogue", "mouth": 0.08, "throat": 0.05, "depth": 0.1, "wall": 0.01}
    for kind, keys, radii in ((Socket, socket, (0.05,)), (Drogue, drogue, (0.08, 0.05))):
        port = kind.model_validate({**common, **keys})
        pieces = [each for each in port.collision if each.vertices is not None]
        assert len(pieces) == segments
        p_T = np.vstack([triangles(each)[0] for each in pieces]) @ port.R_BT
        off = np.linalg.norm(p_T[:, 1:], axis=1)
        for radius, x in zip(radii, (0.0, -0.1), strict=False):
            corner = off[np.isclose(p_T[:, 0], x)].min()
            flat = corner * np.cos(np.pi / segments)
            assert 0.5 * (corner + flat) == pytest.approx(radius, rel=1e-9)
            assert off[np.isclose(p_T[:, 0], x)].max() == pytest.approx(corner + 0.01)
