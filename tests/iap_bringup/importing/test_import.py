# SPDX-License-Identifier: BSD-3-Clause
"""Files of other programs become platforms and objects with the masses that they have."""

import importlib.util

import numpy as np
import pytest
import trimesh

from iap_bringup.cli.main import main
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import validate
from iap_description.geometry.solids import Bulk
from iap_description.vehicles.aircraft import inertia_matrix
from iap_description.vehicles.platform import load_platform
from iap_description.world.objects import Mesh

ARM = 0.2  # of a rotor along x and y [m]
CORNERS = ((ARM, -ARM), (-ARM, ARM), (ARM, ARM), (-ARM, -ARM))
MOTOR = (
    "<plugin name='m{k}' filename='motor.so'><linkName>rotor_{k}</linkName><motorConstant>8e-6</motorConstant>"
    "<momentConstant>0.016</momentConstant><turningDirection>{spin}</turningDirection>"
    "<maxRotVelocity>900</maxRotVelocity><timeConstantUp>0.01</timeConstantUp>"
    "<timeConstantDown>0.02</timeConstantDown></plugin>"
)
SPINS = "ccw", "ccw", "cw", "cw"
MASS, BLADE = 1.2, 0.05  # of the body and of a rotor [kg]
MOMENTS = np.array([0.01, 0.012, 0.02])


def expected():
    """Mass and moments of inertia of the body with its four rotors, which are points at 0.05 m."""
    mass = MASS + 4 * BLADE
    z = 4 * BLADE * 0.05 / mass
    about_x = MASS * z**2 + 4 * BLADE * ((0.05 - z) ** 2 + ARM**2)
    return mass, MOMENTS + [about_x, about_x, 8 * BLADE * ARM**2]


def urdf(motors=True):
    parts = [
        "<robot name='quad'><link name='base'><inertial><mass value='1.2'/>"
        "<inertia ixx='0.01' iyy='0.012' izz='0.02' ixy='0' ixz='0' iyz='0'/></inertial>"
        "<collision><geometry><box size='0.3 0.3 0.1'/></geometry></collision></link>"
    ]
    for k, ((x, y), spin) in enumerate(zip(CORNERS, SPINS, strict=True)):
        parts.append(
            f"<link name='rotor_{k}'><inertial><mass value='0.05'/></inertial></link><joint name='j{k}'"
            f" type='continuous'><origin xyz='{x} {y} 0.05'/><parent link='base'/><child link='rotor_{k}'/></joint>"
        )
        parts.append(f"<gazebo>{MOTOR.format(k=k, spin=spin)}</gazebo>" if motors else "")
    return "".join([*parts, "</robot>"])


def sdf():
    inertia = "<ixx>0.01</ixx><iyy>0.012</iyy><izz>0.02</izz>"
    parts = [
        f"<sdf version='1.9'><model name='base'><link name='base'><inertial><mass>1.2</mass><inertia>{inertia}"
        "</inertia></inertial><collision name='c'><geometry><box><size>0.3 0.3 0.1</size></box></geometry></collision>"
        "</link>"
    ]
    tiny = "<ixx>0</ixx><iyy>0</iyy><izz>0</izz>"
    for k, ((x, y), _) in enumerate(zip(CORNERS, SPINS, strict=True)):
        parts.append(
            f"<link name='rotor_{k}'><pose relative_to='base'>{x} {y} 0.05 0 0 0</pose><inertial><mass>0.05</mass>"
            f"<inertia>{tiny}</inertia></inertial></link>"
        )
    return "".join([*parts, "</model></sdf>"])


def mjcf():
    bodies = "".join(
        f"<geom type='sphere' size='0.0001' mass='0.05' pos='{x} {y} 0.05'/><site name='s{k}' pos='{x} {y} 0.05'/>"
        for k, (x, y) in enumerate(CORNERS)
    )
    motors = "".join(
        f"<motor site='s{k}' ctrlrange='0 6.48' gear='0 0 1 0 0 {-0.016 if spin == 'ccw' else 0.016}'/>"
        for k, spin in enumerate(SPINS)
    )
    side = (
        np.sqrt(6.0 / MASS * (MOMENTS.sum() - 2.0 * MOMENTS)) / 2.0
    )  # of a box with these moments
    size = " ".join(map(repr, side.tolist()))
    return (
        "<mujoco model='quad'><worldbody><body name='base' pos='0 0 1'><freejoint/>"
        f"<geom type='box' size='{size}' mass='1.2'/>{bodies}</body></worldbody><actuator>{motors}</actuator></mujoco>"
    )


def written(tmp_path, kind):
    """A vehicle's file of a kind."""
    if kind == "sdf":
        (tmp_path / "base").mkdir()
        (tmp_path / "quad").mkdir()
        (tmp_path / "base" / "model.sdf").write_text(sdf(), encoding="utf-8")
        path = tmp_path / "quad" / "model.sdf"
        motors = "".join(MOTOR.format(k=k, spin=spin) for k, spin in enumerate(SPINS))
        text = f"<sdf version='1.9'><model name='quad'><include merge='true'><uri>model://base</uri></include>{motors}</model></sdf>"
        path.write_text(text, encoding="utf-8")
        return path
    path = tmp_path / {"urdf": "quad.urdf", "xacro": "quad.urdf.xacro", "mjcf": "quad.xml"}[kind]
    text = mjcf() if kind == "mjcf" else urdf()
    if kind == "xacro":
        text = text.replace(
            "<robot name='quad'>",
            "<robot name='quad' xmlns:xacro='http://ros.org/wiki/xacro'><xacro:arg name='m' default='9'/>",
        )
        text = text.replace("value='1.2'", "value='$(arg m)'")
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["urdf", "xacro", "sdf", "mjcf"])
def test_a_vehicle_of_any_kind_has_its_mass_inertia_and_rotors(tmp_path, kind):
    if kind == "mjcf" and importlib.util.find_spec("mujoco") is None:
        pytest.skip("MuJoCo is not installed")
    out = tmp_path / "out.yaml"
    extra = ["--arg", "m=1.2"] if kind == "xacro" else []
    assert main(["import", str(written(tmp_path, kind)), "--out", str(out), *extra]) == 0
    aircraft = load_platform(str(out)).aircraft
    mass, moments = expected()
    assert aircraft.mass == pytest.approx(mass, rel=1e-6)
    np.testing.assert_allclose(np.diag(inertia_matrix(aircraft.inertia)), moments, rtol=1e-4)
    assert [rotor.spin for rotor in aircraft.rotors] == list(SPINS)
    np.testing.assert_allclose([rotor.position[:2] for rotor in aircraft.rotors], CORNERS)
    thrust = aircraft.rotor.c_f * aircraft.rotor.rpm_max**2
    assert thrust == pytest.approx(8e-6 * 900.0**2, rel=1e-9)
    assert aircraft.rotor.torque_ratio == pytest.approx(0.016)


def test_rotors_are_asked_for_where_a_file_has_none(tmp_path, capsys):
    path = tmp_path / "quad.urdf"
    path.write_text(urdf(motors=False), encoding="utf-8")
    places = [word for x, y in CORNERS for word in ("--rotor", str(x), str(y), "0.05")]
    steps = (
        ([], "--rotor X Y Z"),
        (places, "--spins"),
        (["--spins", *SPINS], "--max-thrust"),
        (["--max-thrust", "6"], "--torque-ratio"),
    )
    typed = ["import", str(path), "--out", str(tmp_path / "out.yaml")]
    for more, asked in steps:
        typed += more
        assert main(typed) == 2
        error = capsys.readouterr().err
        assert asked in error
        assert error.count("\n") == 1
    assert main([*typed, "--torque-ratio", "0.02"]) == 0
    assert main([*typed, "--torque-ratio", "0.02"]) == 2  # the file is there by now
    assert "--force" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "values", "key"),
    [
        ("--spins", ["ccw"] * 4, "cannot turn the aircraft about every axis: all spin ccw"),
        ("--max-thrust", ["-6"], "--max-thrust -6: a number above 0 is expected"),
        ("--torque-ratio", ["0"], "--torque-ratio 0: a number above 0 is expected"),
    ],
)
def test_a_vehicle_that_cannot_fly_is_refused_and_not_written(tmp_path, capsys, word, values, key):
    path, out = tmp_path / "quad.urdf", tmp_path / "out.yaml"
    path.write_text(urdf(motors=False), encoding="utf-8")
    given = {"--spins": SPINS, "--max-thrust": ["6"], "--torque-ratio": ["0.02"], word: values}
    options = [each for name, texts in given.items() for each in (name, *texts)]
    places = [each for x, y in CORNERS for each in ("--rotor", str(x), str(y), "0.05")]
    assert main(["import", str(path), "--out", str(out), *places, *options]) == 2
    error = capsys.readouterr().err
    assert key in error and error.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(("one", "said"), [("3.4", "cannot hover: 13.6 N of thrust"), ("3.5", "")])
def test_rotors_that_do_not_carry_the_weight_are_named(tmp_path, capsys, one, said):
    path = tmp_path / "quad.urdf"
    path.write_text(urdf(), encoding="utf-8")
    out = str(tmp_path / "out.yaml")
    assert 4 * 3.4 < expected()[0] * 9.81 < 4 * 3.5
    assert main(["import", str(path), "--out", out, "--max-thrust", one]) == 0
    printed = capsys.readouterr().out
    assert said in printed and ("cannot hover" in printed) == bool(said)


def test_six_rotors_become_a_centre_with_groups_and_keep_the_mass(tmp_path):
    path = tmp_path / "hexa.urdf"
    path.write_text(urdf(motors=False), encoding="utf-8")
    angles = np.arange(6) * np.pi / 3.0
    places = [
        w for a in angles for w in ("--rotor", f"{0.3 * np.cos(a)}", f"{0.3 * np.sin(a)}", "0.05")
    ]
    out = tmp_path / "hexa.yaml"
    spins = ["--spins", *(["ccw", "cw"] * 3), "--max-thrust", "6", "--torque-ratio", "0.02"]
    assert main(["import", str(path), "--out", str(out), *places, *spins]) == 0
    platform = load_platform(str(out))
    mass, moments = expected()
    bodies = [platform.center, *platform.fleet]
    assert sum(body.mass for body in bodies) == pytest.approx(mass, rel=1e-9)
    total = sum(inertia_matrix(body.inertia) for body in bodies)
    np.testing.assert_allclose(np.diag(total), moments, rtol=1e-9)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<robot name='r'><link name='a'/>", "not valid XML"),
        ("<html/>", "<html>"),
        ("<robot name='r'><link name='a'/><link name='b'/></robot>", "2 links have no parent"),
        (
            "<sdf><model name='m'><include><uri>model://m</uri></include></model></sdf>",
            "include each other",
        ),
        (
            "<sdf><model name='m'><include><uri>model://gone</uri></include></model></sdf>",
            "no folder above",
        ),
        (mjcf().replace("'s0' pos='0.2", "'s0' pos='1e300", 1), "at most 1e+15"),
        (
            "<robot name='r'><link name='a'><inertial><mass value='1e300'/></inertial></link></robot>",
            "1e300",
        ),
        *(
            (
                "<robot name='r'><link name='a'><inertial><mass value='1'/></inertial><collision>"
                f"<geometry><{shape}/></geometry></collision></link></robot>",
                f"a {shape.split()[0]} has no {missing}",
            )
            for shape, missing in (
                ("box", "size"),
                ("sphere size='1 1 1'", "radius"),
                ("cylinder radius='1'", "length"),
            )
        ),
    ],
)
def test_damaged_vehicles_are_refused_in_one_line(tmp_path, capsys, text, words):
    (tmp_path / "m").mkdir()
    path = tmp_path / "m" / "model.sdf"
    path.write_text(text, encoding="utf-8")
    assert main(["import", str(path), "--out", str(tmp_path / "out.yaml")]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("kind", ["stl", "glb"])
def test_a_mesh_has_the_mass_and_inertia_of_its_density(tmp_path, kind):
    ball = trimesh.creation.icosphere(subdivisions=5, radius=0.3)
    ball.apply_scale(1000.0 if kind == "stl" else 1.0)
    path, out = tmp_path / f"ball.{kind}", tmp_path / "ball.yaml"
    ball.export(path)
    scale = ["--scale", "0.001"] if kind == "stl" else []
    assert main(["import", str(path), "--out", str(out), "--density", "250", *scale]) == 0
    item = validate(Mesh, read_yaml(out), source="test")
    mass = 250.0 * 4.0 / 3.0 * np.pi * 0.3**3
    assert item.mass == pytest.approx(mass, rel=1e-3)
    bulk = Bulk.of(item.pieces())
    inertia = item.mass / bulk.volume * bulk.inertia
    np.testing.assert_allclose(inertia, 0.4 * mass * 0.3**2 * np.eye(3), rtol=2e-3, atol=1e-6)


def test_an_open_mesh_has_no_mass(tmp_path, capsys):
    trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]).export(tmp_path / "sheet.ply")
    assert (
        main(
            [
                "import",
                str(tmp_path / "sheet.ply"),
                "--out",
                str(tmp_path / "o.yaml"),
                "--density",
                "1",
            ]
        )
        == 2
    )
    assert "closed" in capsys.readouterr().err
