# SPDX-License-Identifier: BSD-3-Clause
"""The viewer in a browser: something is drawn and moves, obeys its buttons, and asks nothing beyond this machine."""

import re
import subprocess
import sys
import time

import numpy as np
import pytest
from browser import browser

from iap_bringup.cli.main import main
from iap_description.states import P
from iap_io.runs.run_folder import load_run

BODY = "/world/bodies/iap/base_link"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def new_page():
    with browser() as make:
        yield make


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("viewer") / "run"
    assert main(["run", "figure_eight", "--duration", "8", "--no-plot", "--out", str(folder)]) == 0
    return folder


class Served:
    """A command that serves a page, in a process of its own."""

    def __init__(self, *arguments):
        command = [sys.executable, "-P", "-m", "iap_bringup.cli.main", *arguments, "--no-browser"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.address = None
        for line in self.process.stdout:
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found:
                self.address = found.group()
                break

    def __enter__(self):
        assert self.address is not None
        return self.address

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=60)


def moves(page):
    """Whether the platform moves, and the picture with it."""
    before, picture = page.position(BODY), page.picture()
    page.pause(1000)
    return (
        np.linalg.norm(page.position(BODY) - before) > 1e-3 and (page.picture() != picture).any()
    )


def test_a_page_plays_from_the_disk_and_lets_its_camera_be_chosen(new_page, run_folder):
    page = new_page()
    page.open(f"file://{run_folder / 'view.html'}")
    page.pause(1000)
    assert page.picture().std() > 1.0
    assert moves(page)
    page.page.select_option("#iap-view", "follow")
    page.pause(500)
    assert np.linalg.norm(page.position("/world")) > 0.01
    assert page.strangers == []


def test_a_recorded_run_is_paused_and_sought_to_its_recorded_poses(new_page, run_folder):
    columns = load_run(run_folder).vehicles[0].columns
    with Served("view", str(run_folder), "--port", "8180") as address:
        page = new_page()
        page.open(address)
        assert page.picture().std() > 1.0
        assert moves(page)
        page.page.get_by_role("button", name="Pause").click()
        page.pause(500)
        assert not moves(page)
        for t in (2.0, 5.5):
            field = page.page.locator("input[inputmode]").first
            field.fill(f"{t:g}")
            field.press("Enter")
            page.pause(800)
            k = int(np.searchsorted(columns.t, t + 1e-6)) - 1
            assert page.position(BODY) == pytest.approx(columns.x[k, 0, P], abs=1e-3)
        assert page.strangers == []


def test_a_flight_obeys_pause_step_and_keys_while_it_is_flown(new_page, tmp_path):
    out = tmp_path / "live"
    arguments = (
        "figure_eight",
        "--view",
        "web",
        "--realtime",
        "--duration",
        "300",
        "--port",
        "8190",
    )
    with Served("run", *arguments, "--no-plot", "--no-view", "--out", str(out)) as address:
        page = new_page()
        page.open(address)
        assert moves(page)
        button = page.page.get_by_role
        button("button", name="Pause").click()
        page.pause(500)
        assert not moves(page)
        before = page.position(BODY)
        button("button", name="Step").click()
        page.pause(500)
        assert 0.0 < np.linalg.norm(page.position(BODY) - before) < 0.05
        button("button", name="Play").click()
        button("button", name="Take the reference").click()
        page.pause(4000)
        before = page.position(BODY)
        for _ in range(15):
            page.page.keyboard.press("r")
            page.pause(100)
        page.pause(2000)
        assert page.position(BODY)[2] > before[2] + 0.2
        assert page.strangers == []


@pytest.mark.ros
@pytest.mark.nodes
def test_a_flight_of_nodes_obeys_pause_and_keys_in_its_namespace(new_page, tmp_path):
    pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")
    from iap_bringup.experiments.nodes.processes import Nodes, free_domain

    with free_domain() as domain, Nodes(tmp_path, domain) as nodes:
        nodes.start("controller_node", namespace="/sim_1/iap")
        settings = {"scenario": "hover", "assignments": ["engine.name=closed_form"]}
        nodes.start("physics_node", settings, namespace="/sim_1")
        viewer = nodes.start("web_view", {"scenario": "hover", "port": 8200}, namespace="/sim_1")
        page = new_page()
        page.open(address_in(nodes.log(viewer)))
        assert page.picture().std() > 1.0
        page.pause(1000)
        before, picture = page.position(BODY), page.picture()
        for _ in range(15):
            page.page.keyboard.press("r")
            page.pause(100)
        page.pause(1000)
        assert page.position(BODY)[2] > before[2] + 0.2
        assert (page.picture() != picture).any()
        page.page.keyboard.press("r")
        page.page.get_by_role("button", name="Pause").click()
        page.pause(500)
        assert not moves(page)
        assert page.page.get_by_text("wind").count() == 0  # nodes take none
        assert page.strangers == []
        assert nodes.end(viewer) == 0


def address_in(log, seconds=60.0):
    """The address of pages that a node has told in its log."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text() if log.exists() else "")
        if found:
            return found.group()
        time.sleep(0.1)
    raise AssertionError(f"no pages within {seconds} s: {log.read_text()}")
