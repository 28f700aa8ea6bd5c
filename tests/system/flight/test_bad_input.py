# SPDX-License-Identifier: BSD-3-Clause
"""Inputs that cannot be flown: refused through the command line by one line that names file, key and value."""

import pytest

from iap_bringup.cli.main import main

HOVER = {"type": "hover", "duration": 1.0, "position": [0.0, 0.0, 1.5], "rpy_deg": [0.0, 0.0, 0.0]}
FAST = ["--no-plot", "--no-view", "--set", "engine.name=closed_form"]


def test_the_unchanged_scenario_and_platform_do_fly(scenario, platform, tmp_path, capsys):
    vehicle = platform(lambda tree: None)
    out = tmp_path / "run"
    code = main(["run", str(scenario()), "--platform", str(vehicle), "--out", str(out), *FAST])
    assert code == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if not line.startswith("iap: compil")] == []  # once
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


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ("bold", "unknown name 'bold': choose auto, full_actuation"),
        ("position_yaw", "'position_yaw' flies platforms of actuation rigid"),
        ("no_such_module:Law", "module 'no_such_module' cannot be imported"),
        ("iap_control.allocation.allocator:Allocator", "has no method 'set_gains'"),
    ],
)
def test_a_law_that_is_no_controller_is_named(refused, scenario, law, words):
    line = refused(scenario(control={"law": law}))
    assert "key 'control.law'" in line and words in line


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
def test_misuse_of_the_command_line_exits_with_2_and_one_line(arguments, capsys):
    assert main(arguments) == 2
    printed, complaint = capsys.readouterr()
    assert printed == "" and complaint.count("\n") == 1


@pytest.mark.parametrize(
    "text",
    [
        "wind.speed=" + "[" * 1000,
        "world=3",
        "vehicles=3",
        "cameras=3",
        "sensors=[[1]]",
        "platform=null",
    ],
)
def test_what_set_cannot_make_is_one_line(refused, text):
    assert text.partition("=")[0].partition(".")[0] in refused("hover", "--set", text)


@pytest.mark.parametrize("world", [3, None, []])
def test_a_scene_needs_a_world_that_is_a_mapping(refused, scenario, world):
    line = refused(scenario(world=world), "--scene", "open_field")
    assert "key 'world': a mapping is expected" in line and "mine.yaml" in line


def test_a_tool_needs_a_platform_that_is_a_mapping(refused, scenario):
    assert "key 'platform'" in refused(scenario(platform=3, tool={"type": "rod"}))


@pytest.mark.parametrize("duration", ["1e-9", "0.001"])
def test_a_flight_without_a_whole_control_period_is_refused(refused, duration):
    line = refused("hover", "--duration", duration)
    assert "duration" in line and "control period of 0.005 s" in line


def test_control_that_is_slower_than_flight_is_refused(refused):
    assert "key 'rates.control_hz'" in refused("hover", "--set", "rates.control_hz=0.001")


# --- names become names of files ---------------------------------------------------------------


NO_FILES = ["../../out", "/abs", "..", ".", "", "a\0b", "a/b", "x" * 300, ".hidden", "a\nb"]


@pytest.mark.parametrize("name", NO_FILES)
def test_a_scenario_cannot_name_its_run_elsewhere(refused, scenario, name):
    assert "key 'scenario'" in refused(scenario(scenario=name))


@pytest.mark.parametrize("name", NO_FILES)
def test_a_compared_flight_cannot_be_elsewhere(refused, scenario, name):
    assert "key 'compare." in refused(scenario(compare={name: []}))


def test_any_name_of_a_file_is_that_of_a_run(scenario, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = scenario()
    for name in ("a**b", "[x] ä", ".hidden"):
        own = path.with_name(f"{name}.yaml")
        own.write_bytes(path.read_bytes())
        assert main(["run", str(own), *FAST]) == 0
    assert sorted(each.name for each in (tmp_path / "runs").iterdir()) == [
        "_hidden-001",
        "_x_ ä-001",
        "a__b-001",
    ]


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
        ({"draw": {"mass": 1.0}}, "draw.mass", "1.0"),
        ({"draw": {"colour": 0.1}}, "draw.colour", "unknown key"),
        ({"state_noise": {"position": -0.1}}, "state_noise.position", "-0.1"),
        ({"control": {"yaw": "reference"}}, "aircraft_yaw_deg", ""),
        ({"control": {"yaw": "reference", "aircraft_yaw_deg": [0.0]}}, "aircraft_yaw_deg", "1"),
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
        "\tplatform: f450\n",
        "1: 2\n",
    ],
)
def test_a_file_that_is_no_mapping_is_refused(refused, scenario, text):
    assert "mine.yaml" in refused(scenario(text))


def test_a_binary_file_is_refused(refused, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(bytes(range(256)))
    assert "mine.yaml" in refused(path)
