# SPDX-License-Identifier: BSD-3-Clause
"""Tables of fits, findings of the doctor and lists of names hold what there is."""

import json
from types import SimpleNamespace

from iap_bringup.cli import doctor, identify, listing, machine
from iap_bringup.cli.main import main


def test_tables_of_a_fit_have_errors_shares_and_intervals():
    metrics = {
        "validate": ["a"],
        "fit": ["b", "c"],
        "validated_on_training": False,
        "rms": {"u_l": 0.5, "w": 0.0},
        "rmse": {identify.THIS_FIT: {"u_l": 0.125, "w": 0.25}},
        "training_rmse": {"u_l": 0.0625, "w": 0.03125},
    }
    table = identify._error_table(metrics)
    rows = [list(column.cells) for column in table.columns]
    assert rows == [
        ["u_l, m/s", "w, rad/s"],
        ["0.1250", "0.2500"],
        ["0.0625", "0.0312"],
        ["0.5000", "0.0000"],
        ["25.0 %", "0.0 %"],
    ]
    assert table.title == "a (held out); fitted: b, c"
    assert (
        "NOT held out" in identify._error_table({**metrics, "validated_on_training": True}).title
    )
    parameters = identify._parameter_table({"k": [1.23456789, 0.0123], "m": [2e-118, None]})
    assert [list(column.cells) for column in parameters.columns] == [
        ["k", "m"],
        ["1.23", "0"],
        ["0.012", "not determined"],
    ]


def test_the_doctor_judges_python_engines_pictures_and_ros(monkeypatch):
    for version, fits in (((3, 10), False), ((3, 11), True), ((3, 14), True), ((3, 15), False)):

        class Info(tuple):
            major, minor, micro = 3, version[1], 2

        monkeypatch.setattr(
            doctor, "sys", SimpleNamespace(version_info=Info((*version, 2)), executable="python")
        )
        python = next(each for each in doctor._suite() if each.name == "Python")
        assert python.is_there is fits and python.is_needed and bool(python.remedy) is not fits
        assert python.state == f"3.{version[1]}.2, python"
    monkeypatch.undo()
    monkeypatch.setattr(
        doctor, "find_spec", lambda name: None if name in ("pybullet", "mujoco") else True
    )
    assert [each.is_needed for each in doctor._engines()] == [True, True, False]
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "pybullet" else True)
    assert [each.is_needed for each in doctor._engines()] == [False, False, False]
    assert "no wheel" in doctor.pybullet_remedy(
        (3, 12)
    ) and "no wheel" not in doctor.pybullet_remedy((3, 11))
    found = doctor._packages(
        "g",
        doctor.MUJOCO,
        (("a", "pybullet"), ("b", "numpy"), ("c", "pybullet"), ("numpy", "numpy")),
    )
    assert [each.is_there for each in found] == [False, True, False, True]
    assert [bool(each.remedy) for each in found] == [False, False, True, False]
    for works in (True, False):
        monkeypatch.setattr(doctor, "graphics", lambda works=works: ("llvmpipe", works))
        monkeypatch.setattr(
            doctor, "video_codecs", lambda works=works: [".webm", ".mp4"] if works else []
        )
        monkeypatch.setattr(
            doctor, "browser", lambda works=works: "/bin/chromium" if works else ""
        )
        monkeypatch.setattr(doctor, "cuda_driver", lambda works=works: "550" if works else "")
        pictures = [*doctor._pictures(), *doctor._gpu()]
        assert [each.is_there for each in pictures] == [works] * 4 and not any(
            each.is_needed for each in pictures
        )
    monkeypatch.setattr(doctor, "ros_underlay", lambda: "")
    assert [each.is_there for each in doctor._ros()] == [False]
    monkeypatch.setattr(doctor, "ros_underlay", lambda: "ROS 2 kilted")
    monkeypatch.setattr(
        doctor, "ros_packages", lambda: {"joy": ("installed", "no stick"), "cv_bridge": ("", "x")}
    )
    monkeypatch.setenv("ROS_DISTRO", "kilted")
    rclpy, joy, bridge = doctor._ros()
    assert rclpy.is_there and joy.is_there and not joy.remedy
    assert (
        bridge.state == "not installed: x"
        and bridge.remedy == "apt-get install ros-kilted-cv-bridge"
    )
    monkeypatch.delenv("ROS_DISTRO")
    assert doctor._ros()[2].remedy == doctor.WITH_ROS


def test_the_doctor_says_where_packages_go_and_what_a_set_up_lacks(monkeypatch):
    monkeypatch.setenv("CONDA_PREFIX", "/opt/conda")
    assert "conda environment /opt/conda is not used" in machine.environment()
    monkeypatch.setattr(machine, "sys", SimpleNamespace(prefix="/opt/conda", executable="python"))
    assert machine.environment() == "conda, /opt/conda"
    for version, fits in (("20.2.4", False), ("20.3", True), ("", False)):
        monkeypatch.setattr(machine, "installed_version", lambda _, version=version: version)
        assert bool(machine.pip()[1]) is not fits
    assert machine.pip() == ("not installed", "python -m ensurepip")
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert "g++" in doctor._compiler("suite").remedy
    monkeypatch.setattr(doctor, "CHECKOUT", None)  # wheels need no compiler
    assert doctor._compiler("suite").is_there
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    monkeypatch.setattr(doctor, "graphics", lambda: ("moderngl is not installed", False))
    remedy = doctor._pictures()[0].remedy
    assert "pip install" in remedy and "libegl1" not in remedy


def test_findings_are_marked_by_whether_they_are_needed_and_end_the_command(monkeypatch, capsys):
    found = [
        doctor.Finding("a", "one", "1.0", is_there=True, is_needed=True),
        doctor.Finding("a", "two", "no", is_there=False, remedy="install two"),
        doctor.Finding("b", "three", "none", is_there=False, is_needed=True),
    ]
    monkeypatch.setattr(doctor, "LOOKS", (lambda: found[:2], lambda: found[2:]))
    monkeypatch.setattr(doctor, "unfit_packages", lambda: [])
    assert main(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines[0] == "a"
        and lines[1].startswith("    one ")
        and lines[2].startswith("  - two")
        and lines[3] == "      install two"
    )
    assert (
        lines[4:6] == ["", "b"]
        and lines[6].startswith("  ! three")
        and lines[-1] == "not ready: three"
    )
    monkeypatch.setattr(doctor, "LOOKS", (lambda: found[:2],))
    assert main(["doctor", "--json"]) == 0
    tree = json.loads(capsys.readouterr().out)
    assert tree["broken"] == [] and [each["name"] for each in tree["findings"]] == ["one", "two"]
    other = SimpleNamespace(version="0.9", needed=">= 1", remedy="mend")
    mended = doctor._in_range(found[0], {"one": other})
    assert mended == found[0]._replace(state="0.9, needed is >= 1", is_there=False, remedy="mend")
    assert doctor._in_range(found[1], {"one": other}) == found[1]


def test_lists_have_the_names_of_their_kinds_with_a_sentence(capsys):
    assert main(["list", "sensors", "engines", "--json"]) == 0
    tree = json.loads(capsys.readouterr().out)
    assert list(tree) == ["engines", "sensors"] and tree["sensors"]["none"] == "no sensors"
    assert set(tree["engines"].values()) == {""} and all(tree["sensors"].values())
    assert not any(text.endswith(".") or text.startswith("#") for text in tree["sensors"].values())
    methods = dict(listing._methods())
    assert (
        "in flight and of recordings" in methods.values() and "of recordings" in methods.values()
    )
    assert (
        dict(listing._policies())["script"] == "baseline, with --task"
        and dict(listing._policies())["hold"] == "learned"
    )
    assert main(["list", "platforms"]) == 0
    said = capsys.readouterr().out
    assert (
        "Platforms: iap run SCENARIO --platform NAME" in said
        and "star_N" in said
        and "Gains" not in said
    )
