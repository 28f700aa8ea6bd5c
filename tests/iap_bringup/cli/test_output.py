# SPDX-License-Identifier: BSD-3-Clause
"""Commands: what they print where nobody reads, how they end, and benchmarks by name."""

import contextlib
import json
import logging
import signal
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest
from rich.progress import Progress

from iap_bringup.cli import main as cli
from iap_bringup.cli import replay, studies
from iap_bringup.cli.flight import _untouched, _unused_keys
from iap_bringup.cli.main import main
from iap_bringup.cli.sweep import Pace
from iap_description.config.plain_yaml import yaml_text
from iap_simulation.scenario.resolving import Options, resolve

LIST = [sys.executable, "-P", "-m", "iap_bringup.cli.main", "list"]


def test_closed_output_is_no_fault(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["list"]) == 0


def test_a_full_output_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(LIST, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "iap: standard output: No space left on device\n"


def test_an_output_that_nobody_reads_is_no_traceback():
    with subprocess.Popen(LIST, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as done:
        done.stdout.close()
        complaint = done.stderr.read()
    assert done.returncode == 1
    assert complaint.count("\n") <= 1


def test_a_name_that_no_benchmark_has_is_refused_with_those_that_there_are(capsys):
    assert main(["bench", "nope"]) == 2
    message, _, names = capsys.readouterr().err.strip().rpartition(": ")
    assert message == "iap: bench: no benchmark's name has 'nope' in it"
    files = (Path(__file__).parents[3] / "benchmarks").glob("test_*.py")
    assert set(names.removeprefix("choose ").split(", ")) == {
        each.stem.removeprefix("test_") for each in files
    }


@pytest.mark.parametrize("name", ["speed", "parallel or rays", "localization and not memory"])
def test_names_of_benchmarks_are_joined_and_left_out(name, monkeypatch):
    monkeypatch.setattr(studies.subprocess, "call", lambda *_, **how: 0)
    assert main(["bench", name]) == 0


@pytest.mark.parametrize("code", [0, 1])
def test_what_benchmarks_say_is_the_command_s_exit_code(monkeypatch, code):
    monkeypatch.setattr(studies.subprocess, "call", lambda *_, **how: code)
    assert main(["bench", "speed"]) == code


@pytest.mark.parametrize("code", [0, 1])
def test_figures_of_benchmarks_are_one_line_of_json_and_all_else_goes_elsewhere(
    monkeypatch, capsys, code
):
    def measure(command, stdout):
        assert stdout is sys.stderr
        Path(command[command.index("--figures") + 1]).write_text(
            '{"N = 2": {"value": 46.0}}', encoding="utf-8"
        )
        return code

    monkeypatch.setattr(studies.subprocess, "call", measure)
    assert main(["bench", "speed", "--json"]) == code
    assert json.loads(capsys.readouterr().out) == {"N = 2": {"value": 46.0}}


def test_benchmarks_that_did_not_begin_have_no_figures(monkeypatch, capsys):
    monkeypatch.setattr(studies.subprocess, "call", lambda *_, **how: 4)
    assert main(["bench", "speed", "--json"]) == 4
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (signal.SIGINT, 130, "iap: interrupted, and yet done\n"),
        (signal.SIGTERM, 143, "iap: terminated, and yet done\n"),
    ],
)
def test_a_swallowed_signal_is_reported_by_its_name(number, code, words, monkeypatch, capsys):
    def work(_) -> int:
        with contextlib.suppress(KeyboardInterrupt):  # as a callback does that cannot pass it on
            signal.raise_signal(number)
        return 0

    monkeypatch.setattr(cli, "_run", work)
    assert cli.main(["list"]) == code
    assert capsys.readouterr().err == words


@pytest.mark.parametrize(
    ("there", "completed", "now", "text"),
    [
        (0, 0, 30.0, ""),
        (30, 30, 1.0, ""),
        (0, 20, 10.0, "2 runs/s, 0:00:40 left"),
        (0, 20, 15.0, "2 runs/s, 0:00:35 left"),
        (80, 85, 10.0, "0.5 runs/s, 0:00:30 left"),
    ],
)
def test_what_was_there_already_does_not_count_for_the_pace(there, completed, now, text):
    with Progress(get_time=lambda: clock) as bar:
        clock = 0.0
        task = bar.add_task("", total=100, there=there, seconds=10.0, completed=completed)
        clock = now
        assert Pace().render(bar.tasks[task]).plain == text


@pytest.mark.parametrize(("policy", "count"), [("hold_rotor_thrust", 1), ("hold_velocity", 0)])
def test_gains_are_said_to_act_on_nothing_where_a_policy_commands_aircraft(policy, count):
    scenario, _ = resolve("hover", Options(assignments=(f"policy={policy}",)))
    options = Namespace(gains="paper", assignments=["control.gains.kR=[1.0, 1.0, 1.0]"])
    lines = _unused_keys(scenario, options)
    assert len(lines) == count
    assert all("--gains, control.gains.kR: acts on nothing" in line for line in lines)


@pytest.mark.parametrize(
    ("name", "typed", "idle"),
    [
        ("hover", "control.estimator=default", True),
        ("hover", "control.wrench_filter.cutoff=5.0", True),
        ("hover", "metrics.force_band=1.0", True),
        ("wall_push", "control.wrench_filter.cutoff=5.0", False),
        ("wall_push", "metrics.force_band=1.0", False),
        ("hover", "control.gains.wrench.return_time=0.3", True),
        ("hover", "control.gains.admittance.limit=[0.4, 0.4]", True),
        ("hover", "control.gains.rigid.rate_filter=0.02", True),
        ("beetle_hover", "control.gains.rigid.rate_filter=0.02", True),
        ("hover", "renderer=opengl", True),
        ("hover", "draw.imu_tilt_deg=1.0", True),
        ("hover", "arm.holding=false", True),
        ("arm_hover_swing", "arm.holding=true", False),
        ("hover", "draw.wind_speed=0.1", True),
        ("figure_eight_windy", "draw.wind_speed=0.1", False),
        ("hover", "model_error.drag=1.5", True),
        ("two_platforms", "vehicles.1.control.gains.wrench.return_time=0.3", True),
        ("hover", "platform.center.mass=1.3", False),
        ("hover", "control.gains.disturbance.contact=0.02", False),
    ],
)
def test_a_key_that_acts_on_nothing_in_a_flight_is_said_once(name, typed, idle):
    scenario, _ = resolve(name, Options(assignments=(typed,)))
    lines = _unused_keys(scenario, Namespace(gains=None, assignments=[typed, typed]))
    assert len(lines) == idle
    assert all(line.count(typed.partition("=")[0]) == 1 for line in lines)


@pytest.mark.parametrize(
    ("name", "engine", "lines"),
    [
        (
            "wall_push", "closed_form",
            ["note: wall: vehicles pass through, since engine closed_form has no contact"],
        ),
        ("wall_push", "mujoco", []),
        ("hover", "closed_form", []),
        ("navigate", "closed_form", []),
    ],
)  # fmt: skip
def test_objects_that_are_passed_through_are_named(name, engine, lines):
    scenario, _ = resolve(name, Options(engine=engine))
    assert _untouched(scenario) == lines


def test_keys_of_a_file_that_act_on_nothing_are_said_but_not_those_of_a_resolved_one(tmp_path):
    mine, resolved = tmp_path / "mine.yaml", tmp_path / "config.yaml"
    mine.write_text("extends: hover\ndescription: .\ncontrol: {observer_gain: 20.0, law: auto}\n")
    scenario, tree = resolve(str(mine), Options())
    resolved.write_text(yaml_text(tree))
    notes = [
        _unused_keys(scenario, Namespace(gains=None, assignments=[], scenario=str(file)))
        for file in (mine, resolved)
    ]
    assert len(notes[0]) == 1 and "control.observer_gain: acts on nothing" in notes[0][0]
    assert notes[1] == []


def test_notes_of_a_recording_stand_in_the_report_alone(monkeypatch, caplog):
    reader = logging.getLogger("iap_io.trajectories.reader")
    monkeypatch.setattr(
        replay, "_replay_closed_loop", lambda _: reader.warning("read as NED") or 0
    )
    before = logging.getLogger("iap_io.trajectories").level
    assert replay.replay(Namespace(what="motion", horizon=None)) == 0
    assert not caplog.records
    assert logging.getLogger("iap_io.trajectories").level == before


def test_warnings_that_libraries_log_are_not_shown(capsys):
    main(["completion", "bash"])
    capsys.readouterr()
    logging.Manager(logging.RootLogger(logging.WARNING)).getLogger("library").warning("own words")
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_opencv_adds_no_line_of_a_damaged_image():
    code = """
from iap_bringup.cli.main import main
main(["completion", "bash"])
import cv2, numpy
head = b"#?RADIANCE\\nFORMAT=32-bit_rle_rgbe\\n\\n-Y 64 +X 128\\n" + bytes([2, 2, 0, 128])
print(cv2.imdecode(numpy.frombuffer(head + bytes([255]) * 100, numpy.uint8), cv2.IMREAD_ANYDEPTH))
"""
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("None\n")
    assert done.stderr == ""


SWEEP = [
    "sweep",
    "hover",
    "--duration",
    "0.03",
    "--engine",
    "closed_form",
    "--workers",
    "1",
    "--no-plot",
]


@pytest.mark.parametrize(
    ("command", "before", "last"),
    [
        (
            ["evaluate", "hold", "--episodes", "2", "--no-record"],
            "episodes.csv",
            "evaluation.json",
        ),
        (SWEEP, "table.csv", "summary.json"),
    ],
)
def test_a_folder_with_its_last_file_is_that_of_a_command_that_is_done(
    command, before, last, monkeypatch, tmp_path, capsys
):
    """A signal comes right behind a file: behind the last one the command is done, and before it there is none."""
    at = ""

    def write(path, data):
        path.write_bytes(data)
        if path.name == at:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("iap_bringup.cli.evaluate.write_file", write)
    monkeypatch.setattr("iap_simulation.sweeps.sweep_folder.write_file", write)
    for at, code in ((before, 143), (last, 0)):  # noqa: B007 - of `write`
        out = tmp_path / at
        assert main([*command, "--out", str(out)]) == code
        assert (out / last).exists() == (code == 0)
        assert ("iap: terminated" in capsys.readouterr().err) == (code == 143)


def test_a_sweep_that_is_refused_late_leaves_no_folder(tmp_path, capsys):
    """A chassis of this size has rods that are longer than any number may be."""
    out = tmp_path / "o"
    command = ["sweep", "hover", "--duration", "0.03", "--engine", "closed_form", "--workers", "1"]
    huge = "platform.center.chassis.post_radius=1e5"
    assert main([*command, "--no-plot", "--set", huge, "--out", str(out)]) == 2
    assert capsys.readouterr().err.startswith("iap: Shape: key 'length'")
    assert not out.exists()
