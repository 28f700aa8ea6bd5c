# SPDX-License-Identifier: BSD-3-Clause
"""Estimates and the truth stand in the scene of a localisation as they come, and a pause holds them."""

from types import SimpleNamespace

import numpy as np
import pytest
from made_up_pages import Server
from recording_stage import RecordingStage

from iap_bringup.viewing import localization_viewer
from iap_bringup.viewing.localization_viewer import LocalizationViewer
from iap_description.states import P


def truth(*, has_attitude=True):
    """A true path along x with one place unknown."""
    t = np.arange(0.0, 5.0, 0.5)
    poses = np.zeros((10, 7))
    poses[:, 0], poses[:, 2], poses[:, 5:] = t, 2.0, np.sqrt(0.5)
    poses[4, 1] = np.nan
    return SimpleNamespace(t=t, poses=poses, has_attitude=has_attitude)


def localization(monkeypatch, **bodies):
    """A viewer of a localisation on a stage that is known."""
    stage = RecordingStage()
    stage.at_once = Server().atomic
    monkeypatch.setattr(localization_viewer, "ViserStage", lambda server: stage)
    dataset = SimpleNamespace(aircraft=[SimpleNamespace(name="drone_1")], bodies=bodies)
    server = Server()
    return LocalizationViewer(server, dataset, ["vio", "joint"], may_control=True), server, stage


def estimate(t, p, sigma=0.1):
    """An estimate of some time and place."""
    covariance = np.full((15, 15), np.nan) if sigma is None else sigma**2 * np.eye(15)
    return SimpleNamespace(
        t=t, p_WB_W=np.array(p, float), q_WB=np.array([0.0, 0.0, 0.0, 1.0]), covariance=covariance
    )


def test_estimates_stand_with_their_ellipsoids_beside_the_truth_of_their_time(monkeypatch):
    viewer, server, stage = localization(
        monkeypatch, drone_1=truth(), center=truth(has_attitude=False), other=None
    )
    assert server.initial_camera.look_at == pytest.approx((2.25, 0.0, 2.0))
    away = np.subtract(server.initial_camera.position, server.initial_camera.look_at)
    assert away == pytest.approx(0.7 * 4.5 * 1.5 * np.array([-0.55, -0.75, 0.4]))
    path = stage.lines["truth/drone_1_path"]
    assert len(path) == 8 and np.isfinite(path).all() and "truth/other_path" not in stage.lines
    viewer._localizers = {
        "vio": SimpleNamespace(faults=[SimpleNamespace(t=1.5, reason="it jumped")])
    }
    viewer.vision = SimpleNamespace(events=[(0.5, "drone_1: vision lost")])
    known = {
        "drone_1": estimate(1.2, (1.0, 2.0, 3.0)),
        "center": estimate(1.6, (4.0, 5.0, 6.0), None),
    }
    monkeypatch.setattr(localization_viewer, "named_estimates", lambda localizer, names: known)
    viewer.progress(2.25)
    assert stage.poses["vio/drone_1"][P] == pytest.approx([1.0, 2.0, 3.0])
    assert (
        stage.visible["vio/drone_1_covariance/ball"]
        and not stage.visible["vio/center_covariance/ball"]
    )
    assert stage.sizes["vio/drone_1_covariance/ball"] == pytest.approx([0.3] * 3)
    assert (
        not stage.visible["joint/drone_1_covariance/ball"] and "joint/drone_1" not in stage.poses
    )
    assert stage.poses["truth/drone_1"] == pytest.approx(
        [1.5, 0.0, 2.0, 0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]
    )
    assert stage.poses["truth/center"] == pytest.approx([1.5, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0])
    assert viewer._clock.content == "t = 2.25 s"
    lines = viewer._events._lines.content
    assert lines.index("vio: began anew, it jumped") < lines.index("drone_1: vision lost")
    known["drone_1"], known["center"] = (
        estimate(2.1, (9.0, 9.0, 9.0)),
        estimate(2.2, (np.nan, 0.0, 0.0)),
    )
    viewer.linger()
    assert stage.poses["truth/drone_1"][0] == 1.5  # the place of then is not known
    assert stage.poses["vio/drone_1"][0] == 9.0 and stage.poses["vio/center"][0] == 4.0
    assert (
        "**done**" in viewer._clock.content
        and len(server.lingered) == 1
        and not server.lingered[0]()
    )


def test_a_localisation_waits_in_a_pause_goes_on_by_one_update_and_shows_ten_a_second(monkeypatch):
    viewer, server, _ = localization(monkeypatch, drone_1=None)
    clock, shown, looks = [5.0], [], []
    monkeypatch.setattr(
        localization_viewer,
        "time",
        SimpleNamespace(perf_counter=lambda: clock[0], sleep=lambda s: looks.append(s)),
    )
    monkeypatch.setattr(viewer, "_show", shown.append)
    for t in (0.1, 0.2):
        viewer.progress(t)
    assert shown == [0.1]
    clock[0] += 0.11
    viewer.progress(0.3)
    assert shown == [0.1, 0.3]
    viewer.step()
    assert viewer.is_paused
    viewer.progress(0.4)
    assert shown[-1] == 0.4 and looks == []

    def check():
        if len(looks) == 3:
            viewer.is_paused = False

    viewer.check = check
    viewer.progress(0.5)
    assert looks == [0.05] * 3 and shown[-1] == 0.4
    assert {each.label for each in server.gui.of("button")} == {"Pause", "Step"}
    assert localization_viewer._rgb("#1f5fbf") == (31, 95, 191)
