# SPDX-License-Identifier: BSD-3-Clause
"""Losses of estimators that run as nodes, known from their health."""

import pytest

from iap_bringup.nodes.estimate_losses import EstimateLosses
from iap_control.controllers.estimate_failsafe import Failsafe
from iap_description.signals import EstimateHealth

LIMITS = Failsafe(blind=2.0, deviation=0.5, silence=1.0, action="land", descent=0.5)
SOUND = EstimateHealth(tracks=80, blind=0.0, deviation=0.02, age=0.1)


def losses(source, healths):
    """Events of healths, ten a second."""
    log = EstimateLosses(source, LIMITS)
    for k, health in enumerate(healths):
        log.note(0.1 * k, health)
    return log.events


def test_cameras_that_show_nothing_for_a_second_are_an_event_at_both_of_its_ends():
    dark = SOUND._replace(tracks=0)  # ranges still come: the estimator is not blind as a whole
    (lost_at, lost), (again_at, again) = losses("vio_uwb", [*[SOUND] * 10, *[dark] * 10, SOUND])
    assert (lost, again) == ("vision lost", "vision regained")
    assert lost_at == pytest.approx(0.9)  # when something was there last
    assert again_at == pytest.approx(2.0)


def test_images_that_fail_for_a_moment_are_no_event():
    assert losses("vio", [SOUND, *[SOUND._replace(tracks=1, blind=0.3)] * 4, SOUND]) == []


def test_a_motion_capture_that_gives_poses_has_no_cameras_to_be_blind():
    healths = [SOUND._replace(tracks=1) for _ in range(20)]
    assert losses("capture_inertial", healths) == []
    for k in range(20):
        healths.append(SOUND._replace(tracks=0, blind=0.1 * (k + 1)))
    ((t, what),) = losses("capture_inertial", healths)
    assert what == "vision lost"
    assert t == pytest.approx(1.9)


def test_an_estimator_that_begins_anew_or_is_lost_is_an_event_once():
    anew, unsure = SOUND._replace(faults=1), SOUND._replace(faults=1, deviation=0.8)
    events = losses("vio", [SOUND, anew, anew, unsure, unsure])
    assert [what for _, what in events] == ["began anew", "estimate lost, uncertain by 0.80 m"]
    assert [t for t, _ in events] == pytest.approx([0.1, 0.3])
