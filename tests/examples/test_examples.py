# SPDX-License-Identifier: BSD-3-Clause
"""The examples: each is short, says what it shows, runs in an empty folder, and shows it."""

import ast
import contextlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_LINES = 60
NUMBER = r"(-?\d+(?:\.\d+)?)"


def script(name):
    return next(path for path in SCRIPTS if path.stem.startswith(name))


def shown_by(path, folder):
    """Output of a script in an empty folder; in this process, which has imported and loaded most of what it needs."""
    output = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(output):
        patch.setattr(sys, "argv", [str(path), "--quick"])
        patch.chdir(folder)
        runpy.run_path(str(path), run_name="__main__")
    return output.getvalue()


def shown_by_process(path, folder, **variables):
    """Output of a script that starts processes, in a process of its own with some variables of the environment."""
    command = [sys.executable, "-P", str(path), "--quick"]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    sys.stderr.write(done.stderr)  # shown where the test fails
    return done.stdout


def numbers(pattern, text):
    return [float(each) for each in re.findall(pattern.replace("NUMBER", NUMBER), text)]


def test_they_are_numbered_from_one_on():
    assert [int(path.name[:2]) for path in SCRIPTS] == list(range(1, len(SCRIPTS) + 1))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_short_and_says_what_one_will_see(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    about = ast.get_docstring(ast.parse(text))
    assert "You see" in about and path.name in about
    assert f"({path.name})" in (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pattern", "most"),
    [
        ("01", r"position error: NUMBER mm", 2.0),
        ("02", r"NUMBER mm RMS", 3.0),
        ("03", r" 4\.0 s: +NUMBER mm", 20.0),
        ("04", r"gyroscope NUMBER deg/s", 5.0),
        ("05", r"NUMBER mm RMS", 50.0),
        ("07", r"NUMBER N and", 0.05),
        ("08", r"inertia +platform +NUMBER mm", 3.0),
    ],
)
def test_errors_that_a_script_shows_are_small(name, pattern, most, tmp_path):
    errors = numbers(pattern, shown_by(script(name), tmp_path))
    assert errors
    assert max(errors) < most


@pytest.mark.slow
def test_the_wall_is_pushed_with_the_force_that_was_asked_for(tmp_path):
    text = shown_by(script("06"), tmp_path)
    assert numbers(r" 12 s: +NUMBER N", text) == [pytest.approx(5.0, abs=0.3)]


@pytest.mark.slow
def test_the_policy_docks_sooner_and_softer_than_the_script(tmp_path):
    text = shown_by(script("09"), tmp_path)
    policy, by_script = numbers(r"in NUMBER s on average", text)
    assert policy < by_script
    softer, harder = numbers(r"less than NUMBER N", text)
    assert softer < harder


@pytest.mark.slow
def test_random_search_does_better_than_no_action(tmp_path):
    text = shown_by(script("10"), tmp_path)
    (learned,), (still,) = (numbers(f"{name} NUMBER", text) for name in ("starts:", "action:"))
    assert learned > still + 3.0


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.nodes
def test_the_platform_comes_to_the_pose_that_a_node_publishes(tmp_path):
    pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")
    from iap_io.ros.domains import free_domain

    with free_domain() as domain:
        text = shown_by_process(script("11"), tmp_path, ROS_DOMAIN_ID=str(domain))
    assert "exit code 0" in text
    distances = numbers(r"NUMBER mm away", text)
    assert distances and max(distances) < 60.0, text


@pytest.mark.slow
def test_a_sweep_flies_all_its_runs(tmp_path):
    text = shown_by_process(script("12"), tmp_path)
    assert "12 runs, 0 failed" in text and len(numbers(r"m/s: NUMBER mm", text)) == 3


@pytest.mark.slow
def test_errors_that_are_computed_from_the_recording_are_those_of_the_metrics(tmp_path):
    computed, stated = numbers(r"NUMBER mm RMS", shown_by(script("13"), tmp_path))
    assert computed == pytest.approx(stated, rel=0.01)
    assert len(list(tmp_path.glob("runs/*/flight.csv"))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_of_a_notebook_run_one_after_the_other(path, tmp_path, monkeypatch):
    import matplotlib as mpl

    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert cells[0]["cell_type"] == "markdown"
    names = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        code = "".join(cell["source"]).replace("DURATION = None", "DURATION = 2.0")
        assert cell["outputs"] == []
        exec(compile(code, f"{path.name}, cell {number}", "exec"), names)
    assert list(tmp_path.glob("runs/*/metrics.json"))


@pytest.mark.slow
def test_the_path_that_is_read_of_a_log_is_the_one_that_was_flown(tmp_path):
    text = shown_by(script("14"), tmp_path)
    assert "can: replay of the flown motion" in text
    assert numbers(r"NUMBER mm off", text)[0] < 1.0


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.nodes
def test_images_of_a_renderer_outside_show_the_state_of_their_stamp(tmp_path):
    """Each depth, taken back along its ray by CameraInfo and the state of the image's stamp, is on the ground."""
    pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")
    from probe import Probe
    from sensor_msgs.msg import CameraInfo, Image

    from iap_description.math.so3 import transform
    from iap_description.states import P, Q
    from iap_io.ros.domains import free_domain
    from iap_simulation.scenario.resolving import Options, resolve
    from iap_simulation.scenario.rig_spec import sensor_infos

    camera = next(
        each
        for each in sensor_infos(resolve("hover", Options(sensors="rgbd"))[0])
        if each.topic == "/iap/drone_1/rgbd"
    )
    with free_domain() as domain:
        probe = Probe(domain)
        probe.hear_states("iap")
        depths = probe.hear(Image, f"{camera.topic}/depth/image_raw")
        infos = probe.hear(CameraInfo, f"{camera.topic}/depth/camera_info")
        command = [sys.executable, "-P", str(script("15")), "--quick"]
        variables = {**os.environ, "ROS_DOMAIN_ID": str(domain)}
        with subprocess.Popen(
            command, cwd=tmp_path, env=variables, stdout=subprocess.PIPE, text=True
        ) as example:
            try:
                probe.wait(lambda: example.poll() is not None, "end of the example")
                text = example.stdout.read()
            finally:
                example.kill()
                probe.close()
    assert "exit code 0" in text
    assert len(numbers(r"t = NUMBER s", text)) == 20
    rows = {stamp: each[1] for stamp, each in probe.states["iap"].items()}  # of drone_1
    known = [each for each in depths if _stamp(each) in rows]
    assert known and infos
    K = infos[0].k.reshape(3, 3)
    for image in known:
        row = rows[_stamp(image)]
        T_WC = transform(row[P], row[Q]) @ transform(camera.p_BS_B, camera.q_BS)
        depth = np.frombuffer(image.data, np.float32).reshape(image.height, image.width)
        v, u = np.nonzero(np.isfinite(depth) & (depth < 30.0))
        rays = np.linalg.solve(K, np.stack([u, v, np.ones(u.shape)]))
        p_W = T_WC[:3, :3] @ (rays * depth[v, u]) + T_WC[:3, 3:]
        assert np.abs(p_W[2]).max() < 1e-3
        assert np.isfinite(depth[-1]).all() and np.isinf(depth[0]).all()
        assert image.header.frame_id == infos[0].header.frame_id == camera.frame


@pytest.mark.slow
def test_the_loop_of_cleanrl_learns_where_pytorch_is_installed(tmp_path):
    path = script("16")
    if find_spec("torch") is not None:
        ended = numbers(r"steps: \d+ of NUMBER held", shown_by_process(path, tmp_path))
        assert len(ended) == 8 and sum(ended) > 100
        return
    command = [sys.executable, "-P", str(path), "--quick"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    line = "this example needs torch: pip install torch\n"
    assert (done.returncode, done.stderr) == (2, line)


def _stamp(message):
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
