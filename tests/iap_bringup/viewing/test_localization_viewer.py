# SPDX-License-Identifier: BSD-3-Clause
"""A localisation that is shown while it goes on: estimates move beside the truth, and a pause holds them."""

import threading

import numpy as np
import pytest
from viewer_client import ViewerClient

from iap_bringup.cli.main import main
from iap_bringup.viewing.localization_viewer import LocalizationViewer
from iap_bringup.viewing.viser_stage import ALONE, open_server
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.datasets.localization import localize, tracked
from iap_estimation.datasets.opening import Choices, open_dataset
from iap_estimation.navigation.aircraft_frontend import FrontendStats
from iap_estimation.navigation.settings import load_settings
from iap_estimation.virpo.messages import Tracks


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> SensorDataset:
    """A second of a quadrotor that turns with a stereo pair."""
    folder = tmp_path_factory.mktemp("seen") / "run"
    arguments = ["--platform", "f450", "--sensors", "stereo", "--duration", "1", "--no-plot"]
    assert main(["run", "figure_eight", *arguments, "--no-view", "--out", str(folder)]) == 0
    return open_dataset(folder, Choices())


@pytest.mark.slow
def test_images_that_show_nothing_any_longer_are_an_event_while_they_are_read(dataset):
    server = open_server(port=0)
    viewer = LocalizationViewer(server, dataset, ["vio"], may_control=True)
    settings = load_settings("default", [], dataset.frontend.preset)
    dark, nothing = 0.3, slice(0, 0)
    measured = [
        (who, Tracks(each.t, each.ids[nothing], each.views[nothing], each.has_right[nothing]))
        if isinstance(each, Tracks) and each.t > dark
        else (who, each)
        for who, each in tracked(dataset, settings.frontend, FrontendStats())
    ]
    try:
        localize(
            dataset,
            ["vio"],
            settings,
            make=viewer.make,
            events=measured,
            progress=viewer.progress,
            watch=viewer.vision.take,
        )
        viewer.linger()  # without a page it only shows the end
        assert "vision lost" in viewer._events._lines.content
        (lost,) = viewer.vision.events
        assert lost[0] == pytest.approx(dark, abs=0.1)
    finally:
        server.stop()


@pytest.mark.slow
def test_estimates_move_beside_the_truth_and_stand_still_in_a_pause(dataset):
    server = open_server(port=0)
    viewer = LocalizationViewer(server, dataset, ["vio"], may_control=True)
    settings = load_settings("default", [], dataset.frontend.preset)
    viewer.step()  # begins paused, after the first update
    results = []

    def go():
        results.append(
            localize(dataset, ["vio"], settings, make=viewer.make, progress=viewer.progress)
        )

    (body,) = (one.name for one in dataset.aircraft)
    thread = threading.Thread(target=go)
    thread.start()
    try:
        with ViewerClient(f"http://{ALONE}:{server.get_port()}") as client:
            assert not client.wait(lambda: client.names[f"/vio/{body}_way_1"], 1.0)
            viewer.is_paused = False
            thread.join(120.0)
            assert client.wait(lambda: f"/vio/{body}" in client.positions)
            estimate = np.array(client.positions[f"/vio/{body}"])
            truth = np.array(client.positions[f"/truth/{body}"])
    finally:
        viewer.is_paused = False
        thread.join(60.0)
        server.stop()
    assert np.linalg.norm(estimate - truth) < 0.05
    assert results[0].methods["vio"].outcome == "completed"
