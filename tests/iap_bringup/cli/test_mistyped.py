# SPDX-License-Identifier: BSD-3-Clause
"""Mistyped command lines: refused at once, in one line that names what was meant and where it stood."""

import json
import os
import subprocess
import sys

import pytest

import iap_bringup
import iap_simulation
from iap_bringup.cli.main import main

IAP = [
    sys.executable,
    *("-P", "-X", "importtime", "-c"),
    "import sys; from iap_bringup.cli.main import main; sys.exit(main())",
]
SLOW = {"cv2", "jax", "matplotlib", "mujoco", "numba", "numpy", "pybullet", "pydantic", "scipy"}
MOST_MODULES = 250


def complaint(capsys, *typed: str) -> str:
    """The one line that refuses what was typed."""
    assert main(typed) == 2
    printed, text = capsys.readouterr()
    assert printed == "" and text.count("\n") == 1
    return text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("run hvoer", "hover"),
        ("sweep hvoer", "hover"),
        ("rnu hover", "run"),
        ("run hover --platfrom star_4", "--platform"),
        ("run hover --platform thre_star", "three_star"),
        ("run hover --gains papper", "paper"),
        ("run hover --sensors imuu", "imu"),
        ("run hover --scene open_feld", "open_field"),
        ("run hover --set wind.sped=4", "wind.speed"),
        ("run hover --set sensors.imu=paperr", "paper"),
        ("evaluate dokcing", "docking"),
        ("evaluate scrpt --task docking", "script"),
        ("experiment enginse", "engines"),
        ("experiment engines --scenarios hovr", "hover"),
        ("run hover --engine mujco", "mujoco"),
        ("fuzz --kind sensrs", "sensors"),
        ("list platfroms", "platforms"),
        ("urdf thre_star", "three_star"),
        ("train dokcing", "docking"),
        ("completion bsh", "bash"),
        ("bench paralel", "parallel"),
    ],
)
def test_the_nearest_name_is_offered(typed, meant, capsys):
    assert f"did you mean {meant}" in complaint(capsys, *typed.split())


def test_a_value_that_the_shell_cuts_at_its_spaces_is_to_be_quoted(capsys):
    typed = "run hover --set control.gains.kP=[1, 1, 1, 9, 9, 9]"
    assert "quote a value with spaces" in complaint(capsys, *typed.split())


@pytest.mark.parametrize(
    ("typed", "remedy"),
    [("python my_flight.py", "here type python alone"), ("docs", "type ./iap docs there")],
)
def test_a_command_of_a_checkout_is_refused_elsewhere_with_what_to_type(typed, remedy, capsys):
    assert remedy in complaint(capsys, *typed.split())


def test_a_command_without_what_it_needs_names_its_help(capsys):
    assert "scenario (see iap run --help)" in complaint(capsys, "run")


@pytest.mark.parametrize(
    "typed",
    [
        "--set wind.speed=fast",
        "--set reference.position=[1,2]",
        "--set sensors.imu.rate=many",
        "--scene moon",
        "--engine bullet",
        "--sensors camera",
        "--state-source jiont",
    ],
)
def test_the_option_is_blamed_and_not_a_file_of_the_suite(typed, capsys):
    text = complaint(capsys, "run", "hover", "--sensors", "imu", *typed.split())
    assert text.startswith(f"iap: {typed}: ") and ".yaml" not in text


def test_a_file_is_blamed_for_what_stands_in_it(tmp_path, capsys):
    path = tmp_path / "own.yaml"
    path.write_text("extends: hover\nwind: {speed: fast}\n", encoding="utf-8")
    assert complaint(capsys, "run", str(path), "--set", "seed=3").startswith(f"iap: {path}: ")


def test_an_unknown_key_of_a_file_is_refused_with_the_nearest_one(tmp_path, capsys):
    path = tmp_path / "own.yaml"
    path.write_text("extends: hover\nwind: {sped: 3.0}\n", encoding="utf-8")
    assert "did you mean wind.speed" in complaint(capsys, "run", str(path))


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("reference.type=pose", "key 'reference.type': choose hover, spiral"),
        ("reference.type=figure_eigth", "key 'reference.type': did you mean figure_eight"),
        ("reference={}", "missing key 'reference.type'"),
        ("plant.type=body", "key 'plant.type': did you mean bodies"),
    ],
)
def test_a_kind_that_there_is_not_is_named_with_those_that_there_are(typed, told, capsys):
    assert told in complaint(capsys, "run", "hover", "--set", typed)


def test_a_scenario_of_a_few_keys_is_informed_of_extends(tmp_path, capsys):
    path = tmp_path / "own.yaml"
    path.write_text("wind: {speed: 3.0}\n", encoding="utf-8")
    assert "extends" in complaint(capsys, "run", str(path))


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("run hover --set plant=mono8", "unknown identified plant 'mono8'"),
        ("run arm_path --set arm=x", "unknown arm 'x'"),
        ("run hover --set rates.plant_hz=-1", "--set rates.plant_hz=-1: key 'rates.physics_hz'"),
    ],
)
def test_a_refused_value_of_a_key_s_old_name_is_one_line(typed, told, capsys):
    assert told in complaint(capsys, *typed.split())


@pytest.mark.parametrize(
    "typed", ["run nofile.yaml", "run hover --platform nofile.yaml", "evaluate nofile.npz"]
)
def test_a_file_that_is_not_there_is_called_so(typed, capsys):
    assert "nofile" in (text := complaint(capsys, *typed.split())) and "no such file" in text


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("run hover --workers 3", "unknown argument '--workers': an option of sweep, "),
        ("train hold --episodes 3", "unknown argument '--episodes': an option of evaluate"),
        ("run hover --seeds 3", "unknown argument '--seeds': did you mean --seed"),
        ("run --no-such-option", "run: unknown argument '--no-such-option'"),
        ("identify x --nope=3", "identify: unknown argument '--nope'"),
        ("--versoin", "unknown argument '--versoin': did you mean --version?"),
        ("run hover --seed 1.5", "--seed: a whole number is expected, found '1.5'"),
        ("run hover --duration x", "--duration: a number is expected, found 'x'"),
        ("replay x --rate -1", "--rate -1.0: key 'reference.rate': Input should be greater than"),
        ("replay x --what motors --body b", "no poses are read: leave out --body b"),
        ("replay x --scale x", "--scale: a number, or three with commas, is expected, found 'x'"),
        ("train hold --steps 0", "--steps 0: key 'online.steps'"),
        ("train hold --set online.steps=0", "--set online.steps=0: key 'online.steps'"),
        ("run hover --set wind=3", "key 'wind': a mapping of keys belongs here (got 3)"),
        ("run hover --allow-control", "--allow-control: acts on nothing without --view web"),
        ("run hover --view --port 8090", "--port: acts on nothing without --view web"),
        ("evaluate hold --realtime", "--realtime: acts on nothing without --view web"),
        ("localize x --no-browser", "--no-browser: acts on nothing without --view web"),
        ("run hover --state-source virp", "key 'control.state_source': did you mean virpo?"),
    ],
)
def test_what_is_no_option_or_no_value_is_named_with_what_belongs_there(typed, told, capsys):
    assert told in complaint(capsys, *typed.split())


@pytest.mark.parametrize(
    ("text", "found"),
    [("", "nothing: it is empty"), ("- 1", "[1]"), ("some words", "'some words'")],
)
def test_what_stands_in_a_file_without_keys_is_said(text, found, tmp_path, capsys):
    (path := tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    assert f"a mapping of keys is expected, found {found}" in complaint(capsys, "run", str(path))


@pytest.mark.parametrize("verb", ["view", "plot", "render"])
def test_a_file_is_no_folder_of_a_run(verb, tmp_path, capsys):
    (path := tmp_path / "view.html").touch()
    assert f"{path}: a file, no folder; name that of a run" in complaint(capsys, verb, str(path))


def test_a_picture_does_not_replace_a_file_of_another_kind(tmp_path, capsys):
    (path := tmp_path / "mine.yaml").write_text("extends: hover", encoding="utf-8")
    text = complaint(capsys, "render", str(tmp_path), "--out", str(path))
    assert f"--out {path}: a picture's file ends in .png" in text
    assert path.read_text(encoding="utf-8") == "extends: hover"


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["replay", "localize", "view"])
def test_a_folder_that_may_not_be_looked_into_is_bad_input(verb, tmp_path):
    """Asked as a user who is not the system's, since root may look everywhere."""
    (locked := tmp_path / "locked").mkdir(mode=0)
    ask = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.getuid() == 0 else []
    command = [*ask, sys.executable, "-P", "-m", "iap_bringup.cli.main", verb, str(locked)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert str(locked) in done.stderr and "Permission denied" in done.stderr


def test_an_import_does_not_replace_what_it_reads(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (path := tmp_path / "own.yaml").write_text("<robot/>", encoding="utf-8")
    assert "would replace the file that is read" in complaint(
        capsys, "import", "own.yaml", "--force"
    )
    assert path.read_text(encoding="utf-8") == "<robot/>"


def test_misuse_is_said_in_json_too(capsys):
    assert main(["run", "hover", "--json", "--platfrom", "star_4"]) == 2
    printed = json.loads(capsys.readouterr().out)
    assert printed["exit_code"] == 2 and "--platform" in printed["error"]


@pytest.mark.parametrize("typed", ["run hvoer", "run hover --platfrom x", "bench nonsense", "rnu"])
def test_a_typing_error_imports_nothing_that_takes_a_while(typed):
    """In fewer modules than numpy alone has, and so within a third of a second of the processor."""
    done = subprocess.run([*IAP, *typed.split()], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    loaded = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    assert "iap_bringup.cli.main" in loaded
    assert not SLOW & {name.partition(".")[0] for name in loaded}
    assert len(loaded) < MOST_MODULES


def test_the_version_is_that_of_the_packages(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"iap {iap_bringup.__version__}\n"


def test_names_that_are_imported_late_are_seen_by_completion():
    assert {"Simulation", "record", "__version__"} <= set(dir(iap_simulation))


def test_a_range_without_its_count_is_reported_so(capsys):
    assert "FROM:TO:COUNT" in complaint(capsys, "sweep", "hover", "--vary", "wind.speed=0:8")


def test_a_folder_below_a_file_is_not_called_existing(tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    text = complaint(capsys, "run", "hover", "--out", str(tmp_path / "file" / "run"))
    assert "exists" not in text and "no folder" in text


@pytest.mark.parametrize("typed", ["view", "plot", "render", "render --video a.webm"])
def test_a_run_folder_that_is_not_there_is_refused_by_the_name_that_was_typed(typed, capsys):
    verb, *options = typed.split()
    text = complaint(capsys, verb, "runs/nowhere", *options)
    assert text.startswith("iap: runs/nowhere: no such folder; name that of a run")
