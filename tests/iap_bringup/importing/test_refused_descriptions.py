# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of vehicles, joysticks and tables that are none, each refused in one line that says what is odd."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_bringup.importing.mjcf_file import read_mjcf
from iap_bringup.importing.rotor_options import _sources
from iap_bringup.importing.sdf_file import read_sdf
from iap_bringup.importing.urdf_file import read_urdf
from iap_bringup.teleop.mappings import StickAxis, VelocityAxes
from iap_bringup.teleop.stick_reference import _deflections
from iap_bringup.viewing.run_table import _rows
from iap_description.errors import BadInput

LINKS = '<link name="a"/><link name="b"/><link name="c"/>'


def joint(parent, child):
    return (
        f'<joint name="{parent}{child}" type="fixed"><parent link="{parent}"/>'
        f'<child link="{child}"/></joint>'
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<model/>", "its root is <model>, not <robot>"),
        ("<robot", "not valid XML"),
        (f"<robot>{LINKS}{joint('b', 'c')}{joint('c', 'b')}</robot>", "its joints form a circle"),
        (f"<robot>{LINKS}{joint('a', 'b')}</robot>", "2 links have no parent, a tree has one"),
        (f"<robot>{LINKS}{joint('a', 'd')}</robot>", "joint 'ad' is of a link that is not there"),
    ],
)
def test_links_that_are_no_tree_are_refused(text, said, tmp_path):
    path = tmp_path / "quad.urdf"
    path.write_text(text)
    with pytest.raises(BadInput, match=f"^{path}: {said}"):
        read_urdf(path, {})


def test_an_sdf_file_without_a_model_is_refused(tmp_path):
    path = tmp_path / "model.sdf"
    path.write_text('<sdf version="1.6"><world name="w"/></sdf>')
    with pytest.raises(BadInput, match=f"^{path}: it has no <model>$"):
        read_sdf(path, {})


def rotors(spins, count=2):
    options: Any = SimpleNamespace(
        rotors=[(float(i), 0.0, 0.0) for i in range(count)], spins=spins
    )
    vehicle: Any = SimpleNamespace(rotors=())
    return _sources(vehicle, options, "quad.urdf")


def test_spins_are_given_of_all_rotors():
    assert [each.spin for each in rotors(("cw", "ccw"))] == ["cw", "ccw"]
    with pytest.raises(BadInput, match="^--spins: 3 are given of 2 rotors$"):
        rotors(("cw", "ccw", "cw"))
    with pytest.raises(BadInput, match=r"^quad\.urdf: it does not say where its rotors are"):
        rotors((), count=0)


def test_a_joystick_has_the_axes_that_it_is_mapped_by():
    axes = VelocityAxes(**{name: StickAxis(axis=i, full=2.0) for i, name in enumerate("xyz")})
    out = _deflections([0.5, -2.0, 0.0], axes, "velocity", 0.0)
    np.testing.assert_allclose(out, [1.0, -2.0, 0.0])
    with pytest.raises(BadInput, match=r"^joystick: key 'velocity\.z': axis 2 of only 2$"):
        _deflections([0.5, 0.5], axes, "velocity", 0.0)
    with pytest.raises(BadInput, match=r"^joystick: key 'velocity\.y': axis 1 is nan$"):
        _deflections([0.5, np.nan, 0.5], axes, "velocity", 0.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "not there yet"),
        ("seed,a\n", "no runs"),
        ("seed,a\n1,2\nx,3\n", "line 3 is damaged"),
        ("a,b\n1,2\n", "line 2 is damaged"),
    ],
)
def test_a_table_of_runs_has_lines_with_seeds(text, said, tmp_path):
    path = tmp_path / "table.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BadInput, match=f"^{path}: {said}"):
        _rows(path)
    path.write_text("seed,a\n1,2\n2,3\n")
    assert [row["a"] for row in _rows(path)] == ["2", "3"]


def test_a_description_that_includes_itself_is_refused(tmp_path):
    path = tmp_path / "quad.xacro"
    path.write_text(
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="q">'
        f'<xacro:include filename="{path}"/></robot>'
    )
    with pytest.raises(BadInput, match=f"^{path}: it includes itself$"):
        read_urdf(path, {})


def test_what_mujoco_refuses_is_refused_with_its_reason(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "quad.xml"
    path.write_text("<mujoco><worldbody><body><wing/></body></worldbody></mujoco>")
    with pytest.raises(BadInput, match=f"^{path}: MuJoCo refuses it: "):
        read_mjcf(path, {})


@pytest.mark.parametrize("place", ["inf 0 1", "1e200 0 1"])
def test_a_place_in_a_model_of_mujoco_that_is_beyond_any_is_refused(tmp_path, place):
    pytest.importorskip("mujoco")
    path = tmp_path / "quad.xml"
    body = f"<body pos='{place}'><freejoint/><geom type='sphere' size='0.1' mass='1'/></body>"
    path.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with pytest.raises(BadInput, match=r"quad\.xml: .*(at most 1e\+15|refuses it)"):
        read_mjcf(path, {})
