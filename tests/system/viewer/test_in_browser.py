# SPDX-License-Identifier: BSD-3-Clause
"""The viewer in a browser, in five ways: what is drawn moves, obeys, and asks nothing beyond this machine."""

import re
import subprocess
import sys
import time

import numpy as np
import pytest
from browser import browser
from hang import HANG
from shown_flight import await_page, playing

from iap_bringup.cli.main import main
from iap_bringup.viewing.run_viewer import RunViewer
from iap_bringup.viewing.source import RunSource
from iap_bringup.viewing.table_viewer import TableViewer
from iap_description.states import P

BODY, HANDLE = "/world/bodies/iap/base_link", "/world/handle"
MM = 1e-3
pytestmark = pytest.mark.slow
FLIGHTS = {  # whose pages play from the disk, and their options
    "three_star_spiral": (),
    "wall_push": (),
    "arm_pick": (),
    "docking": (),
    "module_assembly": (),
    "figure_eight": ("--sensors", "stereo"),  # six cameras
}


@pytest.fixture(scope="module")
def chromium():
    with browser() as make:
        yield make


@pytest.fixture
def new_page(chromium):
    """A function that makes pages; they are closed at a test's end, for a page draws all the time."""
    pages = []

    def make():
        pages.append(chromium())
        return pages[-1]

    yield make
    for each in pages:
        each.page.close()


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("viewer") / "run"
    arguments = ["--duration", "8", "--engine", "closed_form", "--no-plot"]
    assert main(["run", "figure_eight", *arguments, "--out", str(folder)]) == 0
    return RunSource.of_folder(folder)


def recorded(source, t):
    """(3,) place of the platform at a time [s]."""
    return source.steps(t + 1e-6)[0].x[0, P]


def seek(page, t):
    """Write a time into the field beside the slider [s]."""
    field = page.page.locator("input[inputmode]").first
    field.fill(f"{t:g}")
    field.press("Enter")
    page.pause(500)


def test_a_page_plays_from_the_disk_and_lets_its_camera_be_chosen(new_page, run_folder):
    page = new_page()
    page.open(f"file://{run_folder.run.folder / 'view.html'}")
    assert page.draws()
    assert page.moves(BODY)
    page.page.select_option("#iap-view", "follow")
    assert page.reaches("/world", lambda p: np.linalg.norm(p) > 0.01)
    page.page.locator(".mantine-ActionIcon-root").first.click()  # Pause
    assert page.rests(BODY)
    for t in (2.0, 5.5):
        assert comes_to(page, t)
        assert page.position(BODY) == pytest.approx(recorded(run_folder, t), abs=20 * MM)
        clock = page.position("/clock")[0]  # of the picture, of which there are 20 a second
        assert page.position(BODY) == pytest.approx(recorded(run_folder, clock), abs=MM)
    page.page.locator(".iap-mark").last.click()  # the end
    assert page.reaches("/clock", lambda p: abs(p[0] - 8.0) <= 0.2)
    assert page.strangers == []


def comes_to(page, t):
    """True if a page from the disk that is sought to a time has drawn that, of 20 pictures a second."""
    for _ in range(20):
        seek(page, t)
        if page.reaches("/clock", lambda p: abs(p[0] - t) < 0.051, seconds=5.0):
            return True
    return False


def shows(page, source, t):
    """True if a page that is sought to a time shows its recorded pose; a busy page may lose what is typed."""
    for _ in range(20):
        seek(page, t)
        if page.reaches(BODY, lambda p: np.abs(p - recorded(source, t)).max() < MM, seconds=5.0):
            return True
    return False


def plays(page, source):
    """Check that a page shows a recorded run: it moves, is paused and sought."""
    assert page.draws()
    assert page.moves(BODY)
    page.page.get_by_role("button", name="Pause").click()
    assert page.rests(BODY)
    first, last = source.span
    for share in (0.3, 0.8):
        t = round(first + share * (last - first), 1)
        assert shows(page, source, t)
    assert page.strangers == []


def test_a_recorded_run_is_paused_and_sought_to_its_recorded_poses(new_page, run_folder):
    with playing(lambda server: RunViewer(server, [run_folder])) as (_, _, address):
        page = new_page()
        page.open(address)
        plays(page, run_folder)
        page.page.get_by_role("button", name="8.00 s").click()  # the event of its end
        assert page.reaches(BODY, lambda p: np.abs(p - recorded(run_folder, 8.0)).max() < MM)


class OneRun:
    """A table of one run that was recorded."""

    title, rows = "runs", ({"seed": "7", "outcome": "completed"},)

    def __init__(self, folder):
        self.recorded = lambda _: folder


def test_a_run_of_a_table_is_shown_by_a_click(new_page, run_folder, tmp_path):
    table = OneRun(run_folder.run.folder)
    with playing(lambda server: TableViewer(server, table, tmp_path)) as (_, server, address):
        page = new_page()
        page.page.goto(address)
        await_page(server)
        page.page.get_by_role("button", name="seed 7").click()
        page.wait_for_node(BODY)
        plays(page, run_folder)


class Served:
    """A command that serves a page, in a process of its own."""

    def __init__(self, *arguments):
        command = [sys.executable, "-P", "-m", "iap_bringup.cli.main", *arguments, "--no-browser"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.address = address_in(iter(self.process.stdout.readline, ""))

    def __enter__(self):
        return self.address

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=HANG)


def test_a_flight_obeys_pause_step_keys_and_the_mouse_while_it_is_flown(new_page, tmp_path):
    arguments = "run hover --engine closed_form --view web --realtime --duration 300 --port 0"
    options = ("--no-plot", "--no-view", "--out", str(tmp_path / "live"))
    with Served(*arguments.split(), *options) as address:
        page = new_page()
        page.open(address)
        assert page.draws()
        button = page.page.get_by_role
        button("button", name="Take the reference").click()
        page.wait_for_node(HANDLE)
        page.pause(300)
        start = page.position(HANDLE)
        risen = drag_up(page, BODY, start)
        assert risen > 0.1
        assert keys_bring(page, "r", lambda p: p[2] > start[2] + risen + 0.1)
        assert page.moves(BODY)
        handle = page.position(HANDLE)  # it follows the reference that keys fly
        assert handle[2] > start[2] + risen
        button("button", name="Pause").click()
        assert page.rests(BODY)
        before = page.position(BODY)
        button("button", name="Step").click()
        page.pause(300)
        assert 0.0 <= np.linalg.norm(page.position(BODY) - before) < 0.05
        button("button", name="Play").click()
        assert keys_bring(page, "f", lambda p: p[2] < before[2] - 0.05)
        assert page.strangers == []


def keys_bring(page, key, there):
    """True if a key, pressed anew every now and then, brings the body there; a busy page may lose a press."""
    for _ in range(20):
        for _ in range(5):
            page.page.keyboard.press(key)
            page.pause(80)
        if page.reaches(BODY, there, seconds=5.0):
            return True
    return False


def drag_up(page, body, place):
    """Distance by which the handle's vertical arrow, at a place (3,), was dragged, which takes a body along [m]."""
    for height in (0.4, 0.5, 0.3, 0.55) * 2:  # where the arrow is depends on viser's scale of it
        arrow = page.screen(place + [0.0, 0.0, height])
        page.drag(arrow, arrow - [0.0, 60.0])
        if not page.reaches(HANDLE, lambda p: p[2] > place[2] + 0.05, seconds=5.0):
            continue
        page.pause(200)
        risen = page.position(HANDLE)[2] - place[2]
        if page.reaches(body, lambda p, z=risen: p[2] > place[2] + 0.8 * z, seconds=60.0):
            return risen
    return 0.0


def test_pages_of_six_flights_play_from_the_disk(new_page, tmp_path):
    for name, options in FLIGHTS.items():
        out = tmp_path / name
        arguments = ["--duration", "0.6", "--set", "compare={}", "--no-plot", "--out", str(out)]
        assert main(["run", name, *options, *arguments]) in (0, 1)  # tasks are not over by then
        page = new_page()
        page.page.goto(f"file://{out / 'view.html'}")
        source = RunSource.of_folder(out)
        vehicle = source.meta.vehicles[0]
        body = f"/world/bodies/{vehicle.name}/{vehicle.bodies[0]}"
        page.wait_for_node(body)
        assert page.draws(), name
        page.page.locator(".mantine-ActionIcon-root").first.click()
        assert comes_to(page, 0.4), name
        clock = page.position("/clock")[0]
        row = source.steps(clock + 1e-6)[0].x[0, P]
        assert page.position(body) == pytest.approx(row, abs=MM), name
        assert page.strangers == [], name
        page.page.close()


@pytest.mark.ros
@pytest.mark.nodes
def test_a_flight_of_nodes_obeys_pause_and_keys_in_its_namespace(new_page, tmp_path):
    pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")
    from iap_bringup.experiments.nodes.processes import Nodes
    from iap_io.ros.domains import free_domain

    with free_domain() as domain, Nodes(tmp_path, domain) as nodes:
        nodes.start("controller_node", namespace="/sim_1/iap")
        settings = {"scenario": "hover", "assignments": ["engine.name=closed_form"]}
        nodes.start("physics_node", settings, namespace="/sim_1")
        viewer = nodes.start("web_view", {"scenario": "hover", "port": 8200}, namespace="/sim_1")
        page = new_page()
        page.open(address_in(lines_of(nodes.log(viewer))))
        assert page.draws()
        page.page.get_by_role("button", name="Take the reference").click()
        page.wait_for_node(HANDLE)
        page.pause(300)
        assert drag_up(page, BODY, page.position(HANDLE)) > 0.1
        before, picture = page.position(BODY), page.picture()
        assert keys_bring(page, "r", lambda p: p[2] > before[2] + 0.2)
        assert (page.picture() != picture).any()
        page.page.keyboard.press("r")
        page.page.get_by_role("button", name="Pause").click()
        assert page.rests(BODY)
        assert page.page.get_by_text("wind").count() == 0  # nodes take none
        assert page.strangers == []
        assert nodes.end(viewer) == 0


def address_in(lines):
    """The address of pages in lines of a command."""
    for line in lines:
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found:
            return found.group()
    raise AssertionError("no pages")


def lines_of(log, seconds=HANG):
    """The lines of a node's log as they come."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield from (log.read_text() if log.exists() else "").splitlines()
        time.sleep(0.1)
