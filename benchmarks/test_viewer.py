# SPDX-License-Identifier: BSD-3-Clause
"""Cost of the viewer: beside a flight, as a file of a run, and until the first picture."""

import resource
import subprocess
import sys
import time

import numpy as np
import pytest
from viewer_client import ViewerClient

from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.viewing.live_flight import LiveFlight
from iap_bringup.viewing.live_viewer import LiveViewer
from iap_bringup.viewing.page import PAGE, write_page
from iap_bringup.viewing.source import RunSource
from iap_bringup.viewing.viser_stage import ALONE, open_server
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.recorded_flight import RunOptions
from iap_simulation.runs.run import execute
from iap_simulation.scenario.resolving import Options, resolve

MB = 1e6
PAIRS, MOST_SLOWER = (
    15,
    0.05,
)  # flights with and without a viewer, and how much slower one may be
DURATIONS = {"closed_form": None, "pybullet": 15.0}  # of these flights [s]; None: the whole one
UPDATES, SECONDS = 30.0, 10.0  # a second that are needed, and for how long they are counted
MOST_CPU, FIRST_SIGHT = 1.5, 5.0  # to write a page, and until the first one is written [s]
SIZES = {  # scenario: options and MB of its page at most
    "three_star_spiral": (Options(), 2.0),
    "arm_pick": (Options(), 4.0),
    "docking": (Options(), 4.0),
    "module_assembly": (Options(), 4.0),
    "figure_eight": (Options(sensors="stereo", duration=20.0), 4.0),  # six cameras
}


def _fly(folder, name, options, *, is_shown=False, is_paced=False, look=None):
    """CPU time of a flight of this process, with a viewer or without [s]."""
    scenario, tree = resolve(name, options)
    folder.mkdir(parents=True)
    flight = Flight.of(scenario)
    if not is_shown:
        began = time.process_time()
        execute(flight, folder, tree)
        return time.process_time() - began
    live, server = LiveFlight(flight, is_paced=is_paced), open_server(port=0)
    with LiveViewer(server, live, may_control=True):
        if look is not None:
            look(f"http://{ALONE}:{server.get_port()}")
        began = time.process_time()
        execute(flight, folder, tree, RunOptions(viewer=live))
        return time.process_time() - began


@pytest.mark.parametrize("engine", DURATIONS)
def test_cost_of_live_view(benchmark, figure, tmp_path, engine):
    """CPU time of a flight that pages could show, over that of one without, in pairs."""
    ratios, options = [], Options(engine=engine, duration=DURATIONS[engine])

    def pair():
        k = len(ratios)
        alone, shown = (
            _fly(tmp_path / f"{k}_{is_shown}", "three_star_spiral", options, is_shown=is_shown)
            for is_shown in (False, True)
        )
        ratios.append(shown / alone)

    benchmark.pedantic(pair, rounds=PAIRS, warmup_rounds=1)
    low, middle, high = 100.0 * (np.percentile(ratios[1:], [25, 50, 75]) - 1.0)
    what, unit = f"live view of three_star_spiral, {engine}", f"% of CPU time ({PAIRS} pairs)"
    figure(what, middle, unit, 1, bar=100.0 * MOST_SLOWER)
    figure(f"{what}, quarter below", low, unit, 1)
    figure(f"{what}, quarter above", high, unit, 1)


def test_updates_beside_a_flight(benchmark, figure, tmp_path):
    """Pictures a second that a page is sent while a flight keeps pace with the wall clock."""
    rates = []

    def fly():
        clients = []

        def look(address):
            clients.append(ViewerClient(address).__enter__())

        options = Options(duration=SECONDS)
        _fly(
            tmp_path / "run", "three_star_spiral", options, is_shown=True, is_paced=True, look=look
        )
        clients[0].__exit__()
        rates.append(clients[0].windows / SECONDS)

    benchmark.pedantic(fly, rounds=1)
    figure("beside a flight in real time", rates[0], "pictures/s", 1, bar=UPDATES)


@pytest.mark.parametrize("name", SIZES)
def test_page(benchmark, figure, tmp_path, name):
    """Size of a run's page, and CPU time to write it once the run is read."""
    options, most = SIZES[name]
    run = tmp_path / "run"
    _fly(run, name, options)
    reading, writing = [], []

    def write():
        began = time.process_time()
        source = RunSource(RecordedRun(run))
        read = time.process_time()
        write_page(source, run / PAGE)
        reading.append(read - began)
        writing.append(time.process_time() - read)

    benchmark.pedantic(write, rounds=3)
    size = (run / PAGE).stat().st_size / MB
    figure(f"{PAGE} of {name}", size, "MB", 2, bar=most)
    figure(f"{PAGE} of {name} is written", min(writing), "s of CPU", 2, bar=MOST_CPU)
    figure(f"{PAGE} of {name}: the run is read", min(reading), "s of CPU", 2)


def test_first_sight(benchmark, figure, tmp_path):
    """CPU time of a command until its run has a page."""
    arguments = ["run", "three_star_spiral", "--no-plot", "--out", str(tmp_path / "run")]

    def command():
        subprocess.run(
            [sys.executable, "-P", "-m", "iap_bringup.cli.main", *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
        )

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    benchmark.pedantic(command, rounds=1)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert (tmp_path / "run" / PAGE).is_file()
    figure("three_star_spiral to its page", seconds, "s of CPU", 1, bar=FIRST_SIGHT)
