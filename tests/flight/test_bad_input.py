# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be flown is refused through the command line by one line that names file, key and value."""

import json
from contextlib import contextmanager

import numpy as np
import pytest
import yaml

from iap_bringup import report, run
from iap_bringup.cli import main
from iap_bringup.runfolder import load_run
from iap_control.controller import PlatformController
from iap_description.platform import platform_tree
from iap_description.states import Command

HOVER = {"type": "hover", "duration": 1.0, "position": [0.0, 0.0, 1.5], "rpy_deg": [0.0, 0.0, 0.0]}
GOOD = {"description": "A test.", "platform": "three_star", "reference": HOVER}
FAST = ["--no-plot", "--set", "engine.name=closed_form"]


@pytest.fixture
def refused(tmp_path, capsys):
    """Runs a command that must be refused; returns its one line of complaint."""

    def call(*arguments, verb="run"):
        out = tmp_path / "refused"
        code = main([verb, *map(str, arguments), "--out", str(out)])
        printed, complaint = capsys.readouterr()
        assert code == 2
        assert printed == ""
        assert complaint.startswith("iap: ") and complaint.count("\n") == 1
        assert "Traceback" not in complaint
        assert not out.exists()
        return complaint

    return call


@pytest.fixture
def scenario(tmp_path):
    """Writes a scenario file: the good one with keys replaced, or removed where the value is ``...``."""

    def write(text=None, **changes):
        tree = {key: value for key, value in {**GOOD, **changes}.items() if value is not ...}
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump(tree) if text is None else text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def platform(tmp_path):
    """Writes a platform file: three_star changed by a function."""

    def write(change):
        tree = platform_tree("three_star")[0]
        change(tree)
        path = tmp_path / "vehicle.yaml"
        path.write_text(yaml.safe_dump(tree), encoding="utf-8")
        return path

    return write


def test_the_unchanged_scenario_and_platform_do_fly(scenario, platform, tmp_path, capsys):
    vehicle = platform(lambda tree: None)
    out = tmp_path / "run"
    code = main(["run", str(scenario()), "--platform", str(vehicle), "--out", str(out), *FAST])
    assert code == 0
    assert capsys.readouterr().err == ""
    assert (out / "metrics.json").is_file()


# --- names -------------------------------------------------------------------------------------


def test_an_unknown_scenario_is_named_with_what_there_is(refused):
    line = refused("nowhere")
    assert "'nowhere'" in line and "hover" in line


def test_a_scenario_file_that_does_not_exist_is_named(refused, tmp_path):
    assert "gone.yaml" in refused(tmp_path / "gone.yaml")


@pytest.mark.parametrize(
    "name", ["octopus", "star_1", "star_13", "line_0", "f450_fixed", "star_x"]
)
def test_an_unknown_platform_is_named(refused, name):
    assert f"'{name}'" in refused("hover", "--platform", name)


def test_an_unknown_gain_preset_is_named_with_what_there_is(refused):
    line = refused("hover", "--gains", "bold")
    assert "'bold'" in line and "paper" in line


def test_names_in_a_file_are_checked_like_those_on_the_command_line(refused, scenario):
    assert "'octopus'" in refused(scenario(platform="octopus"))
    assert "'bold'" in refused(scenario(control={"gains": "bold"}))


# --- the command line --------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["-1", "0", "nan", "-inf"])
def test_a_duration_must_be_positive(refused, value):
    line = refused("hover", f"--duration={value}")
    assert "--duration" in line and value in line


def test_an_endless_duration_is_refused(refused):
    assert "duration" in refused("hover", "--duration", "inf")


def test_a_negative_seed_is_refused(refused):
    line = refused("hover", "--seed", "-3")
    assert "seed" in line and "-3" in line


def test_an_unknown_key_of_set_is_named_with_the_known_ones(refused):
    line = refused("hover", "--set", "wind.sped=4")
    assert "'wind.sped'" in line and "speed" in line


@pytest.mark.parametrize("text", ["wind.speed", "=4", ""])
def test_set_needs_key_and_value(refused, text):
    assert "KEY=VALUE" in refused("hover", "--set", text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("wind.speed=fast", "fast"),
        ("wind.speed=-1", "-1"),
        ("wind.speed=.nan", "nan"),
        ("seed=1.5", "1.5"),
    ],
)
def test_a_value_of_set_is_checked(refused, text, value):
    line = refused("hover", "--set", text)
    assert text.partition("=")[0] in line and value in line


@pytest.mark.parametrize(("physics", "control"), [(1000.0, 300.0), (100.0, 200.0), (1000.0, 0.0)])
def test_physics_must_be_a_whole_multiple_of_control(refused, physics, control):
    line = refused(
        "hover", "--set", f"rates.physics_hz={physics}", "--set", f"rates.control_hz={control}"
    )
    assert "rates" in line and str(control) in line


def test_an_autopilot_rate_must_divide_physics(refused):
    line = refused("hover", "--set", "control.gains.autopilot.rate_hz=300.0")
    assert "rate_hz" in line and "300.0" in line


def test_an_existing_run_folder_is_never_overwritten(tmp_path, capsys):
    out = tmp_path / "run"
    out.mkdir()
    (out / "mine.txt").write_text("keep", encoding="utf-8")
    assert main(["run", "hover", "--out", str(out), *FAST]) == 2
    printed, complaint = capsys.readouterr()
    assert printed == "" and str(out) in complaint and complaint.count("\n") == 1
    assert (out / "mine.txt").read_text(encoding="utf-8") == "keep"


def test_a_run_folder_below_a_file_cannot_be_made(tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["run", "hover", "--out", str(tmp_path / "file" / "run"), *FAST]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["run"],
        ["run", "hover", "--speed", "3"],
        ["run", "hover", "--duration", "long"],
    ],
)
def test_misuse_of_the_command_line_exits_with_2_and_says_how_to_use_it(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    printed, complaint = capsys.readouterr()
    assert printed == "" and "usage" in complaint


# --- scenario files ----------------------------------------------------------------------------


def test_a_missing_key_is_named(refused, scenario):
    line = refused(scenario(reference={key: HOVER[key] for key in HOVER if key != "duration"}))
    assert "mine.yaml" in line and "duration" in line and "missing" in line


def test_a_scenario_without_a_reference_is_refused(refused, scenario):
    line = refused(scenario(reference=...))
    assert "mine.yaml" in line and "reference" in line


def test_an_unknown_key_is_named(refused, scenario):
    line = refused(scenario(wnd={"speed": 3.0}))
    assert "mine.yaml" in line and "'wnd'" in line


def test_an_unknown_key_inside_a_section_is_named_with_its_path(refused, scenario):
    assert "'wind.sped'" in refused(scenario(wind={"sped": 3.0}))


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
        ({"seed": "one"}, "seed", "'one'"),
        ({"seed": 1.5}, "seed", "1.5"),
        ({"seed": True}, "seed", "True"),
        ({"duration": "1 s"}, "duration", "'1 s'"),
        ({"duration": float("nan")}, "duration", "nan"),
        ({"wind": {"speed": float("inf")}}, "wind.speed", "inf"),
        ({"wind": {"turbulence": 5.0}}, "turbulence", ""),
        ({"world": {"gravity": -9.81}}, "world.gravity", "-9.81"),
        ({"engine": {"name": "raisim"}}, "engine.name", "'raisim'"),
        ({"engine": "pybullet"}, "engine", "'pybullet'"),
        ({"rates": 200.0}, "rates", "200.0"),
        ({"offset": [0.0, 0.0]}, "offset", ""),
        ({"offset": [0.0, "a", 0.0]}, "offset", "'a'"),
        ({"name": "my drone"}, "name", "'my drone'"),
        ({"start": {"mode": "sea"}}, "start.mode", "'sea'"),
        ({"start": {"lead_in": -1.0}}, "start.lead_in", "-1.0"),
        ({"model_error": {"mass": 0.0}}, "model_error.mass", "0.0"),
        ({"state_noise": {"position": -0.1}}, "state_noise.position", "-0.1"),
        ({"control": {"yaw": "given"}}, "aircraft_yaw_deg", ""),
        ({"control": {"yaw": "given", "aircraft_yaw_deg": [0.0]}}, "aircraft_yaw_deg", "1"),
        ({"control": {"gains": 7}}, "control.gains", "7"),
        ({"control": 5}, "control", "5"),
        ({"platform": 5}, "platform", "5"),
        ({"platform": ["three_star"]}, "platform", "three_star"),
        ({"reference": "spiral"}, "reference", "'spiral'"),
        ({"reference": {**HOVER, "type": "loop"}}, "reference", "loop"),
        ({"reference": {**HOVER, "duration": -1.0}}, "duration", "-1.0"),
        ({"reference": {**HOVER, "position": [0.0, 0.0, float("nan")]}}, "position", "nan"),
        ({"reference": {**HOVER, "height": 1.0}}, "height", ""),
        ({"vehicles": []}, "vehicles", ""),
        ({"vehicles": "two"}, "vehicles", ""),
        ({"vehicles": ["iap_1", "iap_2"]}, "vehicles", "'iap_1'"),
        ({"vehicles": [{"name": "a"}]}, "reference", ""),
        ({"extends": 3}, "extends", "3"),
        ({"extends": "nowhere"}, "nowhere", ""),
        ({"description": 7}, "description", "7"),
        ({"metrics": {"window": [1.0]}}, "metrics.window", ""),
    ],
)
def test_a_wrong_value_is_named_with_its_file_and_key(refused, scenario, changes, key, value):
    if "vehicles" in changes:
        changes = {**changes, "platform": ..., "reference": ...}
    line = refused(scenario(**changes))
    assert key in line and value in line
    assert "mine.yaml" in line or "unknown" in line


def test_vehicles_of_equal_names_are_refused(refused, scenario):
    twins = [{"name": "iap", "platform": "f450", "reference": HOVER}] * 2
    line = refused(scenario(vehicles=twins, platform=..., reference=...))
    assert "vehicles" in line and "iap" in line


def test_vehicles_and_the_keys_of_one_vehicle_do_not_go_together(refused, scenario):
    one = {"name": "iap", "platform": "f450", "reference": HOVER}
    assert "mine.yaml" in refused(scenario(vehicles=[one]))


def test_scenarios_that_extend_each_other_in_a_circle_are_refused(refused, tmp_path):
    for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
        text = f"extends: {tmp_path / (other + '.yaml')}\n"
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    line = refused(tmp_path / "a.yaml")
    assert "extends" in line and ".yaml" in line


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- a\n- b\n",
        "just words",
        "reference: {type: hover",
        "a: 1\na: 2\n",
        "a: [1, 2\nb: }",
        "!!python/object:os.system {}\n",
        "\tplatform: f450\n",
        "{[1, 2]: 3}\n",
        "1: 2\n",
    ],
)
def test_a_file_that_is_no_mapping_is_refused(refused, scenario, text):
    assert "mine.yaml" in refused(scenario(text))


def test_a_binary_file_is_refused(refused, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(bytes(range(256)))
    assert "mine.yaml" in refused(path)


# --- platforms ---------------------------------------------------------------------------------


def put(tree, path, value):
    *parents, last = path.split(".")
    for key in parents:
        tree = tree[int(key) if key.isdigit() else key]
    tree[last] = value


@pytest.mark.parametrize(
    ("path", "value", "shown"),
    [
        ("center.mass", 0.0, "0.0"),
        ("center.mass", -1.1, "-1.1"),
        ("center.mass", float("nan"), "nan"),
        ("center.mass", "heavy", "'heavy'"),
        ("aircraft.mass", 0.0, "0.0"),
        ("center.inertia", [0.02, 0.02, 0.045], "triangle inequality"),
        ("aircraft.inertia", [0.02, 0.02, 0.045], "triangle inequality"),
        ("center.inertia", [0.1, 0.1, -0.1], "inertia"),
        ("center.inertia", [0.1, 0.1], "inertia"),
        ("center.inertia", [0.1, 0.1, 0.1, 0.0, 0.0, 0.5], "inertia"),
        ("aircraft.rotor.rpm_min", 9000.0, "rpm_max"),
        ("aircraft.rotor.time_constant_up", 0.0, "0.0"),
        ("aircraft.rotors", [], "rotors"),
        ("joints.0.type", "hinge", "'hinge'"),
        ("joints.0.position", [0.1, 0.0], "position"),
        ("joints.0.position", [0.1, 0.0, float("inf")], "inf"),
        ("joints", [], "joints"),
        ("joints", None, "joints"),
        ("wings", 2, "unknown key"),
    ],
)
def test_an_impossible_platform_is_refused_with_its_key(refused, platform, path, value, shown):
    line = refused("hover", "--platform", platform(lambda tree: put(tree, path, value)))
    assert path.split(".")[-1] in line and shown in line
    assert "vehicle.yaml" in line


def test_joints_all_at_one_point_are_refused(refused, platform):
    def gather(tree):
        for joint in tree["joints"]:
            joint["position"] = [0.1, 0.0, 0.05]

    line = refused("hover", "--platform", platform(gather))
    assert "joints" in line and "one point" in line and "vehicle.yaml" in line


def test_a_single_joint_is_refused(refused, platform):
    line = refused(
        "hover", "--platform", platform(lambda tree: put(tree, "joints", tree["joints"][:1]))
    )
    assert "joints" in line and "1" in line and "vehicle.yaml" in line


def test_spherical_and_fixed_joints_on_one_platform_are_refused(refused, platform):
    line = refused(
        "hover", "--platform", platform(lambda tree: put(tree, "joints.1.type", "fixed"))
    )
    assert "joints" in line and "'fixed'" in line


def test_an_unknown_aircraft_is_named(refused, platform):
    line = refused("hover", "--platform", platform(lambda tree: put(tree, "aircraft", "f900")))
    assert "vehicle.yaml" in line and "'f900'" in line


def test_a_mass_on_the_command_line_is_checked_too(refused):
    line = refused("hover", "--set", "platform.center.mass=-1.0")
    assert "center.mass" in line and "-1.0" in line


# --- flights that end badly --------------------------------------------------------------------


def test_commands_that_are_not_numbers_end_the_flight_with_a_word_for_it(
    tmp_path, capsys, monkeypatch
):
    """Exit code 1, an outcome in metrics.json, and what was flown is kept up to that command."""
    fine, steps = PlatformController.__call__, []

    def broken(self, *arguments):
        steps.append(1)
        command = fine(self, *arguments)
        if len(steps) > 100:
            command.thrust[:] = np.nan
        return command

    monkeypatch.setattr(PlatformController, "__call__", broken)
    out = tmp_path / "run"
    assert main(["run", "hover", "--out", str(out), *FAST]) == 1
    complaint = capsys.readouterr().err
    assert "invalid_command" in complaint and complaint.count("\n") == 1
    assert (
        json.loads((out / "metrics.json").read_text(encoding="utf-8"))["outcome"]
        == "invalid_command"
    )
    t = load_run(out).vehicles[0].columns.t
    assert t[-1] == pytest.approx(0.5)


def test_a_flight_that_fails_in_its_first_step_still_ends_in_order(tmp_path, capsys, monkeypatch):
    def broken(self, *_):
        command = Command.zeros(self.model.count)
        command.thrust[:] = np.inf
        return command

    monkeypatch.setattr(PlatformController, "__call__", broken)
    out = tmp_path / "run"
    assert main(["run", "hover", "--out", str(out), *FAST]) == 1
    assert "invalid_command" in capsys.readouterr().err
    assert (
        json.loads((out / "metrics.json").read_text(encoding="utf-8"))["outcome"]
        == "invalid_command"
    )


def test_a_crash_is_a_failed_flight_with_its_reason(tmp_path, capsys):
    """A platform three times as heavy as its model sinks to the ground."""
    out = tmp_path / "run"
    sets = ["--set", "model_error.mass=3.0", "--duration", "6"]
    assert main(["run", "hover", "--no-plot", "--out", str(out), *sets]) == 1
    complaint = capsys.readouterr().err
    assert "crashed" in complaint and "ground" in complaint
    assert json.loads((out / "metrics.json").read_text(encoding="utf-8"))["outcome"] == "crashed"


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_an_interrupt_keeps_what_was_flown_readable(tmp_path, capsys, monkeypatch, seconds):
    @contextmanager
    def interrupted(*_):
        def progress(t):
            if t > seconds:
                raise KeyboardInterrupt

        yield progress

    monkeypatch.setattr(report, "progress_bar", interrupted)
    out = tmp_path / "run"
    assert main(["run", "hover", "--out", str(out), *FAST]) == 130
    complaint = capsys.readouterr().err
    assert "interrupted" in complaint and complaint.count("\n") == 1
    metrics = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["outcome"] == "interrupted"
    t = load_run(out).vehicles[0].columns.t
    assert t[-1] == pytest.approx(seconds, abs=0.3)
    assert np.isfinite(load_run(out).vehicles[0].columns.x).all()


def test_an_interrupt_before_the_flight_exits_with_130(capsys, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(run.Flight, "of", stop)
    assert main(["run", "hover", *FAST]) == 130
    assert capsys.readouterr().err.count("\n") == 1
