# SPDX-License-Identifier: BSD-3-Clause
"""Answers to a user who asks what is installed, what there is to fly, and what a shell completes."""

import json
import subprocess
import sys

import pytest

from iap_bringup.cli import doctor, installed_versions
from iap_bringup.cli.arguments.studies import LISTED
from iap_bringup.cli.listing import KINDS
from iap_bringup.cli.main import main
from iap_simulation.scenario.shipped import SCENARIOS

WITHOUT = """
import importlib.util, sys
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in {missing!r} else real(name, *rest)
for name in {missing!r}:
    sys.modules[name] = None
from iap_bringup.cli.main import main
sys.exit(main(["doctor", "--json"]))
"""


def findings_without(*missing):
    code = WITHOUT.format(missing=missing)
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def test_a_whole_installation_is_ready(capsys):
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "ready to fly" in text and "numpy" in text and "ROS 2" in text


def test_a_missing_package_is_named_with_the_line_that_installs_it():
    code, tree = findings_without("rich", "pydantic")
    assert code == 1 and tree["broken"] == ["pydantic", "rich"]
    remedies = {each["name"]: each["remedy"] for each in tree["findings"]}
    assert remedies["rich"] and not remedies["numpy"]


@pytest.mark.parametrize(("fits", "browser"), [(True, ""), (False, "chromium")])
def test_what_is_there_has_no_remedy_and_what_is_missing_has_one(
    fits, browser, monkeypatch, capsys
):
    monkeypatch.setattr(doctor, "graphics", lambda: ("an entry", fits))
    monkeypatch.setattr(doctor, "browser", lambda: browser)
    main(["doctor", "--json"])
    findings = {each["name"]: each for each in json.loads(capsys.readouterr().out)["findings"]}
    drawn, shown = findings["OpenGL (EGL)"], findings["browser"]
    assert (drawn["is_there"], shown["is_there"]) == (fits, bool(browser))
    assert ("libegl1" in drawn["remedy"]) != fits
    assert ("chromium" in shown["remedy"]) != bool(browser)


def test_one_engine_with_contact_is_enough():
    assert findings_without("pybullet")[0] == 0
    code, tree = findings_without("pybullet", "mujoco")
    assert code == 1 and tree["broken"] == ["pybullet", "mujoco-core"]


def test_a_missing_extra_does_not_hinder_a_flight():
    code, tree = findings_without("gymnasium", "rclpy")
    assert code == 0
    gym = next(each for each in tree["findings"] if each["name"] == "gymnasium")
    assert not gym["is_there"] and "pip install" in gym["remedy"]


def test_every_kind_is_listed_and_can_be_asked_for_alone(capsys):
    assert tuple(KINDS) == LISTED
    assert main(["list", "--json", "task", "experiments"]) == 0
    tree = json.loads(capsys.readouterr().out)
    assert set(tree) == {"tasks", "experiments"}
    assert tree["tasks"]["docking"] and "landing" in tree["experiments"]


def test_no_line_of_the_lists_is_wider_than_the_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert all(name in text for name in SCENARIOS.names())


@pytest.mark.parametrize(
    ("version", "needed", "fits"),
    [
        ("2.1", "<3,>=2.1", True),
        ("2.1.0", "<3,>=2.1", True),
        ("1.26.4", "<3,>=2.1", False),
        ("3.0.0rc1", "<3,>=2.1", False),
        ("4.4.0.post1", "<5,>=4.4", True),
        ("0.5.0", "==0.5.0", True),
        ("0.5.1", "==0.5.0", False),
        ("1.0", "", True),
    ],
)
def test_versions_are_compared_number_by_number(version, needed, fits):
    assert installed_versions.fits(version, needed) is fits


@pytest.fixture
def old_numpy(monkeypatch):
    """An environment into which somebody put NumPy 1."""
    real = installed_versions.metadata.version
    monkeypatch.setattr(
        installed_versions.metadata,
        "version",
        lambda name: "1.26.4" if name == "numpy" else real(name),
    )
    lines = ["numpy<3,>=2.1", 'viser<1.2,>=1.1.1; extra == "view"']
    monkeypatch.setattr(installed_versions.metadata, "requires", lambda _: lines)


@pytest.mark.usefixtures("old_numpy")
def test_another_version_of_a_package_is_one_line_where_a_command_fails_by_it(monkeypatch, capsys):
    def broken(_):
        raise ImportError("numpy.core.multiarray failed to import")

    monkeypatch.setattr("iap_bringup.cli.main._run", broken)
    assert main(["list"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "numpy<3,>=2.1 is needed, and 1.26.4 is installed: " in line
    assert line.endswith("-m pip install 'numpy<3,>=2.1'")


@pytest.mark.usefixtures("old_numpy")
def test_doctor_is_not_ready_with_another_version_of_a_package(capsys):
    assert main(["doctor", "--json"]) == 1
    tree = json.loads(capsys.readouterr().out)
    (numpy,) = [each for each in tree["findings"] if each["name"] == "numpy"]
    assert numpy["state"] == "1.26.4, needed is <3,>=2.1" and "pip install" in numpy["remedy"]
    assert tree["broken"] == ["numpy"]


def test_a_fault_with_the_right_packages_keeps_its_traceback(monkeypatch):
    def broken(_):
        raise ZeroDivisionError

    monkeypatch.setattr("iap_bringup.cli.main._run", broken)
    with pytest.raises(ZeroDivisionError):
        main(["list"])
